//! Deadline metrics of flows by class.

use super::coverage::Coverage;
use super::fct::of;
use super::interval::half_width;
use super::metric::{Context, Metric, Missing, SHARE, Scope, Unit};

const OF_DEADLINES: Metric = Metric { coverage: Coverage::Deadlines, ..Metric::OF_FLOWS };

const PART: Metric = Metric { unit: Unit::Part, range: SHARE, ..OF_DEADLINES };

/// Fractions of deadlines met, missed and infeasible, relative to all that were met or missed.
pub(super) const METRICS: &[Metric] = &[
    Metric {
        name: "deadline_miss_rate",
        meaning: "Part of the deadlines that were missed, of those met or missed",
        eval: |c| of(c, |s| s.deadline_miss_rate),
        tuned: Some(|s| s.deadline_miss_rate),
        ..PART
    },
    Metric {
        name: "deadline_meet_ratio",
        meaning: "Part of the deadlines that were met, of those met or missed",
        eval: |c| of(c, |s| s.deadline_meet_ratio),
        ..PART
    },
    Metric {
        name: "deadline_infeasible_rate",
        meaning: "Part of the flows that could not meet their deadline alone in the network",
        eval: |c| of(c, |s| s.deadline_infeasible_rate),
        ..PART
    },
    // The part of all flows that are late ones of the class: unlike the miss rate, it falls if flows leave the class.
    Metric {
        name: "deadline_miss_share",
        meaning: "Missed deadlines of the class over all flows, or over those of the class that it is `over`",
        scope: Scope::Classes,
        eval: miss_share,
        ..PART
    },
    Metric {
        name: "deadline_jain",
        meaning: "Jain's index, over sending hosts, of the part of deadlines that each met",
        unit: Unit::One,
        eval: |c| of(c, |s| s.deadline_jain),
        ..PART
    },
    Metric {
        name: "deadline_miss_half_width",
        meaning: "Half of the 95 % interval (Wilson) of the miss rate, as if flows were independent",
        eval: |c| of(c, |s| half_width(s.deadlines_missed, s.deadlines_met)),
        ..OF_DEADLINES
    },
];

fn miss_share(context: &Context) -> Result<f64, Missing> {
    let summary = |class: &str| context.record.summary.get(class);
    let whole = summary(context.over().unwrap_or(super::ALL)).filter(|whole| whole.flows > 0);
    let late = summary(context.class).zip(whole);
    late.map(|(own, whole)| own.deadlines_missed as f64 / whole.flows as f64).ok_or(Missing::Point("no flow"))
}
