//! Flows that depend on other flows.
//!
//! ```text
//! release(f) = max(start of f, max over g in after(f) of (delivered(g) + delay))
//! f starts at release(f), unless that is not before until(f): then it never does, nor what depends on it
//! ```
//!
//! `delivered(g)` is when the transport of the receiver of `g` is given the last byte it lacked, the host's processing
//! included. From there the signal goes to the source of `f` as a control message, which takes `delay`: between two hosts
//! that is above zero and bounds the engines' window; within a host it may be zero.

use priolane_core::flows::FlowList;
use priolane_core::ids::FlowId;
use priolane_core::units::{Span, Time};

/// A flow that starts when others have been delivered. Its `FlowSpec::start` is the earliest it may start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowDependency {
    /// The flow.
    pub flow: FlowId,
    /// The flows that it waits for, at least one, each once and each with an end.
    pub after: Vec<FlowId>,
    /// From the delivery of one of them to the arrival of the signal at the source of `flow`; above zero unless both are
    /// one host.
    pub delay: Span,
    /// The flow starts before this instant or never; `None` sets no bound.
    pub until: Option<Time>,
}

/// The shortest delay of a signal between two hosts; `None` if no signal goes between hosts.
pub(crate) fn least_delay(dependencies: &[FlowDependency], flows: &FlowList) -> Option<Span> {
    let crosses = |dependency: &&FlowDependency| {
        let to = flows.at(dependency.flow.index()).src;
        dependency.after.iter().any(|flow| flows.at(flow.index()).dst != to)
    };
    dependencies.iter().filter(crosses).map(|dependency| dependency.delay).min()
}
