//! The module `priolane._core`: what Python asks of the lab, as JSON strings both ways.
//!
//! Nothing is decided here. Every function reads its JSON, calls the lab with Python's lock released, and
//! writes JSON; the types that Python shows its users are built in `python/priolane`.
//!
//! A crate with transports of its own builds the same module with them: [`init_own`].

mod errors;
mod grid;
mod own;
mod progress;
mod request;
mod signals;
mod unit;

use std::path::PathBuf;

use priolane_lab::metrics::metric::{Metric, Unit};
use priolane_lab::metrics::student::{self, Difference};
use priolane_results::checksum;
use priolane_results::summary::Summary;
use priolane_workload::import::{self, Request};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use serde::Serialize;

use errors::{Damaged, InputError, RunFailed, Stopped, failed, input_error, utf8};
pub use own::init_own;
use progress::Reporter;
use request::{OptionsRequest, request, response};
use signals::Signals;

/// Claims, panels, checks and warnings of the runs below `out_dir`.
#[pyfunction]
fn verdicts(py: Python<'_>, path: PathBuf, options: &str, out_dir: PathBuf) -> PyResult<String> {
    let signals = Signals::default();
    let request = request::<OptionsRequest>(options)?;
    let looks = request.looks();
    let options = request.into_options(&signals);
    let out_dir = utf8(out_dir)?;
    let report = py
        .detach(|| {
            let plan = priolane_lab::plan::plan(&path, &options)?;
            Ok(priolane_lab::verdict::verdicts_at_look(&plan, &out_dir, looks))
        })
        .map_err(|error| signals.or(error, input_error))?;
    response(&report)
}

/// The merged experiment, its grid and what it is predicted to cost, without running it.
#[pyfunction]
fn check(py: Python<'_>, path: PathBuf, options: &str) -> PyResult<String> {
    let signals = Signals::default();
    let options = request::<OptionsRequest>(options)?.into_options(&signals);
    let check = py.detach(|| priolane_tools::check::check(&path, &options));
    response(&check.map_err(|error| signals.or(error, input_error))?)
}

/// What flows without end are promised, point by point, without running anything; refuses files that price nothing.
#[pyfunction]
fn promised(py: Python<'_>, path: PathBuf, options: &str) -> PyResult<String> {
    let signals = Signals::default();
    let options = request::<OptionsRequest>(options)?.into_options(&signals);
    let promised = py.detach(|| priolane_tools::promised::promised(&path, &options));
    response(&promised.map_err(|error| signals.or(error, input_error))?)
}

/// Runs the one run that `request` (a flow, and what tells its run from others) means, and writes the flow's life
/// below `out_dir`.
///
/// `progress` as for `Grid.run`.
#[pyfunction]
#[pyo3(signature = (path, options, request, out_dir, progress=None))]
fn trace(
    py: Python<'_>,
    path: PathBuf,
    options: &str,
    request: &str,
    out_dir: PathBuf,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let signals = Signals::default();
    let options = self::request::<OptionsRequest>(options)?.into_options(&signals);
    let request = self::request::<priolane_lab::trace::Request>(request)?;
    let out_dir = utf8(out_dir)?;
    let mut reporter = Reporter::new(progress);
    let done = py.detach(|| {
        priolane_lab::trace::trace(&path, &options, &request, &out_dir, &mut |now| reporter.report(now))
    });
    match done {
        Ok(report) => response(&report),
        Err(failure) => {
            let error = |failure| failed(failure, &format!("the trace of flow {}", request.flow));
            Err(reporter.take_error().unwrap_or_else(|| signals.or(failure, error)))
        }
    }
}

/// What can be named in experiment and scheme files: schemes, transports, ports, workloads and the rest.
#[pyfunction]
fn catalogue() -> PyResult<String> {
    response(&priolane_lab::catalogue::catalogue())
}

/// Thresholds of the solvers that are asked for, with what they cost.
#[pyfunction]
fn thresholds(py: Python<'_>, request: &str) -> PyResult<String> {
    let request = self::request(request)?;
    let answer = py.detach(|| priolane_tools::thresholds::answer(&request)).map_err(input_error)?;
    response(&answer)
}

/// Closed forms of Firapam for the model file that `request` names, beside what schemes make of its experiment.
///
/// `progress` as for `Grid.run`.
#[pyfunction]
#[pyo3(signature = (request, progress=None))]
fn analyze(py: Python<'_>, request: &str, progress: Option<Py<PyAny>>) -> PyResult<String> {
    let signals = Signals::default();
    let mut request = self::request::<priolane_tools::analyze::Request>(request)?;
    request.interrupt = signals.interrupt();
    let mut reporter = Reporter::new(progress);
    let done = py.detach(|| priolane_tools::analyze::answer(&request, &mut |now| reporter.report(now)));
    match done {
        Ok(answer) => response(&answer),
        Err(failure) => {
            let error = |failure| failed(failure, "the simulation");
            Err(reporter.take_error().unwrap_or_else(|| signals.or(failure, error)))
        }
    }
}

/// Channels of PrioPlus for a number of priorities, and the lossless queues that a buffer has room for.
#[pyfunction]
fn channels(py: Python<'_>, request: &str) -> PyResult<String> {
    let request = self::request(request)?;
    let answer = py.detach(|| priolane_tools::channels::answer(&request)).map_err(input_error)?;
    response(&answer)
}

/// What it takes to have TOP's ports on a switch.
#[pyfunction]
fn plan_top(py: Python<'_>, request: &str) -> PyResult<String> {
    let request = self::request(request)?;
    let answer = py.detach(|| priolane_tools::deploy::answer(&request)).map_err(input_error)?;
    response(&answer)
}

/// R_base of an experiment's flows, by point and seed.
#[pyfunction]
fn plan_requirement(py: Python<'_>, request: &str) -> PyResult<String> {
    let signals = Signals::default();
    let mut request = self::request::<priolane_tools::requirement::Request>(request)?;
    request.interrupt = signals.interrupt();
    let answer = py.detach(|| priolane_tools::requirement::answer(&request));
    response(&answer.map_err(|error| signals.or(error, input_error))?)
}

/// Speed of the engines on the stated scenarios, against what this machine allows.
#[pyfunction]
fn bench(py: Python<'_>, request: &str) -> PyResult<String> {
    let request = self::request(request)?;
    let result = py.detach(|| priolane_tools::bench::bench(&request));
    response(&result.map_err(|error| PyValueError::new_err(error.to_string()))?)
}

/// One run on several threads beside the same on one.
#[pyfunction]
fn bench_threads(py: Python<'_>, request: &str) -> PyResult<String> {
    let request = self::request(request)?;
    let result = py.detach(|| priolane_tools::bench::several::several(&request));
    response(&result.map_err(|error| PyValueError::new_err(error.to_string()))?)
}

/// Imports a flow list of another tool and writes it, its hosts and a report; the report is also returned.
#[pyfunction]
fn import_flows(py: Python<'_>, request: &str) -> PyResult<String> {
    let request: Request = self::request(request)?;
    let report = py.detach(|| import::import_files(&request)).map_err(|failure| match failure {
        import::Failure::Input(error) => input_error(error),
        failure @ import::Failure::Output { .. } => PyOSError::new_err(failure.to_string()),
    })?;
    response(&report)
}

/// The first `flows` flows of the list that `bench_side` runs, as peers read it.
#[pyfunction]
fn bench_flow_list(flows: u32) -> String {
    priolane_tools::bench::peer::flow_list(flows)
}

/// One timed run of the first `flows` flows of the scenario that peers run too.
#[pyfunction]
fn bench_side(py: Python<'_>, flows: u32) -> PyResult<String> {
    let result = py.detach(|| priolane_tools::bench::peer::side(flows));
    response(&result.map_err(|error| PyValueError::new_err(error.to_string()))?)
}

/// Names of the scenarios that `bench` measures without being asked for.
#[pyfunction]
fn bench_scenarios() -> Vec<&'static str> {
    priolane_tools::bench::usual()
}

/// The metrics, as JSON: name, unit, both ends of their range (null where there is none), and whether `plan thresholds` can
/// make them least.
#[pyfunction]
fn metrics() -> PyResult<String> {
    #[derive(Serialize)]
    struct Entry {
        name: &'static str,
        unit: Unit,
        range: [Option<f64>; 2],
        tuned: bool,
    }
    let end = |x: f64| x.is_finite().then_some(x);
    let entry = |metric: &Metric| Entry {
        name: metric.name,
        unit: metric.unit,
        range: [end(metric.range.0), end(metric.range.1)],
        tuned: metric.tuned.is_some(),
    };
    response(&Metric::all().map(entry).collect::<Vec<_>>())
}

/// The value of a metric that `plan thresholds` can make least in the summary, JSON, of a class in `run.json`; `None` if no
/// flow gives one.
#[pyfunction]
fn summary_value(metric: &str, summary: &str) -> PyResult<Option<f64>> {
    let tuned = Metric::named(metric).and_then(|metric| metric.tuned);
    let value = tuned.ok_or_else(|| PyValueError::new_err(format!("no summary has {metric:?}")))?;
    Ok(value(&request::<Summary>(summary)?))
}

/// The t test of differences that belong together: mean, both ends of its 95 % interval, and the p value.
#[pyfunction]
fn paired(differences: Vec<f64>) -> PyResult<(f64, f64, f64, f64)> {
    difference(student::paired(&differences))
}

/// The t test of `second` less `first`, whose variances may differ, likewise.
#[pyfunction]
fn welch(first: Vec<f64>, second: Vec<f64>) -> PyResult<(f64, f64, f64, f64)> {
    difference(student::welch(&first, &second))
}

fn difference(found: Option<Difference>) -> PyResult<(f64, f64, f64, f64)> {
    let Difference { mean, low, high, p } =
        found.ok_or_else(|| PyValueError::new_err("a test needs two values at least"))?;
    Ok((mean, low, high, p))
}

/// p values corrected for their number by Holm's method, in the order given.
#[pyfunction]
fn holm(values: Vec<f64>) -> Vec<f64> {
    student::holm(&values)
}

/// The probability that intervals cover.
#[pyfunction]
fn level() -> f64 {
    student::LEVEL
}

/// The members of `run.json` that are no results of the run.
#[pyfunction]
fn not_results() -> Vec<&'static str> {
    priolane_results::compare::NOT_RESULTS.to_vec()
}

/// The version that records state: the crate's, and that of results.
#[pyfunction]
fn version() -> &'static str {
    priolane_results::VERSION
}

/// The text of a JSON file of priolane's, if its checksum is that of its content.
#[pyfunction]
fn read_checked(path: PathBuf) -> PyResult<String> {
    let text = std::fs::read(&path).map_err(|error| {
        PyErr::from(std::io::Error::new(error.kind(), format!("{}: {error}", path.display())))
    })?;
    let damaged = |what: String| InputError::new_err(format!("{}: damaged: {what}", path.display()));
    checksum::verify(&text).map_err(|error| damaged(error.to_string()))?;
    String::from_utf8(text).map_err(|error| damaged(error.to_string()))
}

/// A JSON object with the checksum of the file that it is written to.
#[pyfunction]
fn with_checksum(text: &str) -> PyResult<String> {
    checksum::with_checksum(text).ok_or_else(|| PyValueError::new_err("a JSON object is wanted"))
}

/// Adds what `priolane._core` has to `module`.
fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("Damaged", py.get_type::<Damaged>())?;
    module.add("InputError", py.get_type::<InputError>())?;
    module.add("RunFailed", py.get_type::<RunFailed>())?;
    module.add("Stopped", py.get_type::<Stopped>())?;
    module.add_class::<grid::Grid>()?;
    module.add_class::<grid::Plan>()?;
    module.add_function(wrap_pyfunction!(analyze, module)?)?;
    module.add_function(wrap_pyfunction!(self::bench, module)?)?;
    module.add("BUILD", env!("PRIOLANE_BUILD"))?;
    module.add_function(wrap_pyfunction!(bench_flow_list, module)?)?;
    module.add_function(wrap_pyfunction!(bench_scenarios, module)?)?;
    module.add_function(wrap_pyfunction!(bench_side, module)?)?;
    module.add_function(wrap_pyfunction!(bench_threads, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue, module)?)?;
    module.add_function(wrap_pyfunction!(channels, module)?)?;
    module.add_function(wrap_pyfunction!(check, module)?)?;
    module.add_function(wrap_pyfunction!(holm, module)?)?;
    module.add_function(wrap_pyfunction!(import_flows, module)?)?;
    module.add_function(wrap_pyfunction!(level, module)?)?;
    module.add_function(wrap_pyfunction!(metrics, module)?)?;
    module.add_function(wrap_pyfunction!(not_results, module)?)?;
    module.add_function(wrap_pyfunction!(paired, module)?)?;
    module.add_function(wrap_pyfunction!(plan_requirement, module)?)?;
    module.add_function(wrap_pyfunction!(plan_top, module)?)?;
    module.add_function(wrap_pyfunction!(promised, module)?)?;
    module.add_function(wrap_pyfunction!(read_checked, module)?)?;
    module.add_function(wrap_pyfunction!(unit::run_unit, module)?)?;
    module.add_function(wrap_pyfunction!(summary_value, module)?)?;
    module.add_function(wrap_pyfunction!(thresholds, module)?)?;
    module.add_function(wrap_pyfunction!(trace, module)?)?;
    module.add_function(wrap_pyfunction!(verdicts, module)?)?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(welch, module)?)?;
    module.add_function(wrap_pyfunction!(with_checksum, module)?)?;
    Ok(())
}

/// `priolane._core`.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    init(module)
}
