//! Classes by the size of whole coflows, and the rank of coflows by size.

use std::collections::BTreeMap;

use super::rule::Rule;
use super::thresholds::{Ascending, count_exceeded};
use crate::endpoint::FlowSpec;
use crate::flows::FlowList;
use crate::ids::{Class, CoflowId};
use crate::keys::Keys;
use crate::part::Part;

/// Parameters of the rule `coflow_size`.
#[derive(Clone, Debug, PartialEq, Keys, Part)]
#[keys(group = "coflow_size")]
#[part(
    name = "coflow_size",
    summary = "flows of smaller coflows first, with given thresholds of coflow size",
    source = "Varys (SIGCOMM 2014) §5",
    deploy = [Dscp, SizesKnown, Coflows],
    example = r#"thresholds = ["100kB", "1MB"]"#
)]
pub struct CoflowSize {
    /// Upper bound of the coflow size of each class except the last.
    #[key(required = "thresholds = [\"1MB\", \"10MB\"]", form = Ascending<15>, source = "docs/experiments.md")]
    pub thresholds: Vec<u64>,
}

impl Rule for CoflowSize {
    fn levels(&self) -> u8 {
        self.thresholds.len() as u8 + 1
    }

    /// A flow without a coflow is a coflow by itself.
    fn class(&self, flow: &FlowSpec, _: f64) -> Option<Class> {
        Some(count_exceeded(&self.thresholds, flow.whole_size()?) as Class)
    }

    fn assign(&self, flows: &mut FlowList, _: Vec<f64>) {
        let sizes = CoflowSizes::of(flows);
        flows.edit_all(|flow| {
            let class =
                sizes.size(flow).map_or(self.thresholds.len(), |size| count_exceeded(&self.thresholds, size));
            flow.class = class as Class;
        });
    }
}

/// Sets each flow's coflow rank by bytes. Equal sizes share a rank; endless coflows come last.
pub fn set_coflow_ranks(flows: &mut FlowList) {
    let sizes = CoflowSizes::of(flows);
    let size = |flow: &FlowSpec| sizes.size(flow).unwrap_or(u64::MAX);
    let mut order: Vec<u64> = flows.iter().map(|flow| size(&flow)).collect();
    order.sort_unstable();
    order.dedup();
    flows.edit_all(|flow| flow.coflow_place = order.partition_point(|&other| other < size(flow)) as u32);
}

/// Bytes of coflows, by group and number; `None` if a flow is endless.
struct CoflowSizes(BTreeMap<(u16, CoflowId), Option<u64>>);

impl CoflowSizes {
    fn of(flows: &FlowList) -> Self {
        let mut sizes: BTreeMap<(u16, CoflowId), Option<u64>> = BTreeMap::new();
        for flow in flows {
            let Some(coflow) = flow.coflow else { continue };
            let sum = sizes.entry((flow.group, coflow)).or_insert(Some(0));
            *sum = sum.zip(flow.whole_size()).map(|(sum, size)| sum.saturating_add(size));
        }
        Self(sizes)
    }

    /// Returns the bytes of the flow's coflow, or of the flow if it has none.
    fn size(&self, flow: &FlowSpec) -> Option<u64> {
        flow.coflow.map_or(flow.whole_size(), |coflow| self.0.get(&(flow.group, coflow)).copied().flatten())
    }
}
