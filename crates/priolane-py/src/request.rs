//! The JSON that Python sends, and the JSON of plans and finished runs.

use std::num::{NonZeroU8, NonZeroU32};
use std::path::PathBuf;

use priolane_lab::execute::{Done, Settings};
use priolane_lab::experiment::Seeds;
use priolane_lab::plan::{Options, Plan, Size};
use priolane_results::store::Store;
use priolane_sim::Threads;
use priolane_sim::scenario::Engine;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::signals::Signals;

/// What Python sent.
pub(crate) fn request<T: serde::de::DeserializeOwned>(text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// What Python gets.
pub(crate) fn response<T: Serialize>(value: &T) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// What the user asked to change about an experiment file.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct OptionsRequest {
    /// Dotted key and TOML text of its value.
    sets: Vec<(String, String)>,
    /// Number of seeds, or the seeds, in place of the file's.
    seeds: Option<SeedsRequest>,
    /// Schemes in place of the file's.
    schemes: Option<Vec<String>>,
    /// The reading of the paper.
    reading: Option<String>,
    /// Which overlay of the file applies.
    size: SizeRequest,
    /// How many looks at the claims are planned; 1 by default.
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
    /// How many looks at the claims are planned.
    pub(crate) fn looks(&self) -> u32 {
        self.looks.map_or(1, NonZeroU32::get)
    }

    /// The options; `signals` stop the planning.
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

/// How a run is carried out; none of it reaches results.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SettingsRequest {
    engine: EngineRequest,
    verify: bool,
    /// Threads of one run; 1 by default.
    threads: Option<NonZeroU8>,
    /// Directories of runs from which one that is there is taken over.
    others: Vec<PathBuf>,
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
    /// The settings, and the directories from which a run that is there is taken over.
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

/// The plan as Python sees it: ids, sweep points, seeds and warnings.
pub(crate) fn plan_to_json(plan: &Plan) -> Value {
    let runs: Vec<Value> = plan
        .runs
        .iter()
        .map(|run| {
            let point: Map<String, Value> = run.point.iter().cloned().collect();
            json!({ "id": run.id, "scheme": run.scheme, "point": point, "seed": run.seed })
        })
        .collect();
    let title = plan.runs.first().and_then(|run| run.merged.get("title")).cloned();
    // Paths that are no text were refused when the file was read.
    json!({
        "source": plan.source.to_string_lossy(),
        "title": title,
        "readings": plan.readings,
        "warnings": plan.warnings,
        "runs": runs,
    })
}

/// A finished run: whether it was simulated now, and its summary.
pub(crate) fn done_to_json(done: &Done) -> Value {
    let (ran, summary) = match done {
        Done::Ran(summary) => (true, summary),
        Done::AlreadyThere(summary) => (false, summary),
    };
    json!({ "ran": ran, "run": summary })
}
