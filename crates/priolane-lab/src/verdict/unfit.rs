//! Why the runs of a point decide no claim: their load is not the requested one, or they are in no steady state.

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

/// How a run misses its steady state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unsteady {
    /// The direct mean over that by Little's law.
    DirectOverLittle(f64),
    /// The mean of the second half of the window over that of the first.
    Halves(f64),
    /// The part of what the metric is made of that it leaves out, as the run ended before.
    LeftOut(Coverage, f64),
}

impl fmt::Display for Unsteady {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DirectOverLittle(ratio) => write!(
                f,
                "no steady state: the largest flows that started in the window took {ratio:.2} times as long as Little's \
                 law says of those in it, 0.85 to 1.15 allowed; warm up longer, or use time.start = \"warm\""
            ),
            Self::Halves(ratio) => write!(
                f,
                "no steady state: the mean of the largest flows changed by a factor of {ratio:.2} from the first to the \
                 second half of the window; warm up and measure longer"
            ),
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
