//! The interface of an egress queueing discipline, and its common parts: buffer, marking, and the outcome for a
//! packet.

use crate::ids::ClassSet;
use crate::keys::Words;
use crate::packet::{Header, Marks, QueueItem};
use crate::units::{Limit, Time};

/// The outcome of offering a packet to a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Admission {
    /// Queued, not marked by this port.
    Queued,
    /// Queued and ECN-marked by this port.
    Marked,
    /// Dropped because the buffer is full.
    Dropped,
    /// Not queued; its header is to be sent back: see [`PortSink::returned`].
    Returned,
}

impl Admission {
    /// Returns true if the packet was queued.
    #[inline]
    pub fn is_kept(self) -> bool {
        matches!(self, Self::Queued | Self::Marked)
    }

    /// Sets the ECN mark on the queued packet if the outcome is `Marked`.
    #[inline]
    pub fn mark(self, kept: &mut impl QueueItem) {
        if self == Self::Marked {
            let header = kept.header_mut();
            header.marks = header.marks.with(Marks::CONGESTED);
        }
    }
}

/// Whether a limit applies to the backlog of one queue or of the whole port.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Words)]
pub enum Scope {
    /// All queues of the port together.
    Port,
    /// Each queue separately.
    Queue,
}

/// Buffer limit and ECN threshold of a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Buffer {
    /// Backlog above which an arriving packet is dropped. It includes the arriving packet and excludes the packet
    /// in transmission.
    pub limit: Limit,
    /// The backlog that `limit` applies to.
    pub limit_scope: Scope,
    /// Backlog above which an arriving ECN-capable packet is marked. It includes the arriving packet and excludes
    /// the packet in transmission (PIAS-NS2 marks after enqueue). Below 4 GB.
    pub mark_above: Limit,
    /// The backlog that `mark_above` applies to.
    pub mark_scope: Scope,
    /// The probability of a mark above that backlog; `None` for certain.
    pub ramp: Option<Ramp>,
}

/// A probability of marks that grows with the backlog, as that of RED on the instantaneous queue (DCQCN §3.1): from 0
/// at [`Buffer::mark_above`] to `most` at `full`, and 1 above.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ramp {
    /// Backlog above which every ECN-capable packet is marked, in the unit of the threshold.
    pub full: Limit,
    /// The probability at that backlog, in millionths.
    pub most: u32,
}

impl Buffer {
    /// No limit and no marking.
    pub const UNLIMITED: Self = Self {
        limit: Limit::Unlimited,
        limit_scope: Scope::Port,
        mark_above: Limit::Unlimited,
        mark_scope: Scope::Port,
        ramp: None,
    };
}

/// The header field by which a multi-queue discipline selects the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SortBy {
    /// The class on the wire: switch ports.
    Class,
    /// The level inside the host: a NIC's transmit queue.
    HostLevel,
}

/// Receives the packets that a discipline discards or changes, other than the packet whose [`Admission`] is
/// returned. The owner of a port counts them here. Default: ignored.
pub trait PortSink<P: QueueItem> {
    /// Called when a queued packet was dropped to make room; it is no longer counted as queued.
    #[inline]
    fn evicted(&mut self, packet: &P) {
        let _ = packet;
    }

    /// Called when the payload of an arriving or a queued packet was removed. `before` and `after` are its headers;
    /// `after` is smaller on the wire, without payload, with [`Marks::TRIMMED`]. Called after `returned` for a
    /// packet that is sent back.
    #[inline]
    fn trimmed(&mut self, before: &Header, after: &Header) {
        let _ = (before, after);
    }

    /// Called when the header of an arriving packet is sent back to its sender ([`Admission::Returned`]). `packet`
    /// is addressed to the sender and has [`Marks::RETURNED`].
    #[inline]
    fn returned(&mut self, packet: &P) {
        let _ = packet;
    }

    /// Called when a queued packet has expired and was discarded; it is no longer counted as queued.
    #[inline]
    fn expired(&mut self, packet: &P) {
        let _ = packet;
    }
}

/// Ignores all packets: for tests, and for disciplines that only drop arriving packets.
impl<P: QueueItem> PortSink<P> for () {}

/// The queueing discipline of a port, over packets or the items that represent them in a node.
pub trait Discipline<P: QueueItem>: Send {
    /// Handles the arrival of a packet at `now`: it is queued, possibly marked, or dropped. `out` receives the
    /// packets that are evicted for it or that have expired.
    fn enqueue(&mut self, now: Time, item: &P, out: &mut dyn PortSink<P>) -> Admission;

    /// Handles the arrival of a packet at `now` while nothing is queued and the link is free. A discipline that
    /// would transmit it immediately may let it pass without queueing it, and returns the outcome (the caller sets
    /// the mark). `None` means that the caller must use `enqueue`.
    #[inline]
    fn try_bypass(&mut self, now: Time, header: &Header) -> Option<Admission> {
        let _ = (now, header);
        None
    }

    /// Prefetches what the next arrival and the next transmission need. Default: nothing.
    #[inline]
    fn prefetch(&self) {}

    /// Discards the packets that have expired by `now`. `enqueue` and `dequeue` do this first; a caller needs this
    /// only to read the backlog without expired packets. Default: nothing expires.
    #[inline]
    fn expire(&mut self, now: Time, out: &mut dyn PortSink<P>) {
        let _ = (now, out);
    }

    /// Returns the earliest time at which a queued packet may start transmission on a free link; `None` if nothing
    /// is queued. `Time::ZERO` means immediately.
    fn next_eligible_time(&self) -> Option<Time>;

    /// Dequeues the packet that starts transmission at `t`. Returns `None` if none may start: nothing is queued,
    /// `t` is before `next_eligible_time()`, or the candidates have expired and `out` receives them, which changes
    /// `next_eligible_time()`. Packets with equal headers leave in order of arrival, because traces identify a
    /// queued packet by its header.
    fn dequeue(&mut self, t: Time, out: &mut dyn PortSink<P>) -> Option<&P>;

    /// Returns true if a packet could start while the classes in `paused` are paused (PFC), ignoring rate limiters.
    /// A queue is blocked if its *first* packet is of a paused class, whatever is queued behind it. Default: true
    /// only if no class is paused, for disciplines that cannot hold back single classes
    /// ([`PortFactory::is_pausable`]).
    #[inline]
    fn is_ready(&self, paused: ClassSet) -> bool {
        paused == ClassSet::NONE && self.packets() > 0
    }

    /// Dequeues as [`Discipline::dequeue`], from the queues whose first packet is not of a class in `paused`.
    /// Default: dequeues nothing while any class is paused.
    #[inline]
    fn dequeue_unpaused(&mut self, t: Time, paused: ClassSet, out: &mut dyn PortSink<P>) -> Option<&P> {
        if paused == ClassSet::NONE { self.dequeue(t, out) } else { None }
    }

    /// Returns the number of queued packets, without the packet in transmission.
    fn packets(&self) -> u32;

    /// Returns the queued bytes, without the packet in transmission.
    fn bytes(&self) -> u64;

    /// Returns the bytes in the queues that hold data. Default: those of the port.
    #[inline]
    fn payload_bytes(&self) -> u64 {
        self.bytes()
    }

    /// Returns the bytes in the queue that a packet with this header would join. Default: those of the port, which
    /// has one queue.
    #[inline]
    fn bytes_before(&self, header: &Header) -> u64 {
        let _ = header;
        self.bytes()
    }

    /// Returns the packets in the queue that a packet with this header would join. Default: those of the port, which
    /// has one queue.
    #[inline]
    fn packets_before(&self, header: &Header) -> u32 {
        let _ = header;
        self.packets()
    }
}
