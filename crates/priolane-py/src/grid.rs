//! Plans an experiment's runs and executes them with one open results directory.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::Arc;

use priolane_lab::execute::{self, Settings};
use priolane_lab::plan::{self as lab, Run};
use priolane_lab::unit::{self, RunUnit};
use priolane_linux::job::SchemeJob;
use priolane_results::answer::RemoteRun;
use priolane_results::store::{RunId, Store};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{Damaged, failed, input_error, utf8};
use crate::linux::{JobRequest, MachinesRequest};
use crate::progress::Reporter;
use crate::request::{SettingsRequest, done_to_json, plan_to_json, request, response};
use crate::scheme;
use crate::signals::Signals;

/// The planned runs of an experiment file.
#[pyclass(frozen)]
pub(crate) struct Plan(Arc<lab::Plan>);

impl From<lab::Plan> for Plan {
    fn from(plan: lab::Plan) -> Self {
        Self(Arc::new(plan))
    }
}

#[pymethods]
impl Plan {
    /// Returns ids, schemes, sweep points and seeds of the runs and of those of groups alone, and warnings.
    fn to_json(&self) -> PyResult<String> {
        response(&plan_to_json(&self.0))
    }

    /// Returns the predicted cost of each run relative to the others, in plan order and then of those of groups alone.
    fn costs(&self, py: Python<'_>) -> PyResult<Vec<f64>> {
        let signals = Signals::default();
        let interrupt = signals.interrupt();
        py.detach(|| priolane_analysis::check::costs(&self.0, &interrupt))
            .map_err(|error| signals.or(error, input_error))
    }

    /// Returns the texts of the files that runs and reports read, by path as the experiment names them.
    fn files(&self) -> BTreeMap<String, String> {
        let files = self.0.runs.iter().flat_map(|run| run.experiment.sources.all_read());
        files.map(|(path, text)| (path.to_owned(), text.to_string())).collect()
    }

    /// Returns the names of the schemes whose transport is a Python class, in the order of the runs.
    fn python_schemes(&self) -> Vec<String> {
        let runs = self.0.runs.iter().filter(|run| scheme::is_python(run));
        let mut names: Vec<String> = Vec::new();
        for run in runs {
            if !names.contains(&run.scheme) {
                names.push(run.scheme.clone());
            }
        }
        names
    }

    /// Returns the texts of the files that the runs read, by SHA-256.
    fn texts(&self) -> BTreeMap<String, String> {
        let files = self.0.all_runs().flat_map(unit::files);
        let mut texts = BTreeMap::new();
        for (_, digest, text) in files {
            texts.entry(digest).or_insert_with(|| text.to_string());
        }
        texts
    }

    /// Returns how a run is to be measured on a testbed, as JSON: the job, the scale, what differs, and how long it takes at
    /// most.
    fn linux_job(&self, py: Python<'_>, run_id: &str, request: &str) -> PyResult<String> {
        let asked: JobRequest = self::request(request)?;
        let name = asked.name()?;
        let run = self.planned(run_id)?;
        response(&py.detach(|| priolane_testbed::job(run, name, asked.choices())).map_err(input_error)?)
    }

    /// The same on the machines of a file.
    fn linux_job_on_machines(&self, py: Python<'_>, run_id: &str, request: &str) -> PyResult<String> {
        let MachinesRequest { scale, machines } = self::request(request)?;
        let run = self.planned(run_id)?;
        let scale = scale.map(NonZeroU64::get);
        let planned = py.detach(|| priolane_testbed::job_on_machines(run, scale, &machines));
        response(&planned.map_err(input_error)?)
    }

    /// Executes a run with its results below `out_dir`, which is empty, and returns where its time goes, as JSON. `progress`
    /// is as in `Grid.run`.
    #[pyo3(signature = (run_id, out_dir, progress=None))]
    fn profile(
        &self,
        py: Python<'_>,
        run_id: &str,
        out_dir: PathBuf,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let run = self.planned(run_id)?;
        let out_dir = utf8(out_dir)?;
        let mut reporter = Reporter::new(progress);
        let profile = py
            .detach(|| priolane_bench::run_profile::profile(run, &out_dir, &mut |now| reporter.report(now)));
        match profile {
            Ok(profile) => response(&profile),
            Err(failure) => {
                Err(reporter.take_error().unwrap_or_else(|| failed(failure, &format!("run {run_id}"))))
            }
        }
    }

    /// Opens the results directory `out_dir`, which is created if missing.
    fn open(&self, out_dir: PathBuf, settings: &str) -> PyResult<Grid> {
        let request: SettingsRequest = request(settings)?;
        let store = request.open(&utf8(out_dir)?).map_err(|error| failed(error.into(), "the grid"))?;
        let (settings, others) = request.into_settings();
        let place = self.0.all_runs().enumerate().map(|(place, run)| (run.id.clone(), place)).collect();
        Ok(Grid { plan: self.0.clone(), place, store, settings, others })
    }
}

impl Plan {
    fn planned(&self, run_id: &str) -> PyResult<&Run> {
        let run = self.0.all_runs().find(|run| run.id == run_id);
        run.ok_or_else(|| PyValueError::new_err(format!("the plan has no run {run_id}")))
    }
}

/// The runs of a plan and the directory of their results.
#[pyclass(frozen)]
pub(crate) struct Grid {
    plan: Arc<lab::Plan>,
    /// Index by run id among the runs of the plan and, after these, those of groups alone.
    place: HashMap<String, usize>,
    store: Store,
    settings: Settings,
    others: Vec<Store>,
}

#[pymethods]
impl Grid {
    /// Executes one run; a run that already has results is only read.
    ///
    /// `progress(now_s, completed, total)` is called at most 10 times a second and stops the run by returning `False`.
    #[pyo3(signature = (run_id, progress=None))]
    fn run(&self, py: Python<'_>, run_id: &str, progress: Option<Py<PyAny>>) -> PyResult<String> {
        let run = self.planned(run_id)?;
        let mut reporter = Reporter::new(progress);
        let reused = py.detach(|| execute::reuse_from(run, &self.store, &self.others));
        reused.map_err(|failure| failed(failure, &format!("run {run_id}")))?;
        let done = scheme::carried_out(py, (run, Some(&self.store)), &self.settings, |settings| {
            execute::execute_in(run, &self.store, settings, &mut |now| reporter.report(now))
        });
        match done {
            Ok(done) => response(&done_to_json(&done)),
            Err(error) => Err(reporter.take_error().unwrap_or(error)),
        }
    }

    /// Executes one run, unless another directory has it, and returns its results for `accept` of the process that writes the
    /// directory, and whether it was executed. `progress` is as in `run`.
    #[pyo3(signature = (run_id, progress=None))]
    fn answer<'py>(
        &self,
        py: Python<'py>,
        run_id: &str,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Bound<'py, PyBytes>, bool)> {
        let run = self.planned(run_id)?;
        let id = RunId::new(run_id).ok_or_else(|| PyValueError::new_err(format!("{run_id} is not an id")))?;
        let stored = py.detach(|| self.others.iter().find_map(|other| RemoteRun::stored(other, &id)));
        if let Some(bytes) = stored.and_then(|stored| stored.encode().ok()) {
            return Ok((PyBytes::new(py, &bytes), false));
        }
        let mut reporter = Reporter::new(progress);
        let done = scheme::carried_out(py, (run, Some(&self.store)), &self.settings, |settings| {
            let answer = unit::answer(run, settings, &mut |now| reporter.report(now))?;
            answer.encode().map_err(execute::Failure::RemoteRun)
        });
        match done {
            Ok(bytes) => Ok((PyBytes::new(py, &bytes), true)),
            Err(error) => Err(reporter.take_error().unwrap_or(error)),
        }
    }

    /// Whether the run needs no work: its results exist or were reused from another directory, and are verified if that
    /// is requested.
    fn ready(&self, py: Python<'_>, run_id: &str) -> PyResult<bool> {
        let run = self.planned(run_id)?;
        py.detach(|| {
            execute::reuse_from(run, &self.store, &self.others)?;
            let id = RunId::new(run_id).ok_or_else(|| execute::Failure::RunId(run_id.to_owned()))?;
            let there = self.store.accept(&id).is_some();
            Ok(there && (!self.settings.verify || self.store.is_verified(&id)))
        })
        .map_err(|failure| failed(failure, &format!("run {run_id}")))
    }

    /// Whether the run is there as it was measured.
    fn is_measured(&self, run_id: &str) -> bool {
        let stored = RunId::new(run_id).and_then(|id| self.store.accept(&id));
        stored.is_some_and(|record| record.measured.is_some())
    }

    /// Stores what `linux_run` or `linux_run_on_machines` measured of a run, with the answer of `Plan` that planned it; like `run`, reports whether it was new.
    fn measured(&self, py: Python<'_>, run_id: &str, planned: &str, measured: &str) -> PyResult<String> {
        #[derive(serde::Deserialize)]
        struct PlannedRun {
            job: SpokenScheme,
            scale: NonZeroU64,
        }
        // Jobs for a testbed and for machines have it, and what else they have differs.
        #[derive(serde::Deserialize)]
        struct SpokenScheme {
            scheme: SchemeJob,
        }
        let run = self.planned(run_id)?;
        let PlannedRun { job, scale } = request(planned)?;
        let measured = request(measured)?;
        let done = py.detach(|| {
            let measurement = priolane_testbed::measurement(run, (&job.scheme, scale.get()), &measured)?;
            execute::store_measured(run, &self.store, measurement)
        });
        response(&done_to_json(&done.map_err(|failure| failed(failure, &format!("run {run_id}")))?))
    }

    /// Returns a run as a unit of work, in JSON, which `run_unit` executes in any process.
    fn unit(&self, run_id: &str) -> PyResult<String> {
        response(&RunUnit::of(self.planned(run_id)?))
    }

    /// Stores the answer to the unit of a run; like `run`, reports whether it was new. Raises `Damaged` if the answer
    /// was corrupted in transit.
    fn accept(&self, py: Python<'_>, run_id: &str, answer: &[u8]) -> PyResult<String> {
        let run = self.planned(run_id)?;
        let what = format!("run {run_id}");
        let answer =
            RemoteRun::decode(answer).map_err(|error| Damaged::new_err(format!("{what}: {error}")))?;
        let done = py.detach(|| unit::accept(run, &self.store, answer)).map_err(|failure| match failure {
            execute::Failure::Other(_) => Damaged::new_err(format!("{what}: {failure}")),
            failure => failed(failure, &what),
        })?;
        response(&done_to_json(&done))
    }
}

impl Grid {
    fn planned(&self, run_id: &str) -> PyResult<&Run> {
        let place = self.place.get(run_id);
        place
            .and_then(|&place| self.plan.run_at(place))
            .ok_or_else(|| PyValueError::new_err(format!("the plan has no run {run_id}")))
    }
}
