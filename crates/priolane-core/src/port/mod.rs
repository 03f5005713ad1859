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
    /// Not kept, but its header is to be sent back: see [`PortSink::returned`].
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

/// Receives the packets that a discipline gives up or changes, besides the one whose [`Admission`] is the answer. The
/// owner of a port counts them here. Default: ignored.
pub trait PortSink<P: Parcel> {
    /// A queued packet was dropped to make room; it is no longer counted as queued.
    #[inline]
    fn evicted(&mut self, packet: &P) {
        let _ = packet;
    }

    /// The payload of a packet was cut off, of the arriving one or of a queued one: its header `before`, and `after`,
    /// smaller on the wire, without payload, with [`Marks::TRIMMED`]. Comes after `returned` for a packet that goes back.
    #[inline]
    fn trimmed(&mut self, before: &Header, after: &Header) {
        let _ = (before, after);
    }

    /// The arriving packet is not kept ([`Admission::Returned`]), and its header goes back to its sender: `packet` is
    /// addressed so and has [`Marks::RETURNED`].
    #[inline]
    fn returned(&mut self, packet: &P) {
        let _ = packet;
    }

    /// A queued packet had waited too long and was discarded; it is no longer counted as queued.
    #[inline]
    fn expired(&mut self, packet: &P) {
        let _ = packet;
    }
}

/// Ignores everything: for tests, and for disciplines that only drop arriving packets.
impl<P: Parcel> PortSink<P> for () {}

/// A port's queueing discipline, over packets or what stands for them in a node.
pub trait Discipline<P: Parcel>: Send {
    /// A packet arrives at `now`. It is kept (and perhaps marked) or dropped. `out` receives the packets that make way
    /// for it, or that had waited too long.
    fn enqueue(&mut self, now: Time, parcel: &P, out: &mut dyn PortSink<P>) -> Admission;

    /// A packet arrives at `now`, nothing is queued and the line is free: a discipline that would start it
    /// at once may let it pass without storing it, and says what it would have done (the caller sets the
    /// mark). `None` asks for `enqueue`.
    #[inline]
    fn pass(&mut self, now: Time, header: &Header) -> Option<Admission> {
        let _ = (now, header);
        None
    }

    /// Discards the packets that have waited too long at `now`. `enqueue` and `start` do so first: a caller needs this
    /// only to see the backlog without them. Default: nothing expires.
    #[inline]
    fn expire(&mut self, now: Time, out: &mut dyn PortSink<P>) {
        let _ = (now, out);
    }

    /// The earliest instant at which a queued packet may start service if the line is free; `None` if
    /// nothing is queued. `Time::ZERO` means "at once".
    fn next_start(&self) -> Option<Time>;

    /// The line starts a service at `t`: which packet? `None` if none may start at `t`: nothing is queued, `t` is
    /// before `next_start()`, or what could have started had waited too long, which `out` receives; then `next_start()`
    /// has changed. Packets with equal headers leave in the order in which they came: traces know a packet in a queue by
    /// its header.
    fn start(&mut self, t: Time, out: &mut dyn PortSink<P>) -> Option<&P>;

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
    fn enqueue(&mut self, now: Time, parcel: &P, out: &mut dyn PortSink<P>) -> Admission {
        (**self).enqueue(now, parcel, out)
    }

    fn pass(&mut self, now: Time, header: &Header) -> Option<Admission> {
        (**self).pass(now, header)
    }

    fn expire(&mut self, now: Time, out: &mut dyn PortSink<P>) {
        (**self).expire(now, out);
    }

    fn next_start(&self) -> Option<Time> {
        (**self).next_start()
    }

    fn start(&mut self, t: Time, out: &mut dyn PortSink<P>) -> Option<&P> {
        (**self).start(t, out)
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
