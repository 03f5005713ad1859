//! Thresholds that adapt to the workload (NOS2 §IV): hosts estimate sizes, a controller solves.
//!
//! ```text
//! host        a flow completes ──▶ SizeEstimate: the last `window` flows of this host
//!             every `period`   ──▶ own thresholds (`from = "local"`), at once
//!                              ──▶ SizeReport: the whole estimate, numbered ─────┐
//!                                                                        `delay` │ may be lost, late, duplicated
//! controller  newest report of each host, none older than `max_age` periods ◀────┘
//!             `delay` after each period: sum ──▶ solve ──▶ clamp to [min, max] ──┐
//!                                                                        `delay` │
//! host        sets the thresholds of its classes ◀───────────────────────────────┘
//! ```
//!
//! Until `min_samples` flows are known, the initial thresholds stay. A report is a snapshot rather than a difference,
//! so that none has to arrive. Two bounds limit the effect of a false report: it counts at most `window` flows, and
//! thresholds stay in `[min, max]` (docs/assumptions.md#controller).

mod config;
mod controller;
mod estimate;
pub mod histogram;
#[cfg(test)]
mod tests;

pub use config::{Config, ThresholdRange};
pub use controller::{SizeReport, ThresholdController};
pub use estimate::SizeEstimate;

use super::solver::SolverInput;
use super::solvers::Solver;
use crate::endpoint::{ThresholdSet, Thresholds};
use crate::sizes::SizeDistribution;
use histogram::Histogram;

/// A set of thresholds that adapts to the workload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdaptiveThresholds {
    /// The set of thresholds.
    pub of: ThresholdSet,
    /// The solver.
    pub solver: Solver,
    /// Number of levels, 1 to 16.
    pub levels: u8,
    /// Load of the links that the solver assumes.
    pub load: f64,
}

impl AdaptiveThresholds {
    /// Returns the thresholds in bytes for `sizes`, non-decreasing; `None` if there are none for these sizes.
    fn thresholds(&self, sizes: &SizeDistribution) -> Option<Vec<u64>> {
        let Self { solver, levels, load, .. } = *self;
        solver.solve(&SolverInput { sizes, name: "reported", published: None, load, levels }).ok()
    }
}

/// Adaptive thresholds with the last result.
#[derive(Clone, Debug)]
pub struct TrackedThresholds {
    target: AdaptiveThresholds,
    last: Option<Vec<u64>>,
}

impl From<AdaptiveThresholds> for TrackedThresholds {
    fn from(target: AdaptiveThresholds) -> Self {
        Self { target, last: None }
    }
}

impl TrackedThresholds {
    /// Returns the thresholds for the flows in `sizes`, within bounds; `None` if there are fewer flows than
    /// `min_samples`, or if the thresholds equal the last ones.
    pub fn solve(&mut self, config: &Config, sizes: &Histogram) -> Option<Thresholds> {
        if sizes.total() < u64::from(config.min_samples) {
            return None;
        }
        let found = self.target.thresholds(&sizes.distribution()?)?;
        let bytes: Vec<u64> = found.into_iter().map(|w| config.bounds.clamp(w)).collect();
        if self.last.as_ref() == Some(&bytes) {
            return None;
        }
        self.last = Some(bytes.clone());
        Some(Thresholds { of: self.target.of, bytes })
    }
}
