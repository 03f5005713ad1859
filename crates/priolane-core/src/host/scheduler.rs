//! The contract with a host's scheduler.

use crate::ids::FlowId;

/// What a scheduler may know of a flow that could send a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The flow's place in its endpoint's table; what `next` returns.
    pub slot: u32,
    /// The flow: breaks ties, smaller first.
    pub flow: FlowId,
    /// Level of its next packet inside the host, 0 first.
    pub level: u8,
    /// Payload bytes it has sent for the first time.
    pub sent: u64,
    /// Payload bytes it still has to send for the first time; `u64::MAX` without end.
    pub remaining: u64,
}

/// Picks, among the flows that may send, the one whose packet goes next.
///
/// A flow is offered once when it becomes able to send, and again after each packet while it still is.
/// An offered flow is held until `next` returns it: the endpoint then sends one packet of it or, if it
/// can no longer send, drops it and asks again.
pub trait HostScheduler: Send + std::fmt::Debug {
    /// A flow that is not held may send.
    fn offer(&mut self, candidate: Candidate);

    /// The next packet of a flow that is held is now of a better level than when it was offered (a
    /// retransmission came due). Default: it waits where it is.
    fn promote(&mut self, candidate: Candidate) {
        let _ = candidate;
    }

    /// Takes out the flow that goes next; its slot.
    fn next(&mut self) -> Option<u32>;
}
