//! The runs of an experiment.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::experiment::{Experiment, Reading};

/// All runs of an experiment.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The merged experiment, its sweep included.
    pub experiment: Experiment,
    /// Its runs: point-major, then seed, then scheme.
    pub runs: Vec<Run>,
    /// The readings that the file states, in its order.
    pub readings: Vec<Reading>,
    /// What to check before trusting it.
    pub warnings: Vec<String>,
    /// The file.
    pub source: PathBuf,
}

/// One run of a plan.
#[derive(Clone, Debug)]
pub struct Run {
    /// 16 hexadecimal digits: a hash of the merged experiment, the files it names, seed and version.
    pub id: String,
    /// The scheme.
    pub scheme: String,
    /// The sweep point: dotted keys and values, in the order of the sweep.
    pub point: Vec<(String, Json)>,
    /// The seed, at least 1.
    pub seed: u64,
    /// The merged experiment at this point, shared by its runs.
    pub experiment: Arc<Experiment>,
    /// What determines this run and the others of its scheme and point, as JSON.
    pub merged: Arc<Json>,
    /// About how many flows it has.
    pub flows: u64,
}
