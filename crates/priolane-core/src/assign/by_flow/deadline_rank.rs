//! Classes by the rank of a flow's time to the deadline among all flows (PASE, SIGCOMM 2014).

use super::rule::{Rule, allowance};
use super::thresholds::{Shares, above};
use crate::endpoint::FlowSpec;
use crate::flows::FlowList;
use crate::ids::Class;
use crate::keys::Keys;
use crate::part::Part;

/// Parameters of the rule `deadline_rank`.
#[derive(Clone, Debug, PartialEq, Keys, Part)]
#[keys(group = "deadline_rank")]
#[part(
    name = "deadline_rank",
    summary = "shorter time to the deadline first, split by rank among all flows",
    source = "PASE (SIGCOMM 2014)",
    deploy = [Dscp, Deadlines],
    example = "fractions = [0.5, 0.3, 0.2]"
)]
pub struct DeadlineRank {
    /// Share of flows of each class, class 0 first, summing to 1.
    #[key(required = "fractions = [0.5, 0.1, 0.4]", form = Shares, range = "[0, 1]", group = "shares", source = "Firapam §V, Table II")]
    pub fractions: Vec<f64>,
}

impl Rule for DeadlineRank {
    fn levels(&self) -> u8 {
        self.fractions.len() as u8
    }

    /// A single flow has no rank.
    fn class(&self, _: &FlowSpec, _: f64) -> Option<Class> {
        None
    }

    fn reads_deadlines(&self) -> bool {
        true
    }

    fn assign(&self, flows: &mut FlowList, draws: Vec<f64>) {
        let mut order: Vec<usize> = (0..flows.len()).collect();
        let urgency = |i: usize| (allowance(&flows.at(i)).map_or(u64::MAX, |span| span.0), draws[i]);
        order.sort_by(|&a, &b| {
            let ((a_due, a_draw), (b_due, b_draw)) = (urgency(a), urgency(b));
            a_due.cmp(&b_due).then(a_draw.total_cmp(&b_draw)).then(a.cmp(&b))
        });
        for (place, i) in order.iter().enumerate() {
            let class = above(&self.fractions, place as f64 / draws.len() as f64) as Class;
            flows.edit(*i, |flow| flow.class = class);
        }
    }
}
