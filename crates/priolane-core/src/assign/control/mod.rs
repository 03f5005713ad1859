//! Thresholds that follow the workload (NOS2 §IV): hosts estimate, a controller solves.
//!
//! ```text
//! host        a flow completes ──▶ SizeEstimate: the last `window` flows of this host
//!             every `period`   ──▶ own thresholds (`from = "local"`), at once
//!                              ──▶ SizeReport: all that is remembered, numbered ─┐
//!                                                                        `delay` │ may be lost, late, repeated
//! controller  newest report of each host, none older than `max_age` periods ◀────┘
//!             `delay` after each period: sum ──▶ solve ──▶ bound to [min, max] ──┐
//!                                                                        `delay` │
//! host        takes the thresholds for its classes ◀─────────────────────────────┘
//! ```
//!
//! Until `min_samples` flows are known, the thresholds of the start stay. A report is a snapshot and not a
//! difference, so that none has to arrive. What a report may claim is bounded twice: it counts at most `window`
//! flows, and thresholds never leave `[min, max]` (docs/assumptions.md#controller).

mod config;
mod controller;
mod estimate;
pub mod histogram;
#[cfg(test)]
mod tests;

pub use config::{Config, ThresholdRange};
pub use controller::{SizeReport, ThresholdController};
pub use estimate::SizeEstimate;

use super::solver::Question;
use super::solvers::Solver;
use crate::endpoint::{ThresholdSet, Thresholds};
use crate::sizes::SizeDistribution;
use histogram::Histogram;

/// A ladder whose thresholds follow the workload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdaptiveThresholds {
    /// Which.
    pub of: ThresholdSet,
    /// How.
    pub solver: Solver,
    /// Number of levels, 1 to 16.
    pub levels: u8,
    /// Load of the links that the solver is told.
    pub load: f64,
}

impl AdaptiveThresholds {
    /// The thresholds in bytes for `sizes`, non-decreasing; `None` where these have none.
    fn thresholds(&self, sizes: &SizeDistribution) -> Option<Vec<u64>> {
        let Self { solver, levels, load, .. } = *self;
        solver.solve(&Question { sizes, name: "reported", published: None, load, levels }).ok()
    }
}

/// A target with the thresholds found last.
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
    /// The thresholds for the flows in `sizes`, within bounds; `None` if these are fewer than `min_samples`, or if
    /// the thresholds are those found last.
    pub fn follow(&mut self, config: &Config, sizes: &Histogram) -> Option<Thresholds> {
        if sizes.total() < u64::from(config.min_samples) {
            return None;
        }
        let found = self.target.thresholds(&sizes.distribution()?)?;
        let bytes: Vec<u64> = found.into_iter().map(|w| config.bounds.bounded(w)).collect();
        if self.last.as_ref() == Some(&bytes) {
            return None;
        }
        self.last = Some(bytes.clone());
        Some(Thresholds { of: self.target.of, bytes })
    }
}
