//! The interface of host schedulers.

use crate::ids::FlowId;

/// The properties of a flow with a packet to send that a scheduler knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The flow's slot in its endpoint's table; returned by `next`.
    pub slot: u32,
    /// The flow; the smaller id wins ties.
    pub flow: FlowId,
    /// Level of its next packet inside the host; 0 is best.
    pub level: u8,
    /// Payload bytes sent so far, retransmissions excluded.
    pub sent: u64,
    /// Payload bytes not yet sent, retransmissions excluded; `u64::MAX` for an endless flow.
    pub remaining: u64,
}

/// Selects the next flow to send a packet.
///
/// A flow is offered when it becomes eligible, and again after each packet while it still is. The scheduler holds an
/// offered flow until `next` returns it. The endpoint then sends one packet of it or, if the flow can no longer send,
/// drops it and calls `next` again.
pub trait HostScheduler: Send + std::fmt::Debug {
    /// Adds an eligible flow that the scheduler does not hold.
    fn offer(&mut self, candidate: Candidate);

    /// Reports that the next packet of a held flow now has a better level than when it was offered (a retransmission
    /// is due). Default: keeps its position.
    fn promote(&mut self, candidate: Candidate) {
        let _ = candidate;
    }

    /// Removes the next flow and returns its slot.
    fn next(&mut self) -> Option<u32>;

    /// Returns the number of flows that it holds, or more if it does not know.
    fn held(&self) -> usize;

    /// Returns true if it holds no flow; false also if it does not know.
    fn is_empty(&self) -> bool;

    /// Offers a flow to the empty scheduler and removes it again. Default: does both.
    fn pass(&mut self, candidate: Candidate) {
        self.offer(candidate);
        self.next();
    }
}
