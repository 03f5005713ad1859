//! In what order a host sends: which of the flows that may send is next.

mod las;
mod mlfq;
mod round_robin;
mod scheduler;
mod srpt;
#[cfg(test)]
mod tests;

pub use las::Las;
pub use mlfq::Mlfq;
pub use round_robin::RoundRobin;
pub use scheduler::{Candidate, HostScheduler};
pub use srpt::Srpt;

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
