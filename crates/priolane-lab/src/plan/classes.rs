//! Warns about classes of flows that no flow of a run belongs to.

use priolane_core::flows::FlowList;
use priolane_core::price::Cos;

use crate::experiment::Experiment;
use crate::metrics::{Payer, SizeClass};

/// Returns a warning for each class of `[metrics] classes` without a measured flow. Classes by
/// the priority that admission assigns during the run are not looked at.
pub(super) fn empty(experiment: &Experiment, (flows, measured): (&FlowList, &[bool])) -> Vec<String> {
    let classes = experiment.metrics.classes.iter();
    let known_before = classes.filter(|class| class.given.is_none());
    let is_empty = |class: &&SizeClass| {
        !flows.iter().zip(measured).any(|(flow, &measured)| {
            let group =
                experiment.groups.get(usize::from(flow.group)).map_or("", |group| group.name.as_str());
            measured
                && class.contains(flow.size, Payer { group, cos: Cos::of(flow.weights) })
                && class.asked.is_none_or(|asked| asked == flow.class)
        })
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
