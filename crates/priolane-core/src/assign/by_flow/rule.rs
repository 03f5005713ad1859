//! What a rule is: a class for each flow, as it starts.

use std::fmt::Debug;

use crate::assign::SizeScope;
use crate::endpoint::FlowSpec;
use crate::flows::FlowList;
use crate::ids::Class;
use crate::sizes::SizeDistribution;
use crate::units::Span;

/// Gives each flow a class when it starts.
pub trait Rule: Debug {
    /// The number of classes it gives, at least 1.
    fn levels(&self) -> u8;

    /// The class of one flow, where `u` is drawn from [0, 1) for it; `None` where the flow lacks what the rule needs.
    fn class(&self, flow: &FlowSpec, u: f64) -> Option<Class>;

    /// Whether it looks at deadlines. Default: it does not.
    fn reads_deadlines(&self) -> bool {
        false
    }

    /// Gives all flows their classes, where `draws` has a number in [0, 1) for each. Default: each by itself, those that
    /// lack what the rule needs the lowest.
    fn assign(&self, flows: &mut FlowList, draws: Vec<f64>) {
        let lowest = self.levels() - 1;
        let mut draws = draws.into_iter();
        flows.edit_all(|flow| {
            let class = draws.next().and_then(|u| self.class(flow, u));
            flow.class = class.unwrap_or(lowest).min(lowest);
        });
    }

    /// Whose sizes its thresholds are still to be found from. Default: nobody's.
    fn unsolved(&self) -> Option<&SizeScope> {
        None
    }

    /// Finds its thresholds from these sizes. Default: it has none to find.
    fn solve(&mut self, sizes: &SizeDistribution) {
        let _ = sizes;
    }
}

/// The time from a flow's start to its deadline, if that is later.
pub(super) fn allowance(flow: &FlowSpec) -> Option<Span> {
    flow.deadline.map(|deadline| deadline.since(flow.start)).filter(|&span| span > Span::ZERO)
}
