//! The reasons why the runs of a point decide no claim: their load is not the requested one, or they are not in a
//! steady state.

use std::fmt;

use priolane_results::record::Demand;
use priolane_workload::LoadOf;

use crate::metrics::coverage::Coverage;

/// Maximum relative deviation of the offered load from the requested one; our choice, docs/assumptions.md#load-check.
pub(super) const LOAD_TOLERANCE: f64 = 0.05;

/// An offered load that deviates from the requested one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadDeviation {
    /// Requested and offered load, as means over seeds.
    pub demand: Demand,
    /// Whether a group with this load draws sizes independently and may use strata, which would bring the load closer.
    pub strata_would_help: bool,
}

impl fmt::Display for LoadDeviation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Demand { of, asked, offered, .. } = self.demand;
        let of = match of {
            LoadOf::Host => "of hosts",
            LoadOf::Core => "of the core",
        };
        let percent = LOAD_TOLERANCE * 100.0;
        write!(
            f,
            "requested load {asked:.3} {of}, offered {offered:.3}, tolerance ±{percent:.0} %: measure longer"
        )?;
        if self.strata_would_help { f.write_str(", or use draw = \"strata\"") } else { Ok(()) }
    }
}

/// The way in which the runs of a point miss their steady state.
#[derive(Clone, Debug, PartialEq)]
pub enum Unsteady {
    /// A link is offered 1 or more of what it carries on the wire; this load.
    Overload(f64),
    /// The flows of a class are in no steady state.
    Class {
        /// Name of the class.
        class: String,
        /// The way in which the flows miss a steady state.
        how: NotSteady,
        /// Whether the runs could begin with `time.start = "warm_path"`, and do not.
        may_start_warm: bool,
    },
    /// The part of what the metric is made of that it leaves out, as the run ended before.
    LeftOut(Coverage, f64),
}

impl Unsteady {
    /// Whether it tells that flows, coflows or deadlines were unfinished.
    pub(super) fn is_of_unfinished(&self) -> bool {
        matches!(self, Self::LeftOut(..) | Self::Class { how: NotSteady::Unfinished(_), .. })
    }
}

/// The way in which the flows of a class miss a steady state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NotSteady {
    /// Too few flows start in the window to tell; their number.
    NoEvidence(u64),
    /// The part of the flows that start in the window and did not complete before the limit of the run.
    Unfinished(f64),
    /// The direct mean over that by Little's law.
    DirectOverLittle(f64),
    /// The mean of the second half of the window over that of the first.
    Halves(f64),
    /// The flows under way in the last quarter of the window over those in the first.
    UnderWay(f64),
}

impl fmt::Display for Unsteady {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overload(load) => write!(
                f,
                "no steady state at a load of {load:.2} on the wire: lower the load, or state the number of flows with \
                 time.arrivals = \"stop\""
            ),
            Self::Class { class, how, may_start_warm } => {
                how.describe(class, f)?;
                match how {
                    NotSteady::DirectOverLittle(_) | NotSteady::Halves(_) | NotSteady::UnderWay(_)
                        if *may_start_warm =>
                    {
                        f.write_str(", or use time.start = \"warm_path\"")
                    }
                    _ => Ok(()),
                }
            }
            Self::LeftOut(coverage, part) => {
                let what = match coverage {
                    Coverage::Deadlines => "deadlines are after the end of the run",
                    Coverage::Coflows => "coflows did not complete",
                    Coverage::Every | Coverage::Completed | Coverage::LittlesLaw => "flows did not complete",
                };
                let percent = part * 100.0;
                write!(
                    f,
                    "{percent:.1} % of the {what} and are left out, 1 % allowed; use a later time.limit"
                )
            }
        }
    }
}

impl NotSteady {
    /// Writes what is wrong with the flows of `class`, and what ends that.
    fn describe(self, class: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoEvidence(flows) => write!(
                f,
                "no evidence of a steady state: class `{class}` has {flows} flows in the window; measure longer"
            ),
            Self::Unfinished(part) => write!(
                f,
                "no steady state: {:.1} % of the flows of class `{class}` that started in the window did not complete \
                 before time.limit, 1 % allowed; use a later time.limit, or a lower load",
                part * 100.0
            ),
            Self::DirectOverLittle(ratio) => write!(
                f,
                "no steady state: flows of class `{class}` that started in the window took {ratio:.2} times as long as \
                 Little's law says of those in it, 0.85 to 1.15 allowed; warm up longer"
            ),
            Self::Halves(ratio) => write!(
                f,
                "no steady state: the mean of class `{class}` changed by a factor of {ratio:.2} from the first to the \
                 second half of the window; warm up and measure longer"
            ),
            Self::UnderWay(ratio) => write!(
                f,
                "no steady state: the flows of class `{class}` under way grew by a factor of {ratio:.2} from the first \
                 to the last quarter of the window, 1.10 allowed; warm up longer"
            ),
        }
    }
}
