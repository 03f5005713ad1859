//! Classes by size, with thresholds that give each class its share of flows.

use super::rule::Rule;
use super::solved::SolvedThresholds;
use super::thresholds::Shares;
use crate::assign::{SizeScope, flow_fraction};
use crate::endpoint::FlowSpec;
use crate::ids::Class;
use crate::keys::{KeyConflict, Keys};
use crate::part::Part;
use crate::sizes::SizeDistribution;

/// Parameters of the rule `flow_fraction`.
#[derive(Clone, Debug, PartialEq, Keys, Part)]
#[keys(group = "flow_fraction", check = Self::check)]
#[part(
    name = "flow_fraction",
    summary = "smaller flows first, split so that each class has its fraction of flows",
    source = "Firapam §V, Table II",
    deploy = [Dscp, SizesKnown],
    example = "fractions = [0.5, 0.3, 0.2]"
)]
pub struct FlowFraction {
    /// Share of flows of each class, class 0 first, summing to 1.
    #[key(required = "fractions = [0.5, 0.1, 0.4]", form = Shares, range = "[0, 1]", group = "shares", source = "Firapam §V, Table II")]
    pub fractions: Vec<f64>,
    /// The thresholds between classes.
    #[keys(flatten)]
    pub thresholds: SolvedThresholds,
}

impl FlowFraction {
    fn check(&mut self) -> Result<(), KeyConflict> {
        self.thresholds.check(self.levels())
    }
}

impl Rule for FlowFraction {
    fn levels(&self) -> u8 {
        self.fractions.len() as u8
    }

    fn class(&self, flow: &FlowSpec, _: f64) -> Option<Class> {
        Some(self.thresholds.class(flow.whole_size()?))
    }

    fn unsolved(&self) -> Option<&SizeScope> {
        self.thresholds.unsolved()
    }

    fn solve(&mut self, sizes: &SizeDistribution) {
        self.thresholds.bytes = Some(flow_fraction(sizes, &self.fractions));
    }
}
