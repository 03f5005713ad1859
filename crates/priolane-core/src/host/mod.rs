//! In what order a host sends: which of the flows that may send is next.

mod fifo;
mod las;
mod mlfq;
mod order;
mod own;
mod round_robin;
mod scheduler;
mod srpt;
#[cfg(test)]
mod tests;

pub use las::Las;
pub use mlfq::Mlfq;
pub use order::HostOrder;
pub use round_robin::RoundRobin;
pub use scheduler::{Candidate, HostScheduler};
pub use srpt::Srpt;

use crate::part::parts;

/// Makes of the list of orders the enum of their parameters ([`Order`]), their kinds ([`SchedulerKind`]), and the
/// enum of their schedulers ([`AnyScheduler`]).
macro_rules! orders {
    ($($(#[$doc:meta])* $kind:ident($config:ty): $scheduler:ty;)*) => {
        parts! {
            /// The order in which a host sends, with its parameters.
            pub enum Order: dyn HostOrder in Host {
                $($(#[$doc])* $kind($config);)*
            }
        }

        impl Order {
            /// The kind of scheduler that keeps it.
            pub fn scheduler(&self) -> SchedulerKind {
                match self { $(Self::$kind(_) => SchedulerKind::$kind),* }
            }
        }

        /// The kinds of host schedulers.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum SchedulerKind {
            $($(#[$doc])* $kind,)*
        }

        /// A host scheduler of any kind.
        #[derive(Debug)]
        pub enum AnyScheduler {
            $($(#[$doc])* $kind($scheduler),)*
        }

        impl From<SchedulerKind> for AnyScheduler {
            fn from(kind: SchedulerKind) -> Self {
                match kind { $(SchedulerKind::$kind => Self::$kind(Default::default())),* }
            }
        }

        impl HostScheduler for AnyScheduler {
            #[inline]
            fn offer(&mut self, candidate: Candidate) {
                match self { $(Self::$kind(s) => s.offer(candidate)),* }
            }

            #[inline]
            fn promote(&mut self, candidate: Candidate) {
                match self { $(Self::$kind(s) => s.promote(candidate)),* }
            }

            #[inline]
            fn next(&mut self) -> Option<u32> {
                match self { $(Self::$kind(s) => s.next()),* }
            }
        }
    };
}

orders! {
    /// Flows take turns, a packet each.
    RoundRobin(round_robin::Config): RoundRobin;
    /// Strict levels (`Candidate::level`), turns within a level (NOS2 §IV-B).
    Mlfq(mlfq::Config): Box<Mlfq>;
    /// The flow with the fewest bytes left.
    Srpt(srpt::Config): Srpt;
    /// The flow with the fewest bytes sent.
    Las(las::Config): Las;
    /// The order of the transmit queue, which is filled in turns.
    Fifo(fifo::Config): RoundRobin;
    /// The transport's own order, which asks no scheduler.
    Own(own::Config): RoundRobin;
}

impl Order {
    /// Flows take turns: the order of schemes that state none.
    pub const TURNS: Self = Self::RoundRobin(round_robin::Config);

    /// The transport's own.
    pub const OWN: Self = Self::Own(own::Config);
}
