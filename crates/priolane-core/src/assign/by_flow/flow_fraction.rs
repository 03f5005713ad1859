//! By size, cut so that each class has its share of flows.

use super::rule::Rule;
use super::thresholds::{Shares, exceeded};
use crate::assign::{SizesOf, flow_fraction};
use crate::endpoint::FlowSpec;
use crate::ids::Class;
use crate::keys::{ByteList, Keys, Misfit};
use crate::part::Part;
use crate::sizes::SizeDistribution;

/// Parameters of the rule `flow_fraction`.
#[derive(Clone, Debug, PartialEq, Keys, Part)]
#[keys(group = "flow_fraction", check = Self::check)]
#[part(
    name = "flow_fraction",
    summary = "smaller flows first, cut so that each class has its share of flows",
    source = "Firapam §V, Table II"
)]
pub struct FlowFraction {
    /// Share of flows of each class, class 0 first, summing to 1.
    #[key(required = "fractions = [0.5, 0.1, 0.4]", form = Shares, range = "[0, 1]", source = "Firapam §V, Table II")]
    pub fractions: Vec<f64>,
    /// Whose sizes the thresholds are found from: global, local or a group.
    #[key(default = SizesOf::Global, source = "docs/thresholds.md")]
    pub from: SizesOf,
    /// The thresholds found; left out in files.
    #[key(optional, form = ByteList)]
    pub bytes: Option<Vec<u64>>,
}

impl FlowFraction {
    fn check(&mut self) -> Result<(), Misfit> {
        let levels = usize::from(self.levels());
        match &self.bytes {
            Some(bytes) if bytes.len() + 1 != levels || !bytes.is_sorted() => {
                let what = format!("{} thresholds for {levels} classes", bytes.len());
                Err(Misfit::of("bytes", what, "leave the key out"))
            }
            _ => Ok(()),
        }
    }
}

impl Rule for FlowFraction {
    fn levels(&self) -> u8 {
        self.fractions.len() as u8
    }

    fn class(&self, flow: &FlowSpec, _: f64) -> Option<Class> {
        Some(exceeded(self.bytes.as_deref().unwrap_or_default(), flow.size?) as Class)
    }

    fn unsolved(&self) -> Option<&SizesOf> {
        self.bytes.is_none().then_some(&self.from)
    }

    fn solve(&mut self, sizes: &SizeDistribution) {
        self.bytes = Some(flow_fraction(sizes, &self.fractions));
    }
}
