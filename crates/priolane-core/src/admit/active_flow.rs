//! State that a policy keeps for a flow while its source sends it.

use crate::endpoint::{FlowReport, FlowSpec};
use crate::ids::{Class, HostId};
use crate::units::{Span, Time};

/// A running flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct ActiveFlow {
    pub(super) dst: HostId,
    /// The requested class, at most the lowest.
    pub(super) asked: Class,
    pub(super) given: Class,
    /// The random number drawn for it when it opened.
    pub(super) draw: f64,
    pub(super) size: Option<u64>,
    pub(super) start: Time,
    pub(super) deadline: Option<Time>,
}

impl ActiveFlow {
    pub(super) fn new(flow: &FlowSpec, asked: Class, draw: f64) -> Self {
        Self {
            dst: flow.dst,
            asked,
            given: asked,
            draw,
            size: flow.size,
            start: flow.start,
            deadline: flow.deadline,
        }
    }

    /// Returns the time from start to deadline; `None` without a deadline after its start.
    pub(super) fn allowance(&self) -> Option<Span> {
        self.deadline.map(|deadline| deadline.since(self.start)).filter(|&span| span > Span::ZERO)
    }
}

/// Returns the fraction of sent payload bytes that were retransmissions: the loss as a sender observes it.
pub(super) fn loss(report: &FlowReport) -> f64 {
    let sent = report.bytes.saturating_add(report.retransmitted);
    if sent == 0 { 0.0 } else { report.retransmitted as f64 / sent as f64 }
}
