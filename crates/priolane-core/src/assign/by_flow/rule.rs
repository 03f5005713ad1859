//! The interface of rules, which assign a class to each flow when it starts.

use std::fmt::Debug;

use crate::assign::SizeScope;
use crate::endpoint::FlowSpec;
use crate::file_code::FileCode;
use crate::flows::FlowList;
use crate::ids::Class;
use crate::sizes::SizeDistribution;
use crate::units::Span;

/// Assigns a class to each flow when it starts.
pub trait Rule: Debug {
    /// Returns the number of classes it assigns, at least 1.
    fn levels(&self) -> u8;

    /// Returns the class of one flow, for a uniform random `u` in [0, 1); `None` if the flow lacks a value that the
    /// rule needs.
    fn class(&self, flow: &FlowSpec, u: f64) -> Option<Class>;

    /// Returns whether it uses deadlines. Default: no.
    fn reads_deadlines(&self) -> bool {
        false
    }

    /// Sets the classes of all flows; `draws` has a uniform random number in [0, 1) for each. Default: each flow
    /// independently; flows that lack a needed value get the lowest class.
    fn assign(&self, flows: &mut FlowList, draws: Vec<f64>) {
        let lowest = self.levels() - 1;
        let mut draws = draws.into_iter();
        flows.edit_all(|flow| {
            let class = draws.next().and_then(|u| self.class(flow, u));
            flow.class = class.unwrap_or(lowest).min(lowest);
        });
    }

    /// Returns the scope of sizes that its thresholds are still to be computed from. Default: none.
    fn unsolved(&self) -> Option<&SizeScope> {
        None
    }

    /// Computes its thresholds from these sizes. Default: it has none to compute.
    fn solve(&mut self, sizes: &SizeDistribution) {
        let _ = sizes;
    }

    /// Returns its code that is in a file. Default: none, the code is compiled.
    fn file_code(&self) -> Option<&dyn FileCode> {
        None
    }

    /// As [`Self::file_code`].
    fn file_code_mut(&mut self) -> Option<&mut dyn FileCode> {
        None
    }
}

/// Returns the time from a flow's start to its deadline; `None` if the deadline is not later.
pub(super) fn allowance(flow: &FlowSpec) -> Option<Span> {
    flow.deadline.map(|deadline| deadline.since(flow.start)).filter(|&span| span > Span::ZERO)
}
