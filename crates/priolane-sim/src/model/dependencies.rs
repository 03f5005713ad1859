//! Flows that depend on other flows, and steps: work of a host that takes time and no network.
//!
//! ```text
//! release(w) = max(start of w, max over p in after(w) of (end(p) + delay of p))
//! end(step)  = release(step) + takes
//! end(flow)  = when the receiver's transport gets the last missing byte, including the host delay
//! f starts at release(f) if that is before until(f); otherwise f and all work that depends on it never start
//! ```
//!
//! The signal that a flow has ended goes from its receiver to the host of the dependent work as a control message,
//! which takes the delay of that predecessor. Between two hosts the delay is above zero and bounds the engines'
//! lookahead window; within a host it may be zero. Work that depends on a step belongs to the step's host.

use priolane_core::flows::FlowList;
use priolane_core::ids::{FlowId, HostId};
use priolane_core::units::{Span, Time};

/// A step, by its index in [`ScenarioSpec::steps`](crate::scenario::ScenarioSpec::steps).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepId(pub u32);

impl StepId {
    /// Returns the index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A flow or a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Work {
    /// A flow.
    Flow(FlowId),
    /// A step of a host.
    Step(StepId),
}

/// Work that other work waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Predecessor {
    /// The work: a step of the same host, or a flow with an end.
    pub work: Work,
    /// Delay from the end of `work` to the arrival of its signal; above zero for a flow that another host receives.
    pub delay: Span,
}

impl Predecessor {
    /// Creates a predecessor of each flow, all with the same delay.
    pub fn flows(flows: impl IntoIterator<Item = FlowId>, delay: Span) -> Vec<Self> {
        flows.into_iter().map(|flow| Self { work: Work::Flow(flow), delay }).collect()
    }
}

/// A flow that starts when other work has ended. Its `FlowSpec::start` is the earliest start time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowDependency {
    /// The flow.
    pub flow: FlowId,
    /// Its predecessors: at least one, without duplicates.
    pub after: Vec<Predecessor>,
    /// The flow starts before this instant or never; `None` for no bound.
    pub until: Option<Time>,
}

/// Work of a host that takes time and no network, such as a computation, or a join that takes none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The number of its group, as that of flows.
    pub group: u16,
    /// The host.
    pub host: HostId,
    /// The earliest start.
    pub start: Time,
    /// The duration; a host can carry out any number of steps at once.
    pub takes: Span,
    /// Its predecessors, without duplicates; if empty, nothing waits for the step.
    pub after: Vec<Predecessor>,
}

/// Returns all flows and steps, each after what it waits for: first those that wait for nothing, flows before steps, in the
/// order of their ids. All predecessors are among the `flows` flows and the `steps` (Kahn's algorithm).
///
/// # Errors
/// Returns the first flow, or without one the first step, that depends on itself, or on work that does.
pub fn in_order(flows: usize, waits: &[FlowDependency], steps: &[Step]) -> Result<Vec<Work>, Work> {
    let place = |work: Work| match work {
        Work::Flow(flow) => flow.index(),
        Work::Step(step) => flows + step.index(),
    };
    let of_flows = waits.iter().map(|wait| (Work::Flow(wait.flow), &wait.after));
    let of_steps = steps.iter().zip(0..).map(|(step, id)| (Work::Step(StepId(id)), &step.after));
    let mut open = vec![0_usize; flows + steps.len()];
    let mut followers: Vec<(usize, Work)> = Vec::new();
    for (work, after) in of_flows.chain(of_steps) {
        open[place(work)] = after.len();
        followers.extend(after.iter().map(|first| (place(first.work), work)));
    }
    followers.sort_unstable();
    let all_flows = (0..flows as u32).map(|flow| Work::Flow(FlowId(flow)));
    let all = all_flows.chain((0..steps.len() as u32).map(|step| Work::Step(StepId(step))));
    let mut order: Vec<Work> = all.clone().filter(|&work| open[place(work)] == 0).collect();
    let mut next = 0;
    while let Some(first) = order.get(next).map(|&work| place(work)) {
        next += 1;
        let from = followers.partition_point(|&(other, _)| other < first);
        for &(_, follower) in followers[from..].iter().take_while(|&&(other, _)| other == first) {
            open[place(follower)] -= 1;
            if open[place(follower)] == 0 {
                order.push(follower);
            }
        }
    }
    let mut left = all.filter(|&work| open[place(work)] > 0);
    left.next().map_or(Ok(order), Err)
}

/// Returns the shortest delay of a signal between two hosts; `None` if there are no such signals.
pub(crate) fn least_delay(dependencies: &[FlowDependency], steps: &[Step], flows: &FlowList) -> Option<Span> {
    let to_flows = dependencies.iter().map(|wait| (flows.at(wait.flow.index()).src, &wait.after));
    let to_steps = steps.iter().map(|step| (step.host, &step.after));
    let crossing = |(to, after): (HostId, &Vec<Predecessor>)| {
        let crosses = |predecessor: &&Predecessor| match predecessor.work {
            Work::Flow(flow) => flows.at(flow.index()).dst != to,
            Work::Step(_) => false,
        };
        after.iter().filter(crosses).map(|predecessor| predecessor.delay).min()
    };
    to_flows.chain(to_steps).filter_map(crossing).min()
}
