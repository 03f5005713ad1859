//! Completion times and misses, predicted or simulated.

use serde::Serialize;

/// Completion times and misses.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// Mean completion time of flows by size class, in seconds; `None` where none completed.
    pub fct_s: Vec<Option<f64>>,
    /// The part of each size class that missed its deadlines.
    pub missed: Vec<f64>,
    /// Mean completion time of all flows, in seconds.
    pub mean_s: Option<f64>,
    /// R_DM: the part of all flows that missed their deadlines.
    pub miss_rate: f64,
}

/// What a scheme made of the same flows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Simulated {
    /// The scheme.
    pub scheme: String,
    /// Flows that did not complete.
    pub unfinished: usize,
    /// What came out.
    pub figures: Figures,
}
