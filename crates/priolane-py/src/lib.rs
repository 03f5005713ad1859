//! The Python module `priolane._core`: an interface to the lab with JSON strings in both directions.
//!
//! Every function parses its JSON, calls the lab with the GIL released, and returns JSON. The types of the Python API
//! are built in `python/priolane`.
//!
//! A crate with its own transports builds the same module with them: see [`init_own`].

mod errors;
mod experiment;
mod grid;
mod linux;
mod net;
mod own;
mod progress;
mod raised;
mod request;
mod scheme;
mod signals;
mod unit;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use priolane_core::quantity as read_quantity;
use priolane_core::units::Rate;
use priolane_lab::metrics::FAMILIES;
use priolane_lab::metrics::coverage::MeansFrom;
use priolane_lab::metrics::estimate::{Average, Estimate, Nature};
use priolane_lab::metrics::metric::{Metric, Unit};
use priolane_lab::metrics::pooled::pooled as steady_means;
use priolane_lab::metrics::student::{self, Difference};
use priolane_lab::verdict::rules::{Comparison, comparison};
use priolane_lab::verdict::{Look, Looks};
use priolane_results::checksum;
use priolane_results::steady::SteadySummary;
use priolane_results::store::{self, PackedRun};
use priolane_results::summary::Summary;
use priolane_workload::import::{self, Request};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use serde::Serialize;

use errors::{InputError, input_error, utf8};
pub use own::init_own;
use progress::reported;
use request::{OptionsRequest, request, response};
use signals::Signals;

/// Evaluates claims, panels, checks and warnings of the runs below `out_dir`; `earlier` has the looks at these claims
/// that were made, as reports have them.
#[pyfunction]
fn verdicts(
    py: Python<'_>,
    path: PathBuf,
    options: &str,
    out_dir: PathBuf,
    earlier: &str,
) -> PyResult<String> {
    let signals = Signals::default();
    let read = request::<OptionsRequest>(options)?;
    let looks = read.looks(request::<Vec<Look>>(earlier)?);
    let options = read.into_options(&signals);
    let out_dir = utf8(out_dir)?;
    let report = py
        .detach(|| {
            let plan = priolane_lab::plan::plan(&path, &options)?;
            Ok(priolane_lab::verdict::verdicts_at(&plan, &out_dir, &looks))
        })
        .map_err(|error| signals.or(error, input_error))?;
    response(&report)
}

/// Executes the one run that `request` (a flow, and the keys that select its run) denotes, and writes the life of the
/// flow below `out_dir`.
///
/// `progress` is as in `Grid.run`.
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
    let what = format!("the trace of flow {}", request.flow);
    reported(py, &signals, progress, &what, |progress| {
        scheme::running(|| priolane_lab::trace::trace(&path, &options, &request, &out_dir, progress))
    })
}

/// Executes the one run that `request` denotes, and writes the packets of all flows in a part of it below `out_dir`.
///
/// `progress` is as in `Grid.run`.
#[pyfunction]
#[pyo3(signature = (path, options, request, out_dir, progress=None))]
fn trace_network(
    py: Python<'_>,
    path: PathBuf,
    options: &str,
    request: &str,
    out_dir: PathBuf,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let signals = Signals::default();
    let options = self::request::<OptionsRequest>(options)?.into_options(&signals);
    let request = self::request::<priolane_lab::trace::NetworkRequest>(request)?;
    let out_dir = utf8(out_dir)?;
    reported(py, &signals, progress, "the trace of all flows", |progress| {
        scheme::running(|| priolane_lab::trace::trace_network(&path, &options, &request, &out_dir, progress))
    })
}

/// Returns all names that experiment and scheme files may use: schemes, transports, ports, workloads and others.
#[pyfunction]
fn catalogue() -> PyResult<String> {
    response(&priolane_lab::catalogue::catalogue())
}

/// Returns all parts and tables of files with their keys.
#[pyfunction]
fn parts() -> PyResult<String> {
    response(&priolane_lab::parts::parts())
}

/// Returns the JSON Schema of `experiment` or `scheme` files.
#[pyfunction]
fn schema(of: &str) -> PyResult<String> {
    match of {
        "experiment" => response(&priolane_lab::reference::experiment_schema()),
        "scheme" => response(&priolane_lab::reference::schema()),
        other => Err(PyValueError::new_err(format!("no schema of {other:?}: experiment, scheme"))),
    }
}

/// Returns the thresholds of the requested solvers, with their predicted cost.
#[pyfunction]
fn thresholds(py: Python<'_>, request: &str) -> PyResult<String> {
    let request = self::request(request)?;
    let answer = py.detach(|| priolane_analysis::thresholds::answer(&request)).map_err(input_error)?;
    response(&answer)
}

/// Evaluates Firapam's closed forms for the model file in `request`, and compares them with the schemes of its
/// experiment.
///
/// `progress` is as in `Grid.run`.
#[pyfunction]
#[pyo3(signature = (request, progress=None))]
fn analyze(py: Python<'_>, request: &str, progress: Option<Py<PyAny>>) -> PyResult<String> {
    let signals = Signals::default();
    let mut request = self::request::<priolane_analysis::analyze::Request>(request)?;
    request.interrupt = signals.interrupt();
    reported(py, &signals, progress, "the simulation", |progress| {
        priolane_analysis::analyze::answer(&request, progress)
    })
}

/// Returns PrioPlus's channels for a number of priorities, and the number of lossless queues that fit in a buffer.
#[pyfunction]
fn channels(py: Python<'_>, request: &str) -> PyResult<String> {
    let request = self::request(request)?;
    let answer = py.detach(|| priolane_analysis::channels::answer(&request)).map_err(input_error)?;
    response(&answer)
}

/// Returns the switch resources needed to deploy TOP's ports.
#[pyfunction]
fn plan_top(py: Python<'_>, request: &str) -> PyResult<String> {
    let request = self::request(request)?;
    let answer = py.detach(|| priolane_analysis::deploy::answer(&request)).map_err(input_error)?;
    response(&answer)
}

/// Returns R_base of an experiment's flows, by sweep point and seed.
#[pyfunction]
fn plan_requirement(py: Python<'_>, request: &str) -> PyResult<String> {
    let signals = Signals::default();
    let mut request = self::request::<priolane_analysis::requirement::Request>(request)?;
    request.interrupt = signals.interrupt();
    let answer = py.detach(|| priolane_analysis::requirement::answer(&request));
    response(&answer.map_err(|error| signals.or(error, input_error))?)
}

/// Measures the speed of the engines on the given scenarios, relative to the limits of this machine.
#[pyfunction]
fn bench(py: Python<'_>, request: &str) -> PyResult<String> {
    let request = self::request(request)?;
    let result = py.detach(|| priolane_bench::bench(&request));
    response(&result.map_err(|error| PyValueError::new_err(error.to_string()))?)
}

/// Compares one run on several threads with the same run on one thread.
#[pyfunction]
fn bench_threads(py: Python<'_>, request: &str) -> PyResult<String> {
    let request = self::request(request)?;
    let result = py.detach(|| priolane_bench::several::several(&request));
    response(&result.map_err(|error| PyValueError::new_err(error.to_string()))?)
}

/// Imports the flow list of another tool; writes flows, hosts and a report, and returns the report.
#[pyfunction]
fn import_flows(py: Python<'_>, request: &str) -> PyResult<String> {
    let request: Request = self::request(request)?;
    response(&py.detach(|| import::import_files(&request)).map_err(import_error)?)
}

/// Converts a size table of another program; writes the table and a report, and returns the report.
#[pyfunction]
fn import_sizes(py: Python<'_>, request: &str) -> PyResult<String> {
    let request: import::size_tables::Request = self::request(request)?;
    response(&py.detach(|| import::size_tables::import_sizes(&request)).map_err(import_error)?)
}

/// Converts the failure of an import to an exception.
fn import_error(failure: import::Failure) -> PyErr {
    match failure {
        import::Failure::Input(error) => input_error(error),
        failure @ import::Failure::Output { .. } => PyOSError::new_err(failure.to_string()),
    }
}

/// Returns the first `flows` flows of `bench_side`'s scenario, in the format that other simulators read.
#[pyfunction]
fn bench_flow_list(flows: u32) -> String {
    priolane_bench::peer::flow_list(flows)
}

/// Times one run of the first `flows` flows of the scenario that other simulators run too.
#[pyfunction]
fn bench_side(py: Python<'_>, flows: u32) -> PyResult<String> {
    let result = py.detach(|| priolane_bench::peer::side(flows));
    response(&result.map_err(|error| PyValueError::new_err(error.to_string()))?)
}

/// Returns the names of the scenarios that `bench` measures by default.
#[pyfunction]
fn bench_scenarios() -> Vec<&'static str> {
    priolane_bench::usual()
}

/// Returns the metrics as JSON, family by family: name, meaning, what it is of, what it needs, unit, both ends of the
/// range (null where unbounded), and whether `plan thresholds` can minimize it.
#[pyfunction]
fn metrics() -> PyResult<String> {
    #[derive(Serialize)]
    struct Entry {
        family: &'static str,
        name: &'static str,
        meaning: &'static str,
        of: &'static str,
        needs: Vec<&'static str>,
        unit: Unit,
        range: [Option<f64>; 2],
        tuned: bool,
    }
    let end = |x: f64| x.is_finite().then_some(x);
    let entry = |family: &'static str, metric: &Metric| Entry {
        family,
        name: metric.name,
        meaning: metric.meaning,
        of: metric.scope.words(),
        needs: metric.needs.iter().map(|need| need.words()).collect(),
        unit: metric.unit,
        range: [end(metric.range.0), end(metric.range.1)],
        tuned: metric.tuned.is_some(),
    };
    let entries =
        FAMILIES.iter().flat_map(|family| family.metrics.iter().map(|metric| entry(family.title, metric)));
    response(&entries.collect::<Vec<_>>())
}

/// Returns the default size classes as JSON, in the form of `[metrics] classes`.
#[pyfunction]
fn usual_classes() -> PyResult<String> {
    response(&priolane_lab::metrics::usual_classes())
}

/// Returns the value of a metric that `plan thresholds` can minimize, from the JSON summary of a class in `run.json`;
/// `None` if no flow contributes to it.
#[pyfunction]
fn summary_value(metric: &str, summary: &str) -> PyResult<Option<f64>> {
    let tuned = Metric::named(metric).and_then(|metric| metric.tuned);
    let value = tuned.ok_or_else(|| PyValueError::new_err(format!("no summary has {metric:?}")))?;
    Ok(value(&request::<Summary>(summary)?))
}

/// Returns the nature of the values of a member of a class's summary in `run.json`: `quantity` or `events`.
#[pyfunction]
fn summary_nature(member: &str) -> &'static str {
    Metric::nature_in_summary(member).name()
}

/// Returns the member of a class's summary in `run.json` that counts what a metric leaves out, as the run ended before;
/// `None` if it leaves out nothing. `means` is `littles_law` or `completed_flows`: what means of the class come from.
#[pyfunction]
fn left_out(metric: &str, means: &str) -> PyResult<Option<&'static str>> {
    let found =
        Metric::named(metric).ok_or_else(|| PyValueError::new_err(format!("no metric {metric:?}")))?;
    let means = match means {
        "littles_law" => MeansFrom::LittlesLaw,
        "completed_flows" => MeansFrom::CompletedFlows,
        _ => return Err(PyValueError::new_err(format!("means do not come from {means:?}"))),
    };
    Ok(found.coverage.counted_in(means))
}

/// Returns a value for each seed, of which the geometric mean is the mean of the steady state: the ratio of sums. Each of
/// `means` has the mean of a run by Little's law and the arrivals that it is per.
#[pyfunction]
fn pooled(means: Vec<(f64, f64)>) -> Vec<f64> {
    steady_means(&means)
}

/// Whether a metric, or the member of a class's summary in `run.json`, is a mean over arrivals by Little's law while
/// arrivals continue.
#[pyfunction]
fn is_per_arrival(name: &str) -> bool {
    SteadySummary::PER_ARRIVAL.contains(&name)
        || Metric::named(name).is_some_and(|metric| metric.arrivals.is_some())
}

/// Returns what the first of `planned` looks at claims spends of the error probability, from 0 to 1.
#[pyfunction]
fn first_share(planned: u32) -> f64 {
    Looks::first_share(planned)
}

/// A scale, a mean, and both ends of its 95 % interval; `None` without an interval.
type EstimateTuple = (&'static str, f64, Option<f64>, Option<f64>);

/// Returns the estimate of a value by seed: geometric for a `quantity` that is above 0 in every seed, else arithmetic;
/// `nature` is `quantity`, or `events` for shares and counts.
#[pyfunction]
fn estimate(values: Vec<f64>, nature: &str) -> PyResult<EstimateTuple> {
    as_tuple(&Estimate::of(&values, natured(nature)?))
}

/// Returns the estimate of the change from `first` to `second`, seed by seed, and its two-sided p value, `None` without
/// an interval. The change is the ratio if all values are above 0 (geometric), else the difference (arithmetic).
#[pyfunction]
fn change(first: Vec<f64>, second: Vec<f64>, nature: &str) -> PyResult<(EstimateTuple, Option<f64>)> {
    let by_seed = |values: Vec<f64>| (0..).zip(values).collect();
    let (estimate, none) = match comparison(&by_seed(second), &by_seed(first), natured(nature)?) {
        Comparison::Ratio(ratio) => (ratio, 1.0),
        Comparison::Difference(difference) => (difference, 0.0),
    };
    Ok((as_tuple(&estimate)?, estimate.p_value(none)))
}

fn natured(name: &str) -> PyResult<Nature> {
    Nature::named(name)
        .ok_or_else(|| PyValueError::new_err(format!("{name:?} is not a known nature of values")))
}

fn as_tuple(estimate: &Estimate) -> PyResult<EstimateTuple> {
    let average = match estimate.average {
        Average::Geometric => "geometric",
        Average::Arithmetic => "arithmetic",
    };
    let mean = estimate.mean.ok_or_else(|| PyValueError::new_err("an estimate needs one value at least"))?;
    Ok((average, mean, estimate.low, estimate.high))
}

/// Returns mean, lower and upper end of the 95 % confidence interval of differences, and the p value against 0.
#[pyfunction]
fn paired(differences: Vec<f64>) -> PyResult<(f64, f64, f64, f64)> {
    let found = Estimate::arithmetic(&differences, Nature::Quantity);
    let ends = found.mean.zip(found.ends()).zip(found.p_value(0.0));
    let ((mean, (low, high)), p) = ends.ok_or_else(too_few)?;
    Ok((mean, low, high, p))
}

/// Welch's t test of mean(`second`) - mean(`first`), with unequal variances; returns the same as `paired`.
#[pyfunction]
fn welch(first: Vec<f64>, second: Vec<f64>) -> PyResult<(f64, f64, f64, f64)> {
    difference(student::welch(&first, &second))
}

fn difference(found: Option<Difference>) -> PyResult<(f64, f64, f64, f64)> {
    let Difference { mean, low, high, p } = found.ok_or_else(too_few)?;
    Ok((mean, low, high, p))
}

fn too_few() -> PyErr {
    PyValueError::new_err("a test needs two values at least")
}

/// Parses a quantity as input files write it: a `"rate"` in bit/s, a `"time"` in picoseconds, or `"bytes"`.
///
/// Raises `InputError` for another text, and `ValueError` for another dimension.
#[pyfunction]
fn quantity(dimension: &str, text: &str) -> PyResult<u64> {
    let found = match dimension {
        "rate" => read_quantity::rate(text).map(Rate::bps),
        "time" => read_quantity::span(text).map(|span| span.0),
        "bytes" => read_quantity::bytes(text),
        other => return Err(PyValueError::new_err(format!("no dimension {other:?}"))),
    };
    found.map_err(|error| InputError::new_err(format!("{}. Use {}", error.what, error.fix)))
}

/// Returns p values adjusted by Holm's method, in input order.
#[pyfunction]
fn holm(values: Vec<f64>) -> Vec<f64> {
    student::holm(&values)
}

/// Returns the confidence level of intervals.
#[pyfunction]
fn level() -> f64 {
    student::LEVEL
}

/// Returns the members of `run.json` that are not results of the run.
#[pyfunction]
fn not_results() -> Vec<&'static str> {
    priolane_results::compare::NOT_RESULTS.to_vec()
}

/// Returns the version stored in records: that of the crate and that of results.
#[pyfunction]
fn version() -> &'static str {
    priolane_results::VERSION
}

/// Returns the text of one of priolane's JSON files after verifying its checksum.
#[pyfunction]
fn read_checked(path: PathBuf) -> PyResult<String> {
    let damaged = |what: String| InputError::new_err(format!("{}: damaged: {what}", path.display()));
    let text = priolane_results::regular::read(&path).map_err(|error| match error.kind() {
        std::io::ErrorKind::InvalidInput => damaged(error.to_string()),
        kind => PyErr::from(std::io::Error::new(kind, format!("{}: {error}", path.display()))),
    })?;
    verified_text(text, &path)
}

/// Returns the text of one of priolane's JSON files, whose content was read from `path`, after verifying its checksum.
#[pyfunction]
fn checked_text(content: Vec<u8>, path: PathBuf) -> PyResult<String> {
    verified_text(content, &path)
}

fn verified_text(content: Vec<u8>, path: &Path) -> PyResult<String> {
    let damaged = |what: String| InputError::new_err(format!("{}: damaged: {what}", path.display()));
    checksum::verify(&content).map_err(|error| damaged(error.to_string()))?;
    String::from_utf8(content).map_err(|error| damaged(error.to_string()))
}

/// The files of a run in a pack: offset and length in bytes, by name.
type Extents = BTreeMap<String, (u64, u64)>;

/// Returns the runs in packs of a results directory (id, path of the pack, and files), and the damage of its packs in words.
#[pyfunction]
fn packed_runs(py: Python<'_>, directory: PathBuf) -> (Vec<(String, PathBuf, Extents)>, Vec<String>) {
    let files = |run: &PackedRun| {
        run.files.iter().map(|(name, extent)| (name.clone(), (extent.offset, extent.bytes))).collect()
    };
    let (runs, damage) = py.detach(|| store::packed_runs(&directory));
    let runs = runs.iter().map(|run| (run.id.as_str().to_owned(), run.pack.to_path_buf(), files(run)));
    (runs.collect(), damage)
}

/// Returns the characters that a terminal might obey or hide, as the first and the last of each range of code points.
#[pyfunction]
fn unprintable() -> Vec<(u32, u32)> {
    priolane_core::text::UNPRINTABLE
        .iter()
        .map(|range| (u32::from(*range.start()), u32::from(*range.end())))
        .collect()
}

/// Adds the checksum member to the text of a JSON object.
#[pyfunction]
fn with_checksum(text: &str) -> PyResult<String> {
    checksum::with_checksum(text).ok_or_else(|| PyValueError::new_err("a JSON object is wanted"))
}

/// Adds the classes, functions and exceptions of `priolane._core` to `module`.
fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    errors::add(module)?;
    net::add(module)?;
    scheme::add(module)?;
    module.add_class::<experiment::Experiment>()?;
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
    module.add_function(wrap_pyfunction!(holm, module)?)?;
    module.add_function(wrap_pyfunction!(import_flows, module)?)?;
    module.add_function(wrap_pyfunction!(import_sizes, module)?)?;
    module.add_function(wrap_pyfunction!(level, module)?)?;
    module.add_function(wrap_pyfunction!(linux::linux_agent, module)?)?;
    module.add_function(wrap_pyfunction!(linux::linux_down, module)?)?;
    module.add_function(wrap_pyfunction!(linux::linux_guard, module)?)?;
    module.add_function(wrap_pyfunction!(linux::linux_host, module)?)?;
    module.add_function(wrap_pyfunction!(linux::linux_leftovers, module)?)?;
    module.add_function(wrap_pyfunction!(linux::linux_machine, module)?)?;
    module.add_function(wrap_pyfunction!(linux::linux_run, module)?)?;
    module.add_function(wrap_pyfunction!(linux::linux_run_on_machines, module)?)?;
    module.add_function(wrap_pyfunction!(linux::linux_status, module)?)?;
    module.add_function(wrap_pyfunction!(linux::linux_steps, module)?)?;
    module.add_function(wrap_pyfunction!(linux::linux_switch, module)?)?;
    module.add_function(wrap_pyfunction!(linux::linux_up, module)?)?;
    module.add_function(wrap_pyfunction!(metrics, module)?)?;
    module.add_function(wrap_pyfunction!(not_results, module)?)?;
    module.add_function(wrap_pyfunction!(paired, module)?)?;
    module.add_function(wrap_pyfunction!(change, module)?)?;
    module.add_function(wrap_pyfunction!(estimate, module)?)?;
    module.add_function(wrap_pyfunction!(self::quantity, module)?)?;
    module.add_function(wrap_pyfunction!(plan_requirement, module)?)?;
    module.add_function(wrap_pyfunction!(plan_top, module)?)?;
    module.add_function(wrap_pyfunction!(parts, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(checked_text, module)?)?;
    module.add_function(wrap_pyfunction!(packed_runs, module)?)?;
    module.add_function(wrap_pyfunction!(read_checked, module)?)?;
    module.add_function(wrap_pyfunction!(unit::run_unit, module)?)?;
    module.add_function(wrap_pyfunction!(summary_value, module)?)?;
    module.add_function(wrap_pyfunction!(summary_nature, module)?)?;
    module.add_function(wrap_pyfunction!(left_out, module)?)?;
    module.add_function(wrap_pyfunction!(first_share, module)?)?;
    module.add_function(wrap_pyfunction!(is_per_arrival, module)?)?;
    module.add_function(wrap_pyfunction!(pooled, module)?)?;
    module.add_function(wrap_pyfunction!(thresholds, module)?)?;
    module.add_function(wrap_pyfunction!(trace, module)?)?;
    module.add_function(wrap_pyfunction!(trace_network, module)?)?;
    module.add_function(wrap_pyfunction!(unprintable, module)?)?;
    module.add_function(wrap_pyfunction!(usual_classes, module)?)?;
    module.add_function(wrap_pyfunction!(verdicts, module)?)?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(welch, module)?)?;
    module.add_function(wrap_pyfunction!(with_checksum, module)?)?;
    Ok(())
}

/// The module `priolane._core`.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    init(module)
}
