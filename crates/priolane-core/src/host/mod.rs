//! In what order a host sends: which of the flows that may send is next.

mod las;
mod mlfq;
mod round_robin;
mod srpt;
#[cfg(test)]
mod tests;

pub use las::Las;
pub use mlfq::Mlfq;
pub use round_robin::RoundRobin;
pub use srpt::Srpt;

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

/// The host schedulers there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SchedulerKind {
    /// Flows take turns, a packet each.
    #[default]
    RoundRobin,
    /// Strict levels (`Candidate::level`), turns within a level (NOS2 §IV-B).
    Mlfq,
    /// The flow with the fewest bytes left.
    Srpt,
    /// The flow with the fewest bytes sent.
    Las,
}

/// Any of the host schedulers, chosen at run time.
#[derive(Debug)]
pub enum AnyScheduler {
    /// Turns.
    RoundRobin(RoundRobin),
    /// Strict levels.
    Mlfq(Box<Mlfq>),
    /// Fewest bytes left.
    Srpt(Srpt),
    /// Fewest bytes sent.
    Las(Las),
}

impl From<SchedulerKind> for AnyScheduler {
    fn from(kind: SchedulerKind) -> Self {
        match kind {
            SchedulerKind::RoundRobin => Self::RoundRobin(RoundRobin::default()),
            SchedulerKind::Mlfq => Self::Mlfq(Box::default()),
            SchedulerKind::Srpt => Self::Srpt(Srpt::default()),
            SchedulerKind::Las => Self::Las(Las::default()),
        }
    }
}

impl HostScheduler for AnyScheduler {
    #[inline]
    fn offer(&mut self, candidate: Candidate) {
        match self {
            Self::RoundRobin(s) => s.offer(candidate),
            Self::Mlfq(s) => s.offer(candidate),
            Self::Srpt(s) => s.offer(candidate),
            Self::Las(s) => s.offer(candidate),
        }
    }

    #[inline]
    fn promote(&mut self, candidate: Candidate) {
        match self {
            Self::RoundRobin(s) => s.promote(candidate),
            Self::Mlfq(s) => s.promote(candidate),
            Self::Srpt(s) => s.promote(candidate),
            Self::Las(s) => s.promote(candidate),
        }
    }

    #[inline]
    fn next(&mut self) -> Option<u32> {
        match self {
            Self::RoundRobin(s) => s.next(),
            Self::Mlfq(s) => s.next(),
            Self::Srpt(s) => s.next(),
            Self::Las(s) => s.next(),
        }
    }
}
