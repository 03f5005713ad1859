//! Deadlines of flows by class.

use super::fct::of;
use super::interval::half_width;
use super::metric::{Metric, SHARE};

const PART: Metric = Metric { range: SHARE, ..Metric::OF_FLOWS };

/// Deadlines met, missed, and out of reach, over all that were met or missed.
pub(super) const METRICS: &[Metric] = &[
    Metric {
        name: "deadline_miss_rate",
        eval: |c| of(c, |s| s.deadline_miss_rate),
        tuned: Some(|s| s.deadline_miss_rate),
        ..PART
    },
    Metric { name: "deadline_meet_ratio", eval: |c| of(c, |s| s.deadline_meet_ratio), ..PART },
    // Those that could not have been met alone in the network.
    Metric { name: "deadline_infeasible_rate", eval: |c| of(c, |s| s.deadline_infeasible_rate), ..PART },
    // Jain's index over sources of the part that each met.
    Metric { name: "deadline_jain", eval: |c| of(c, |s| s.deadline_jain), ..PART },
    // Half of the 95 % interval of the part that is missed.
    Metric {
        name: "deadline_miss_half_width",
        eval: |c| of(c, |s| half_width(s.deadlines_missed, s.deadlines_met)),
        ..Metric::OF_FLOWS
    },
];
