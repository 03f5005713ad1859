//! What an egress queue does: which packet is kept, marked, and served next.
//!
//! A discipline knows nothing of links or events. The node that owns it asks, when the line is free at
//! `t`, whether a service may start (`next_start`) and then takes the packet (`start`). The decision falls
//! *at* `t`, never at enqueue, so strict priority, token limits and expiry are exact.

mod aifo;
mod backlog;
mod bucket;
mod fifo;
mod limiter;
mod multi_queue;
mod pfabric;
pub mod pfc;
mod push_out;
mod ranked;
mod ranked_tokens;
mod real_time_wfq;
mod shared_buffer;
mod strict;
mod token_group;
mod trimming;
mod wfq;

pub use aifo::{Aifo, AifoSpec};
pub use fifo::Fifo;
pub use limiter::RateLimited;
pub use multi_queue::{MultiQueue, Order};
pub use pfabric::PFabric;
pub use push_out::PushOut;
pub use ranked::Ranked;
pub use real_time_wfq::RealTimeWfq;
pub use shared_buffer::{Alpha, Fill, Free, SharedBuffer};
pub use strict::{Strict, StrictOrder};
pub use token_group::{Among, DataRate, GroupOrder, Split, TokenGroup, TokenGroupSpec, Unscheduled};
pub use trimming::{Overflow, Trimming, TrimmingSpec};
pub use wfq::{QueueWeights, VirtualClock, Wfq};

use crate::ids::ClassSet;
use crate::packet::{Header, Marks, Parcel};
use crate::units::Time;

/// What became of a packet offered to a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Admission {
    /// Kept, unmarked by this port.
    Queued,
    /// Kept, with the congestion mark set by this port.
    Marked,
    /// Not kept: no room.
    Dropped,
    /// Not kept, but to be sent back, as [`Discipline::pop_returned`] tells it.
    Returned,
}

impl Admission {
    /// Sets the congestion mark on what was kept, if this says so.
    #[inline]
    pub fn mark(self, kept: &mut impl Parcel) {
        if self == Self::Marked {
            let header = kept.header_mut();
            header.marks = header.marks.with(Marks::CONGESTED);
        }
    }
}

/// Room and marking of a queue, in packets or bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// This many packets.
    Packets(u32),
    /// This many bytes on the wire.
    Bytes(u64),
    /// No limit.
    Unlimited,
}

impl Limit {
    /// Whether a backlog of `packets` and `bytes` is above this limit.
    #[inline]
    pub fn exceeded(self, packets: u32, bytes: u64) -> bool {
        match self {
            Self::Packets(limit) => packets > limit,
            Self::Bytes(limit) => bytes > limit,
            Self::Unlimited => false,
        }
    }
}

/// Whether a limit counts one queue's backlog or the whole port's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// All queues of the port together.
    Port,
    /// Each queue by itself.
    Queue,
}

/// Buffer and ECN of a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Buffer {
    /// Backlog above which an arriving packet is dropped, the packet itself counted, the packet on the
    /// line not.
    pub limit: Limit,
    /// What `limit` counts.
    pub limit_scope: Scope,
    /// Backlog above which an arriving ECN-capable packet is marked, the packet itself counted, the
    /// packet on the line not (PIAS-NS2 marks after enqueue).
    pub mark_above: Limit,
    /// What `mark_above` counts.
    pub mark_scope: Scope,
}

impl Buffer {
    /// No limit, no marks.
    pub const UNLIMITED: Self = Self {
        limit: Limit::Unlimited,
        limit_scope: Scope::Port,
        mark_above: Limit::Unlimited,
        mark_scope: Scope::Port,
    };
}

/// Which header field a multi-queue discipline sorts by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SortBy {
    /// The class on the wire: switch ports.
    Class,
    /// The level inside the host: a NIC's transmit queue.
    HostLevel,
}

/// A packet from which a port cut the payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cut {
    /// Its header as it was.
    pub before: Header,
    /// Its header as it goes on: smaller on the wire, without payload, with [`Marks::TRIMMED`].
    pub after: Header,
}

/// A port's queueing discipline, over packets or what stands for them in a node.
pub trait Discipline<P: Parcel>: Send {
    /// A packet arrives at `now`. It is kept (and perhaps marked) or dropped.
    fn enqueue(&mut self, now: Time, parcel: &P) -> Admission;

    /// A packet arrives at `now`, nothing is queued and the line is free: a discipline that would start it
    /// at once may let it pass without storing it, and says what it would have done (the caller sets the
    /// mark). `None` asks for `enqueue`.
    #[inline]
    fn pass(&mut self, now: Time, header: &Header) -> Option<Admission> {
        let _ = (now, header);
        None
    }

    /// The next of the queued packets that made way for the one of the last `enqueue`, in the order in which they
    /// did; `None` when all are told. They are dropped and no longer counted as queued; whoever calls `enqueue`
    /// asks until `None`. Disciplines that never push out leave it as it is.
    #[inline]
    fn pop_evicted(&mut self) -> Option<P> {
        None
    }

    /// The next of the packets whose payload the last `enqueue` cut off, the one it was called for or one that was
    /// queued; `None` when all are told. They stay queued; whoever calls `enqueue` asks until `None`. Disciplines that
    /// never trim leave it as it is.
    #[inline]
    fn pop_cut(&mut self) -> Option<Cut> {
        None
    }

    /// The packet of the last `enqueue`, if its header is to go back to its sender: addressed so, with
    /// [`Marks::RETURNED`]. Whoever calls `enqueue` asks. Disciplines that never return leave it as it is.
    #[inline]
    fn pop_returned(&mut self) -> Option<P> {
        None
    }

    /// Takes out the next of the queued packets that have waited too long at `now`; `None` when there is none. Whoever
    /// calls `enqueue` or `start` asks until `None` first. Disciplines in which nothing expires leave it as it is.
    #[inline]
    fn pop_expired(&mut self, now: Time) -> Option<P> {
        let _ = now;
        None
    }

    /// The earliest instant at which a queued packet may start service if the line is free; `None` if
    /// nothing is queued. `Time::ZERO` means "at once".
    fn next_start(&self) -> Option<Time>;

    /// The line starts a service at `t`, not before `next_start()`: which packet? `None` only if nothing
    /// is queued. Packets with equal headers leave in the order in which
    /// they came: traces know a packet in a queue by its header.
    fn start(&mut self, t: Time) -> Option<&P>;

    /// Packets queued, the one on the line not counted.
    fn packets(&self) -> u32;

    /// Bytes queued, the packet on the line not counted.
    fn bytes(&self) -> u64;

    /// Bytes in the queues in which payload waits. Default: those of the port.
    #[inline]
    fn payload_bytes(&self) -> u64 {
        self.bytes()
    }

    /// Bytes in the queue that a packet with this header would join. Default: those of the port, which has one
    /// queue.
    #[inline]
    fn bytes_before(&self, header: &Header) -> u64 {
        let _ = header;
        self.bytes()
    }
}

/// A discipline whose classes can be paused. A queue waits where its *first* packet is of a paused class, whatever is
/// behind it.
pub trait Pausable<P: Parcel>: Discipline<P> {
    /// Whether a queue could be served while the classes in `paused` are paused.
    fn is_ready(&self, paused: ClassSet) -> bool;

    /// As [`Discipline::start`], among the queues whose first packet is not of a class in `paused`.
    fn start_unpaused(&mut self, t: Time, paused: ClassSet) -> Option<&P>;
}

impl<P: Parcel> std::fmt::Debug for dyn Discipline<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Discipline").field("packets", &self.packets()).field("bytes", &self.bytes()).finish()
    }
}

impl<P: Parcel> Discipline<P> for Box<dyn Discipline<P>> {
    fn enqueue(&mut self, now: Time, parcel: &P) -> Admission {
        (**self).enqueue(now, parcel)
    }

    fn pass(&mut self, now: Time, header: &Header) -> Option<Admission> {
        (**self).pass(now, header)
    }

    fn pop_evicted(&mut self) -> Option<P> {
        (**self).pop_evicted()
    }

    fn pop_cut(&mut self) -> Option<Cut> {
        (**self).pop_cut()
    }

    fn pop_returned(&mut self) -> Option<P> {
        (**self).pop_returned()
    }

    fn pop_expired(&mut self, now: Time) -> Option<P> {
        (**self).pop_expired(now)
    }

    fn next_start(&self) -> Option<Time> {
        (**self).next_start()
    }

    fn start(&mut self, t: Time) -> Option<&P> {
        (**self).start(t)
    }

    fn packets(&self) -> u32 {
        (**self).packets()
    }

    fn bytes(&self) -> u64 {
        (**self).bytes()
    }

    fn payload_bytes(&self) -> u64 {
        (**self).payload_bytes()
    }

    fn bytes_before(&self, header: &Header) -> u64 {
        (**self).bytes_before(header)
    }
}

#[cfg(test)]
mod tests;
