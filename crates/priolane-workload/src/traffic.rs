//! Flows with dependencies, and the merging of several groups into one list.

use std::borrow::Cow;

use priolane_core::endpoint::FlowSpec;
use priolane_core::flows::FlowList;
use priolane_core::ids::{FlowId, HostId};
use priolane_sim::dependencies::{FlowDependency, Predecessor, Step, StepId, Work};

/// Flows and their dependencies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traffic {
    /// The flows; a dependent flow has the earliest time at which it may start.
    pub flows: FlowList,
    /// The dependencies, by the ids of `flows`.
    pub waits: Vec<FlowDependency>,
    /// The steps of hosts; those that wait for nothing are waited for by nothing.
    pub steps: Vec<Step>,
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

    /// Keeps the first `count` flows, and of all dependencies those on flows that are kept. Work that waited for flows
    /// beyond them only starts at its own earliest time. Stated paths stay as they are.
    ///
    /// Flows must be numbered in their order, as [`merge_traffic`] does.
    pub fn truncate(&mut self, count: usize) {
        if count >= self.flows.len() {
            return;
        }
        self.flows.truncate(count);
        let unbound = self.unbound_steps(count);
        let is_kept = |first: &Predecessor| match first.work {
            Work::Flow(flow) => flow.index() < count,
            Work::Step(step) => !unbound[step.index()],
        };
        self.waits.retain_mut(|wait| {
            wait.after.retain(is_kept);
            wait.flow.index() < count && !wait.after.is_empty()
        });
        self.steps.iter_mut().for_each(|step| step.after.retain(is_kept));
    }

    /// Returns the steps that wait for none of the first `count` flows, directly or through other steps.
    fn unbound_steps(&self, count: usize) -> Vec<bool> {
        let mut unbound = vec![true; self.steps.len()];
        let mut followers: Vec<Vec<usize>> = vec![Vec::new(); self.steps.len()];
        let mut bound = Vec::new();
        for (place, step) in self.steps.iter().enumerate() {
            for first in &step.after {
                match first.work {
                    Work::Flow(flow) if flow.index() < count => bound.push(place),
                    Work::Flow(_) => {}
                    Work::Step(first) => followers[first.index()].push(place),
                }
            }
        }
        while let Some(place) = bound.pop() {
            if std::mem::replace(&mut unbound[place], false) {
                bound.append(&mut followers[place]);
            }
        }
        unbound
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
    let (mut waits, mut steps) = (Vec::new(), Vec::new());
    for Traffic { flows: mut own, waits: own_waits, steps: own_steps, .. } in groups {
        // With temporary ids that no flow of another group has, until the final order is known.
        let first = flows.len() as u32;
        let shifted = |id: FlowId| FlowId(first + id.0);
        if own_waits.is_empty() && own_steps.is_empty() {
            own.number();
        }
        let first_step = steps.len() as u32;
        let shifted_work = |work: Work| match work {
            Work::Flow(id) => Work::Flow(shifted(id)),
            Work::Step(step) => Work::Step(StepId(first_step + step.0)),
        };
        waits.extend(own_waits.into_iter().map(|mut wait| {
            wait.flow = shifted(wait.flow);
            rename(&mut wait.after, shifted_work);
            wait
        }));
        steps.extend(own_steps.into_iter().map(|mut step| {
            rename(&mut step.after, shifted_work);
            step
        }));
        if flows.is_empty() {
            flows = own;
        } else {
            flows.extend(own.iter().map(|flow| FlowSpec { id: shifted(flow.id), ..flow }));
        }
    }
    flows.sort_by_key(|flow| (flow.start, flow.group, flow.src));
    if !waits.is_empty() || !steps.is_empty() {
        let mut new_id = vec![FlowId(0); flows.len()];
        (0..).zip(&flows).for_each(|(place, flow)| new_id[flow.id.index()] = FlowId(place));
        let new_work = |work: Work| match work {
            Work::Flow(flow) => Work::Flow(new_id[flow.index()]),
            Work::Step(_) => work,
        };
        for wait in &mut waits {
            wait.flow = new_id[wait.flow.index()];
            rename(&mut wait.after, new_work);
        }
        steps.iter_mut().for_each(|step: &mut Step| rename(&mut step.after, new_work));
        waits.sort_by_key(|wait| wait.flow);
    }
    flows.number();
    Traffic { flows, waits, steps, paths: Vec::new() }
}

/// Replaces the ids of what is waited for.
fn rename(after: &mut [Predecessor], id: impl Fn(Work) -> Work) {
    after.iter_mut().for_each(|first| first.work = id(first.work));
}

/// Returns the flows without dependencies, in order of their ids.
pub fn independent<'a>(flows: &'a FlowList, waits: &[FlowDependency]) -> Cow<'a, FlowList> {
    if waits.is_empty() {
        return Cow::Borrowed(flows);
    }
    let mut waits = waits.iter().peekable();
    Cow::Owned(flows.iter().filter(|flow| waits.next_if(|wait| wait.flow == flow.id).is_none()).collect())
}
