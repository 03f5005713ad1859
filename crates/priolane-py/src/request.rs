//! JSON of requests from Python, and of plans and finished runs.

use std::num::{NonZeroU8, NonZeroU32};
use std::path::{Path, PathBuf};

use priolane_lab::execute::{FinishedRun, Settings};
use priolane_lab::experiment::Seeds;
use priolane_lab::plan::{Options, Plan, Run, Size};
use priolane_lab::verdict::{Look, Looks};
use priolane_results::store::{Store, StoreError};
use priolane_sim::Threads;
use priolane_sim::scenario::Engine;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::signals::Signals;

/// Parses a JSON request from Python.
pub(crate) fn request<T: serde::de::DeserializeOwned>(text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Serializes a JSON response to Python.
pub(crate) fn response<T: Serialize>(value: &T) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// The user's changes to an experiment file.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct OptionsRequest {
    /// Dotted key and the TOML text of its value.
    sets: Vec<(String, String)>,
    /// Number of seeds, or a list of seeds; replaces the file's.
    seeds: Option<SeedsRequest>,
    /// Schemes; replace the file's.
    schemes: Option<Vec<String>>,
    /// Name of the reading (interpretation) of the paper.
    reading: Option<String>,
    /// Overlay of the file to apply.
    size: SizeRequest,
    /// Number of planned looks at the claims; default 1.
    looks: Option<NonZeroU32>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum SeedsRequest {
    Count(u32),
    Listed(Vec<u64>),
}

impl From<SeedsRequest> for Seeds {
    fn from(seeds: SeedsRequest) -> Self {
        match seeds {
            SeedsRequest::Count(count) => Self::Count(count),
            SeedsRequest::Listed(seeds) => Self::Listed(seeds),
        }
    }
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SizeRequest {
    Quick,
    #[default]
    Default,
    Full,
}

impl OptionsRequest {
    /// Returns the looks at the claims, planned and made.
    pub(crate) fn looks(&self, earlier: Vec<Look>) -> Looks {
        Looks { planned: self.looks.map_or(1, NonZeroU32::get), earlier }
    }

    /// Converts to options; `signals` can interrupt planning.
    pub(crate) fn into_options(self, signals: &Signals) -> Options {
        let size = match self.size {
            SizeRequest::Quick => Size::Quick,
            SizeRequest::Default => Size::Default,
            SizeRequest::Full => Size::Full,
        };
        let interrupt = signals.interrupt();
        Options {
            sets: self.sets,
            seeds: self.seeds.map(Seeds::from),
            schemes: self.schemes,
            reading: self.reading,
            size,
            interrupt,
        }
    }
}

/// The way in which a run is executed, which does not affect results.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SettingsRequest {
    engine: EngineRequest,
    verify: bool,
    /// Threads per run; default 1.
    threads: Option<NonZeroU8>,
    /// Directories whose existing results are reused.
    others: Vec<PathBuf>,
    /// Whether small runs go into packs.
    packs: bool,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum EngineRequest {
    #[default]
    Auto,
    Window,
    Wheel,
}

impl SettingsRequest {
    /// Opens the store in `directory`, which is created if missing.
    ///
    /// # Errors
    /// The directory cannot be created or read.
    pub(crate) fn open(&self, directory: &Path) -> Result<Store, StoreError> {
        let store = Store::open(directory)?;
        Ok(if self.packs { store.with_packs() } else { store })
    }

    /// Returns the settings, and the stores whose existing results are reused.
    pub(crate) fn into_settings(self) -> (Settings, Vec<Store>) {
        let engine = match self.engine {
            EngineRequest::Auto => Engine::Auto,
            EngineRequest::Window => Engine::Window,
            EngineRequest::Wheel => Engine::Wheel,
        };
        let threads = self.threads.map_or(Threads::ONE, Threads::up_to);
        let others = self.others.iter().map(|other| Store::at(other)).collect();
        (Settings { engine, verify: self.verify, threads }, others)
    }
}

/// Converts a plan to JSON for Python: ids, sweep points and seeds of runs, and warnings.
pub(crate) fn plan_to_json(plan: &Plan) -> Value {
    let line = |run: &Run| {
        let point: Map<String, Value> = run.point.iter().cloned().collect();
        json!({ "id": run.id, "scheme": run.scheme, "point": point, "seed": run.seed })
    };
    let [runs, alone] = [&plan.runs, &plan.alone.runs].map(|runs| runs.iter().map(line).collect::<Vec<_>>());
    let title = plan.runs.first().and_then(|run| run.merged.get("title")).cloned();
    // Lossless: planning rejects paths that are not UTF-8.
    json!({
        "source": plan.source.to_string_lossy(),
        "title": title,
        "readings": plan.readings,
        "warnings": plan.warnings,
        "runs": runs,
        "alone": alone,
    })
}

/// Converts a finished run to JSON: whether it was simulated just now, and its summary.
pub(crate) fn done_to_json(done: &FinishedRun) -> Value {
    let (ran, summary) = match done {
        FinishedRun::Simulated(summary) => (true, summary),
        FinishedRun::AlreadyThere(summary) => (false, summary),
    };
    json!({ "ran": ran, "run": summary })
}
