//! Flows, which of them wait for others, and how those of several groups become one list.

use std::borrow::Cow;

use priolane_core::endpoint::FlowSpec;
use priolane_core::flows::FlowList;
use priolane_core::ids::{FlowId, HostId};
use priolane_sim::dependencies::FlowDependency;

/// Flows, and which of them wait for others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traffic {
    /// The flows; those that wait at the earliest instant at which they may start.
    pub flows: FlowList,
    /// Which of them wait, by the ids of `flows`.
    pub waits: Vec<FlowDependency>,
    /// The paths that the app states for flows.
    pub paths: Vec<StatedPath>,
}

/// A path that an app states for flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatedPath {
    /// Where the flow starts.
    pub src: HostId,
    /// Where it ends.
    pub dst: HostId,
    /// The number of the equal-cost path, from 0.
    pub path: u16,
    /// The number of the row or pair that states it.
    pub place: usize,
}

impl Traffic {
    /// Flows that wait for no other, on paths that are drawn.
    pub fn independent(flows: FlowList) -> Self {
        Self { flows, ..Self::default() }
    }
}

/// The flow list of a run from those of its groups, each as [`generate`](crate::generate) sorted it: in order of start, group,
/// source and sequence, numbered from 0.
pub fn merge(groups: Vec<FlowList>) -> FlowList {
    merge_traffic(groups.into_iter().map(Traffic::independent).collect()).flows
}

/// As [`merge`], for groups of which some flows wait for others of their group; waits are in order of their flows.
pub fn merge_traffic(groups: Vec<Traffic>) -> Traffic {
    let mut flows = FlowList::default();
    let mut waits = Vec::new();
    for Traffic { flows: mut own, waits: own_waits, .. } in groups {
        // By ids that no flow of another group has, until the order of all is known.
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

/// `wait` where flows have other ids.
fn renamed(wait: FlowDependency, id: impl Fn(FlowId) -> FlowId) -> FlowDependency {
    FlowDependency { flow: id(wait.flow), after: wait.after.iter().map(|&flow| id(flow)).collect(), ..wait }
}

/// Those of `flows`, in order of their ids, that wait for no other.
pub fn independent<'a>(flows: &'a FlowList, waits: &[FlowDependency]) -> Cow<'a, FlowList> {
    if waits.is_empty() {
        return Cow::Borrowed(flows);
    }
    let mut waits = waits.iter().peekable();
    Cow::Owned(flows.iter().filter(|flow| waits.next_if(|wait| wait.flow == flow.id).is_none()).collect())
}
