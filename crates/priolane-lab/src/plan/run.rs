//! The runs of an experiment.

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
    /// The readings of the file, in its order.
    pub readings: Vec<Reading>,
    /// Warnings.
    pub warnings: Vec<String>,
    /// Path of the file.
    pub source: PathBuf,
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
