//! Flows that depend on other flows.
//!
//! ```text
//! release(f) = max(start of f, max over g in after(f) of (delivered(g) + delay))
//! f starts at release(f) if that is before until(f); otherwise f and all flows that depend on it never start
//! ```
//!
//! `delivered(g)` is when the receiver's transport gets the last missing byte of `g`, including the host delay. The
//! signal then goes to the source of `f` as a control message, which takes `delay`. Between two hosts the delay is
//! above zero and bounds the engines' lookahead window; within a host it may be zero.

use priolane_core::flows::FlowList;
use priolane_core::ids::FlowId;
use priolane_core::units::{Span, Time};

/// A flow that starts when others have been delivered. Its `FlowSpec::start` is the earliest start time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowDependency {
    /// The flow.
    pub flow: FlowId,
    /// The flows that it waits for: at least one, without duplicates, none endless.
    pub after: Vec<FlowId>,
    /// Delay from the delivery of one of them to the arrival of the signal at the source of `flow`; above zero unless
    /// both are the same host.
    pub delay: Span,
    /// The flow starts before this instant or never; `None` for no bound.
    pub until: Option<Time>,
}

/// Returns the shortest delay of a signal between two hosts; `None` if there are no such signals.
pub(crate) fn least_delay(dependencies: &[FlowDependency], flows: &FlowList) -> Option<Span> {
    let crosses = |dependency: &&FlowDependency| {
        let to = flows.at(dependency.flow.index()).src;
        dependency.after.iter().any(|flow| flows.at(flow.index()).dst != to)
    };
    dependencies.iter().filter(crosses).map(|dependency| dependency.delay).min()
}
