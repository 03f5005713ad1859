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

mod controller;
mod estimate;
pub mod histogram;
#[cfg(test)]
mod tests;

pub use controller::{SizeReport, ThresholdController};
pub use estimate::SizeEstimate;

use super::{basin_hopping, byte_share, equal_split, opt, two_level_ps};
use crate::endpoint::{LadderOf, Thresholds};
use crate::sizes::SizeDistribution;
use crate::units::Span;
use histogram::Histogram;

/// How often and from what thresholds are found anew.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Time between two reports of a host, above zero.
    pub period: Span,
    /// One-way time of a message between host and controller, not below the engines' window.
    pub delay: Span,
    /// Flows that a host remembers, at least 1.
    pub window: u32,
    /// Flows without which thresholds stay as they are: of one host for its own, of all for the switches'.
    pub min_samples: u32,
    /// Periods after which a report no longer counts.
    pub max_age: u32,
    /// The smallest threshold, in bytes.
    pub min: u64,
    /// The largest threshold, in bytes, not below `min`.
    pub max: u64,
}

impl Plan {
    /// `threshold` moved into the stated bounds.
    pub fn bounded(&self, threshold: u64) -> u64 {
        threshold.min(self.max).max(self.min)
    }
}

/// How thresholds are found from sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Solve {
    /// As many flows in each of so many levels.
    EqualSplit {
        /// Number of levels, 1 to 16.
        levels: u8,
    },
    /// Those that minimise the mean completion time of a row of queues ([`byte_share::cost`]).
    Opt {
        /// Number of levels, 1 to 16.
        levels: u8,
        /// Load of the links, in (0, 1).
        load: f64,
    },
    /// Those that basin hopping finds on PIAS's model.
    BasinHopping {
        /// Number of levels, 1 to 16.
        levels: u8,
        /// Load of the links, in (0, 1).
        load: f64,
    },
    /// The one threshold of two-level processor sharing in closed form.
    ClosedForm {
        /// Load of the links, in (0, 1).
        load: f64,
    },
}

impl Solve {
    /// The thresholds in bytes for `sizes`, non-decreasing; `None` where these have none.
    pub fn thresholds(self, sizes: &SizeDistribution) -> Option<Vec<u64>> {
        match self {
            Self::EqualSplit { levels } => Some(equal_split(sizes, levels)),
            Self::Opt { levels: 2, load } => Some(vec![byte_share::opt2(sizes, load)]),
            Self::Opt { levels, load } => Some(opt(sizes, load, levels)),
            Self::BasinHopping { levels, load } => Some(basin_hopping(sizes, load, levels)),
            Self::ClosedForm { load } => two_level_ps::closed_form(sizes, load).map(|w| vec![w]),
        }
    }
}

/// A ladder whose thresholds follow the workload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// Which.
    pub of: LadderOf,
    /// How.
    pub solve: Solve,
}

/// A target with the thresholds found last.
#[derive(Clone, Debug)]
pub struct Followed {
    target: Target,
    last: Option<Vec<u64>>,
}

impl From<Target> for Followed {
    fn from(target: Target) -> Self {
        Self { target, last: None }
    }
}

impl Followed {
    /// The thresholds for the flows in `sizes`, within bounds; `None` if these are fewer than `min_samples`, or if
    /// the thresholds are those found last.
    pub fn follow(&mut self, plan: &Plan, sizes: &Histogram) -> Option<Thresholds> {
        if sizes.total() < u64::from(plan.min_samples) {
            return None;
        }
        let found = self.target.solve.thresholds(&sizes.distribution()?)?;
        let bytes: Vec<u64> = found.into_iter().map(|w| plan.bounded(w)).collect();
        if self.last.as_ref() == Some(&bytes) {
            return None;
        }
        self.last = Some(bytes.clone());
        Some(Thresholds { of: self.target.of, bytes })
    }
}
