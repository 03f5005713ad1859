//! Completion times and deadline misses, predicted or simulated.

use serde::Serialize;

/// Completion times and deadline miss rates.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// Mean completion time by size class, in seconds; `None` if no flow of the class completed.
    pub fct_s: Vec<Option<f64>>,
    /// Fraction of flows of each size class that missed their deadlines.
    pub missed: Vec<f64>,
    /// Mean completion time of all flows, in seconds.
    pub mean_s: Option<f64>,
    /// R_DM: fraction of all flows that missed their deadlines.
    pub miss_rate: f64,
}

/// The simulation of the same flows under a scheme.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SimulatedFigures {
    /// Name of the scheme.
    pub scheme: String,
    /// Number of flows that did not complete.
    pub unfinished: usize,
    /// Simulated completion times and misses.
    pub figures: Figures,
}
