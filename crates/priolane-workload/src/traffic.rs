//! Flows with dependencies, and the merging of several groups into one list.

use std::borrow::Cow;

use priolane_core::endpoint::FlowSpec;
use priolane_core::flows::FlowList;
use priolane_core::ids::{FlowId, HostId};
use priolane_sim::dependencies::FlowDependency;

/// Flows and their dependencies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traffic {
    /// The flows; a dependent flow has the earliest time at which it may start.
    pub flows: FlowList,
    /// The dependencies, by the ids of `flows`.
    pub waits: Vec<FlowDependency>,
    /// The paths that the app states for flows.
    pub paths: Vec<StatedPath>,
}

/// A path that an app states for a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatedPath {
    /// The source of the flow.
    pub src: HostId,
    /// The destination of the flow.
    pub dst: HostId,
    /// The number of the equal-cost path, from 0.
    pub path: u16,
    /// The number of the row or pair that states it.
    pub place: usize,
}

impl Traffic {
    /// Creates independent flows on random paths.
    pub fn independent(flows: FlowList) -> Self {
        Self { flows, ..Self::default() }
    }

    /// Keeps the first `count` flows, and of their dependencies those on flows that are kept. A flow that waited for
    /// flows beyond them only starts at its own earliest time. Stated paths stay as they are.
    ///
    /// Flows must be numbered in their order, as [`merge_traffic`] does.
    pub fn truncate(&mut self, count: usize) {
        self.flows.truncate(count);
        let kept = |flow: FlowId| flow.index() < count;
        self.waits.retain_mut(|wait| {
            wait.after.retain(|&flow| kept(flow));
            kept(wait.flow) && !wait.after.is_empty()
        });
    }
}

/// Merges the flow lists of a run's groups, each sorted as by [`generate`](crate::generate), in order of start,
/// group, source and sequence, numbered from 0.
pub fn merge(groups: Vec<FlowList>) -> FlowList {
    merge_traffic(groups.into_iter().map(Traffic::independent).collect()).flows
}

/// Merges as [`merge`], for groups with dependent flows; the dependencies are in order of their flows.
pub fn merge_traffic(groups: Vec<Traffic>) -> Traffic {
    let mut flows = FlowList::default();
    let mut waits = Vec::new();
    for Traffic { flows: mut own, waits: own_waits, .. } in groups {
        // With temporary ids that no flow of another group has, until the final order is known.
        let first = flows.len() as u32;
        let shifted = |id: FlowId| FlowId(first + id.0);
        if own_waits.is_empty() {
            own.number();
        }
        waits.extend(own_waits.into_iter().map(|wait| renamed(wait, shifted)));
        if flows.is_empty() {
            flows = own;
        } else {
            flows.extend(own.iter().map(|flow| FlowSpec { id: shifted(flow.id), ..flow }));
        }
    }
    flows.sort_by_key(|flow| (flow.start, flow.group, flow.src));
    if !waits.is_empty() {
        let mut new_id = vec![FlowId(0); flows.len()];
        (0..).zip(&flows).for_each(|(place, flow)| new_id[flow.id.index()] = FlowId(place));
        waits = waits.into_iter().map(|wait| renamed(wait, |flow| new_id[flow.index()])).collect();
        waits.sort_by_key(|wait| wait.flow);
    }
    flows.number();
    Traffic { flows, waits, paths: Vec::new() }
}

/// Returns `wait` with the ids of flows replaced.
fn renamed(wait: FlowDependency, id: impl Fn(FlowId) -> FlowId) -> FlowDependency {
    FlowDependency { flow: id(wait.flow), after: wait.after.iter().map(|&flow| id(flow)).collect(), ..wait }
}

/// Returns the flows without dependencies, in order of their ids.
pub fn independent<'a>(flows: &'a FlowList, waits: &[FlowDependency]) -> Cow<'a, FlowList> {
    if waits.is_empty() {
        return Cow::Borrowed(flows);
    }
    let mut waits = waits.iter().peekable();
    Cow::Owned(flows.iter().filter(|flow| waits.next_if(|wait| wait.flow == flow.id).is_none()).collect())
}
