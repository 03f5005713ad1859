//! The flows that a metric leaves out because the run ended before they did.

use priolane_results::record::RunRecord;
use priolane_results::summary::Summary;

/// The flows that the value of a metric is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// Every flow, or no flows at all: nothing is left out.
    Every,
    /// Flows that completed.
    Completed,
    /// By Little's law every flow in the measured window, if arrivals continue; otherwise flows that completed.
    LittlesLaw,
    /// Flows that met or missed their deadline. A flow that did not complete misses a deadline that has passed.
    Deadlines,
    /// Coflows that completed.
    Coflows,
}

/// The way in which the means of a run are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeansFrom {
    /// From the flows that completed.
    CompletedFlows,
    /// By Little's law, from the time that all flows spend in the measured window.
    LittlesLaw,
}

/// Largest part of its flows, coflows or deadlines that a metric may leave out.
pub(crate) const MOST_LEFT_OUT: f64 = 0.01;

/// The flows that a metric leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// The flows, deadlines or coflows that it leaves out.
    pub count: u64,
    /// All flows, deadlines or coflows of the class.
    pub of: u64,
}

impl LeftOut {
    /// Returns the part that is left out, from 0 to 1.
    pub fn part(self) -> f64 {
        if self.of == 0 { 0.0 } else { self.count as f64 / self.of as f64 }
    }
}

impl std::iter::Sum for LeftOut {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, own| Self { count: sum.count + own.count, of: sum.of + own.of })
    }
}

impl Coverage {
    /// Returns what a metric of `class` leaves out of a run; nothing if the run has no such class.
    pub(crate) fn left_out(self, record: &RunRecord, class: &str) -> LeftOut {
        if self == Self::Coflows {
            let of = record.coflows.get(class);
            return of
                .map_or_else(LeftOut::default, |own| LeftOut { count: own.unfinished, of: own.coflows });
        }
        let means = match record.steady.contains_key(class) {
            true => MeansFrom::LittlesLaw,
            false => MeansFrom::CompletedFlows,
        };
        record.summary.get(class).map_or_else(LeftOut::default, |summary| self.of_flows(summary, means))
    }

    /// Returns what a metric leaves out of the flows of a class; nothing for a metric of coflows.
    pub fn of_flows(self, summary: &Summary, means: MeansFrom) -> LeftOut {
        let Summary { flows, unfinished, deadlines_met, deadlines_missed, deadlines_censored, .. } = *summary;
        match (self, means) {
            (Self::Every | Self::Coflows, _) => LeftOut::default(),
            (Self::LittlesLaw, MeansFrom::LittlesLaw) => LeftOut { count: 0, of: flows },
            (Self::Completed | Self::LittlesLaw, _) => LeftOut { count: unfinished, of: flows },
            (Self::Deadlines, _) => LeftOut {
                count: deadlines_censored,
                of: deadlines_met + deadlines_missed + deadlines_censored,
            },
        }
    }

    /// Returns the member of a class's summary in `run.json` that counts what a metric leaves out of its flows; `None` if
    /// it leaves out nothing.
    pub fn counted_in(self, means: MeansFrom) -> Option<&'static str> {
        match (self, means) {
            (Self::Every | Self::Coflows, _) | (Self::LittlesLaw, MeansFrom::LittlesLaw) => None,
            (Self::Completed | Self::LittlesLaw, _) => Some("unfinished"),
            (Self::Deadlines, _) => Some("deadlines_censored"),
        }
    }

    /// Returns what is left out as a clause after its numbers; `of` names the class.
    pub(crate) fn says(self, LeftOut { count, of: all }: LeftOut, of: &str) -> String {
        match self {
            Self::Deadlines => {
                format!("{count} of {all} deadlines of {of} are after the end of the run and are left out")
            }
            Self::Coflows => format!("{count} of {all} coflows of {of} did not finish and are left out"),
            Self::Every | Self::Completed | Self::LittlesLaw => {
                format!("{count} of {all} flows of {of} did not finish and are left out")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::metric::Metric;
    use super::*;

    #[test]
    fn each_metric_leaves_out_what_its_value_is_not_made_of() {
        // Of 100 flows 7 did not finish; of 50 deadlines 40 were met, 6 were missed, and 4 are after the end.
        let summary = Summary {
            flows: 100,
            unfinished: 7,
            deadlines_met: 40,
            deadlines_missed: 6,
            deadlines_censored: 4,
            ..Summary::default()
        };
        let of = |name: &str, means| Metric::named(name).unwrap().coverage.of_flows(&summary, means);
        let left = |name: &str| {
            [MeansFrom::CompletedFlows, MeansFrom::LittlesLaw].map(|means| of(name, means).count)
        };
        for mean in ["fct", "gain", "cv", "slowdown", "fct_ratio"] {
            assert_eq!(left(mean), [7, 0], "{mean}");
        }
        for completed in ["fct_p50", "fct_p99", "slowdown_p999", "goodput", "timed_out", "fct_acked"] {
            assert_eq!(left(completed), [7, 7], "{completed}");
        }
        for dated in ["deadline_miss_rate", "deadline_meet_ratio", "deadline_jain"] {
            assert_eq!((left(dated), of(dated, MeansFrom::LittlesLaw).of), ([4, 4], 50), "{dated}");
        }
        for every in ["size", "flow_share", "downgraded", "cct", "rate"] {
            assert_eq!(left(every), [0, 0], "{every}");
        }
    }

    #[test]
    fn what_is_left_out_is_counted_in_the_member_that_is_named() {
        let summary = Summary { flows: 9, unfinished: 3, deadlines_censored: 2, ..Summary::default() };
        let written = serde_json::to_value(summary).unwrap();
        use Coverage::{Coflows, Completed, Deadlines, Every, LittlesLaw};
        for coverage in [Every, Completed, LittlesLaw, Deadlines, Coflows] {
            for means in [MeansFrom::CompletedFlows, MeansFrom::LittlesLaw] {
                let named = coverage.counted_in(means).map_or(0, |member| written[member].as_u64().unwrap());
                assert_eq!(named, coverage.of_flows(&summary, means).count, "{coverage:?} {means:?}");
            }
        }
    }

    #[test]
    fn parts_add_up_over_runs() {
        let sum: LeftOut = [LeftOut { count: 1, of: 50 }, LeftOut { count: 0, of: 50 }].into_iter().sum();
        assert_eq!((sum, sum.part()), (LeftOut { count: 1, of: 100 }, 0.01));
        assert!(LeftOut::default().part().abs() < f64::EPSILON);
    }
}
