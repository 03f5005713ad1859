//! Flows that wait for other flows.
//!
//! ```text
//! release(f) = max(start of f, max over g in after(f) of (delivered(g) + delay))
//! f starts at release(f), unless that is not before until(f): then it never does, nor what waits for it
//! ```
//!
//! `delivered(g)` is when the transport of the receiver of `g` is given the last byte it lacked, the host's processing
//! included. From there the news goes to the source of `f` as a control message, which takes `delay`: between two hosts
//! that is above zero and bounds the engines' window; within a host it may be zero.

use priolane_core::flows::FlowList;
use priolane_core::ids::{FlowId, HostId};
use priolane_core::units::{Span, Time};

/// A flow that starts when others have been delivered. Its `FlowSpec::start` is the earliest it may start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The flow.
    pub flow: FlowId,
    /// The flows that it waits for, at least one, each once and each with an end.
    pub after: Vec<FlowId>,
    /// From the delivery of one of them to the arrival of the news at the source of `flow`; above zero unless they are
    /// one host.
    pub delay: Span,
    /// The flow starts before this instant or never; `None` sets no bound.
    pub until: Option<Time>,
}

/// The shortest time that news takes between two hosts; `None` if no news goes between hosts.
pub(crate) fn least_delay(waits: &[Wait], flows: &FlowList) -> Option<Span> {
    let crosses = |wait: &&Wait| {
        let to = flows.at(wait.flow.index()).src;
        wait.after.iter().any(|flow| flows.at(flow.index()).dst != to)
    };
    waits.iter().filter(crosses).map(|wait| wait.delay).min()
}

/// News of a delivered flow on its way to a host where a flow waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct News {
    pub(crate) to: HostId,
    /// The flow that waits.
    pub(crate) flow: FlowId,
    pub(crate) at: Time,
}
