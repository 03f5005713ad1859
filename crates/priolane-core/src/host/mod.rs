//! Host schedulers: which of the eligible flows of a host sends next.

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

/// Defines, from the list of orders, the enum of their parameters ([`Order`]), of their kinds ([`SchedulerKind`]), and
/// of their schedulers ([`AnyScheduler`]). The first of the list is the usual one, which is tested for first: a branch
/// that processors predict costs less than an indirect jump.
macro_rules! orders {
    (
        $(#[$usual_doc:meta])* $usual:ident($usual_config:ty): $usual_scheduler:ty;
        $($(#[$doc:meta])* $kind:ident($config:ty): $scheduler:ty;)*
    ) => {
        orders! {
            @all $usual
            $(#[$usual_doc])* $usual($usual_config): $usual_scheduler;
            $($(#[$doc])* $kind($config): $scheduler;)*
        }
    };
    (@all $usual:ident $($(#[$doc:meta])* $kind:ident($config:ty): $scheduler:ty;)*) => {
        parts! {
            /// The order in which a host sends, with its parameters.
            pub enum Order: dyn HostOrder in Host {
                $($(#[$doc])* $kind($config);)*
            }
        }

        impl Order {
            /// Returns the kind of scheduler that implements it.
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

        /// Not inlined: with these jump tables in place the compiler would drop the test for the usual kind.
        impl AnyScheduler {
            #[inline(never)]
            fn other_offer(&mut self, candidate: Candidate) {
                match self { $(Self::$kind(s) => s.offer(candidate)),* }
            }

            #[inline(never)]
            fn other_next(&mut self) -> Option<u32> {
                match self { $(Self::$kind(s) => s.next()),* }
            }

            #[inline(never)]
            fn other_is_empty(&self) -> bool {
                match self { $(Self::$kind(s) => s.is_empty()),* }
            }

            #[inline(never)]
            fn other_pass(&mut self, candidate: Candidate) {
                match self { $(Self::$kind(s) => s.pass(candidate)),* }
            }
        }

        impl HostScheduler for AnyScheduler {
            #[inline]
            fn offer(&mut self, candidate: Candidate) {
                if let Self::$usual(s) = self { s.offer(candidate) } else { self.other_offer(candidate) }
            }

            #[inline]
            fn promote(&mut self, candidate: Candidate) {
                match self { $(Self::$kind(s) => s.promote(candidate)),* }
            }

            #[inline]
            fn next(&mut self) -> Option<u32> {
                if let Self::$usual(s) = self { s.next() } else { self.other_next() }
            }

            fn held(&self) -> usize {
                match self { $(Self::$kind(s) => s.held()),* }
            }

            #[inline]
            fn is_empty(&self) -> bool {
                if let Self::$usual(s) = self { s.is_empty() } else { self.other_is_empty() }
            }

            #[inline]
            fn pass(&mut self, candidate: Candidate) {
                if let Self::$usual(s) = self { s.pass(candidate) } else { self.other_pass(candidate) }
            }
        }
    };
}

orders! {
    /// Round robin, one packet per flow.
    RoundRobin(round_robin::Config): RoundRobin;
    /// Strict priority between levels (`Candidate::level`), round robin within a level (NOS2 §IV-B).
    Mlfq(mlfq::Config): Box<Mlfq>;
    /// The flow with the fewest bytes left goes first.
    Srpt(srpt::Config): Srpt;
    /// The flow with the fewest bytes sent goes first.
    Las(las::Config): Las;
    /// FIFO order of the transmit queue, which is filled round robin.
    Fifo(fifo::Config): RoundRobin;
    /// The transport's own order, without a scheduler.
    Own(own::Config): RoundRobin;
}

impl Order {
    /// Round robin: the order of schemes that do not state one.
    pub const TURNS: Self = Self::RoundRobin(round_robin::Config);

    /// The transport's own order.
    pub const OWN: Self = Self::Own(own::Config);
}
