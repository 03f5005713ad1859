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
