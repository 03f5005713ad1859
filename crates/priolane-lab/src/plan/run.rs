//! The runs of an experiment.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value as Json;

use super::offers::GroupOffer;
use crate::experiment::{Experiment, Reading};

/// All runs of an experiment.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The merged experiment, including its sweep.
    pub experiment: Experiment,
    /// Its runs: point-major, then seed, then scheme.
    pub runs: Vec<Run>,
    /// Runs beside them in which only some groups send, if a metric compares with these.
    pub alone: AloneRuns,
    /// The readings of the file, in its order.
    pub readings: Vec<Reading>,
    /// Warnings.
    pub warnings: Vec<String>,
    /// Path of the file.
    pub source: PathBuf,
}

/// The runs in which only the groups of a class send.
#[derive(Clone, Debug, Default)]
pub struct AloneRuns {
    /// Those that are not in the grid, each once.
    pub runs: Vec<Run>,
    /// Id of the run alone, by the id of a run of the grid and the class.
    pub(super) ids: BTreeMap<(String, String), String>,
}

impl AloneRuns {
    /// Returns the id of the run in which only the groups of `class` send as in the run `run`; `None` if no metric asks
    /// for it.
    pub fn id(&self, run: &str, class: &str) -> Option<&str> {
        self.ids.get(&(run.to_owned(), class.to_owned())).map(String::as_str)
    }
}

impl Plan {
    /// Returns all runs to carry out, each once: those of the grid, and those of groups alone.
    pub fn all_runs(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().chain(&self.alone.runs)
    }

    /// Returns the run at a place in [`Self::all_runs`].
    pub fn run_at(&self, place: usize) -> Option<&Run> {
        self.runs.get(place).or_else(|| self.alone.runs.get(place.checked_sub(self.runs.len())?))
    }
}

/// One run of a plan.
#[derive(Clone, Debug)]
pub struct Run {
    /// Id of 16 hexadecimal digits: a hash of the merged experiment, the files it names, the seed and the version.
    pub id: String,
    /// Name of the scheme.
    pub scheme: String,
    /// The sweep point: dotted keys and values, in the order of the sweep.
    pub point: Vec<(String, Json)>,
    /// The seed, at least 1.
    pub seed: u64,
    /// The merged experiment at this point, shared by its runs.
    pub experiment: Arc<Experiment>,
    /// The settings that determine all runs of the scheme and point, as JSON.
    pub merged: Arc<Json>,
    /// Settings of its scheme that may not be meant on its network, a sentence each.
    pub findings: Vec<String>,
    /// Approximate number of flows.
    pub flows: u64,
    /// The load that each group with a stated load offers, the same for all runs of a sweep point.
    pub offers: Arc<[GroupOffer]>,
}
