//! Deadline metrics of flows by class.

use super::fct::of;
use super::interval::half_width;
use super::metric::{Metric, SHARE};

const PART: Metric = Metric { range: SHARE, ..Metric::OF_FLOWS };

/// Fractions of deadlines met, missed and infeasible, relative to all that were met or missed.
pub(super) const METRICS: &[Metric] = &[
    Metric {
        name: "deadline_miss_rate",
        eval: |c| of(c, |s| s.deadline_miss_rate),
        tuned: Some(|s| s.deadline_miss_rate),
        ..PART
    },
    Metric { name: "deadline_meet_ratio", eval: |c| of(c, |s| s.deadline_meet_ratio), ..PART },
    // Deadlines that could not have been met in an idle network.
    Metric { name: "deadline_infeasible_rate", eval: |c| of(c, |s| s.deadline_infeasible_rate), ..PART },
    // Jain's index over senders of the fraction of deadlines that each met.
    Metric { name: "deadline_jain", eval: |c| of(c, |s| s.deadline_jain), ..PART },
    // Half-width of the 95 % confidence interval of the miss rate.
    Metric {
        name: "deadline_miss_half_width",
        eval: |c| of(c, |s| half_width(s.deadlines_missed, s.deadlines_met)),
        ..Metric::OF_FLOWS
    },
];
