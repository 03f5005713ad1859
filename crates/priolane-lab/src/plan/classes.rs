//! Warns about classes that no flow and no coflow of a run belongs to.

use std::collections::BTreeMap;

use priolane_core::endpoint::FlowSpec;
use priolane_core::flows::FlowList;
use priolane_core::ids::CoflowId;
use priolane_core::price::Cos;

use crate::experiment::Experiment;
use crate::metrics::{Payer, SizeClass};

/// Returns a warning for each class of `[metrics] classes` without a measured flow or coflow. Endless flows have rates
/// whenever they start. Classes by the priority that admission assigns during the run are not looked at.
pub(super) fn empty(experiment: &Experiment, (flows, measured): (&FlowList, &[bool])) -> Vec<String> {
    let classes = experiment.metrics.classes.iter();
    let known_before = classes.filter(|class| class.given.is_none());
    let coflows = coflows(flows, measured);
    let holds = |class: &SizeClass, flow: &FlowSpec| {
        let group = experiment.groups.get(usize::from(flow.group)).map_or("", |group| group.name.as_str());
        class.contains(flow.size, Payer { group, cos: Cos::of(flow.weights) })
            && class.asked.is_none_or(|asked| asked == flow.class)
    };
    let is_empty = |class: &&SizeClass| {
        let mut measured_flows =
            flows.iter().zip(measured).filter(|(flow, measured)| **measured || flow.size.is_none());
        !measured_flows.any(|(flow, _)| holds(class, &flow))
            && !coflows.iter().any(|coflow| holds(class, coflow))
    };
    let text = |class: &SizeClass| {
        format!(
            "the class `{0}` has no measured flow, so that its metrics have no value: other bounds in \
             metrics.classes.{0}, or a longer `measure`",
            class.name
        )
    };
    known_before.filter(is_empty).map(text).collect()
}

/// Returns the first flow of each measured coflow with the bytes of all its flows as its size. A coflow is measured if its
/// first flow is.
fn coflows(flows: &FlowList, measured: &[bool]) -> Vec<FlowSpec> {
    let mut all: BTreeMap<(u16, CoflowId), (FlowSpec, bool)> = BTreeMap::new();
    for (flow, &measured) in flows.iter().zip(measured) {
        let Some(coflow) = flow.coflow else { continue };
        all.entry((flow.group, coflow))
            .and_modify(|(sum, is_measured)| {
                let size = sum.size.zip(flow.size).map(|(a, b)| a.saturating_add(b));
                if flow.start < sum.start {
                    (*sum, *is_measured) = (flow, measured);
                }
                sum.size = size;
            })
            .or_insert((flow, measured));
    }
    all.into_values().filter(|&(_, measured)| measured).map(|(sum, _)| sum).collect()
}
