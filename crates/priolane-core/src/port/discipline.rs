//! The contract with an egress queue, and what all of them go by: room, marking, and what becomes of a packet.

use crate::ids::ClassSet;
use crate::keys::Words;
use crate::packet::{Header, Marks, QueueItem};
use crate::units::{Limit, Time};

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
    /// Whether the packet was kept.
    #[inline]
    pub fn is_kept(self) -> bool {
        matches!(self, Self::Queued | Self::Marked)
    }

    /// Sets the congestion mark on what was kept, if this says so.
    #[inline]
    pub fn mark(self, kept: &mut impl QueueItem) {
        if self == Self::Marked {
            let header = kept.header_mut();
            header.marks = header.marks.with(Marks::CONGESTED);
        }
    }
}

/// Whether a limit counts one queue's backlog or the whole port's.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Words)]
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
pub trait PortSink<P: QueueItem> {
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
impl<P: QueueItem> PortSink<P> for () {}

/// A port's queueing discipline, over packets or what stands for them in a node.
pub trait Discipline<P: QueueItem>: Send {
    /// A packet arrives at `now`. It is kept (and perhaps marked) or dropped. `out` receives the packets that make way
    /// for it, or that had waited too long.
    fn enqueue(&mut self, now: Time, item: &P, out: &mut dyn PortSink<P>) -> Admission;

    /// A packet arrives at `now`, nothing is queued and the line is free: a discipline that would start it
    /// at once may let it pass without storing it, and says what it would have done (the caller sets the
    /// mark). `None` asks for `enqueue`.
    #[inline]
    fn try_bypass(&mut self, now: Time, header: &Header) -> Option<Admission> {
        let _ = (now, header);
        None
    }

    /// Discards the packets that have waited too long at `now`. `enqueue` and `dequeue` do so first: a caller needs this
    /// only to see the backlog without them. Default: nothing expires.
    #[inline]
    fn expire(&mut self, now: Time, out: &mut dyn PortSink<P>) {
        let _ = (now, out);
    }

    /// The earliest instant at which a queued packet may start service if the line is free; `None` if
    /// nothing is queued. `Time::ZERO` means "at once".
    fn next_eligible_time(&self) -> Option<Time>;

    /// The line starts a service at `t`: which packet? `None` if none may start at `t`: nothing is queued, `t` is
    /// before `next_eligible_time()`, or what could have started had waited too long, which `out` receives; then
    /// `next_eligible_time()` has changed. Packets with equal headers leave in the order in which they came: traces know
    /// a packet in a queue by its header.
    fn dequeue(&mut self, t: Time, out: &mut dyn PortSink<P>) -> Option<&P>;

    /// Whether a packet could start while the classes in `paused` are paused (PFC), limiters aside. A queue waits where
    /// its *first* packet is of a paused class, whatever is behind it. Default: only if no class is paused, for
    /// disciplines that cannot hold back single classes ([`PortFactory::is_pausable`]).
    #[inline]
    fn is_ready(&self, paused: ClassSet) -> bool {
        paused == ClassSet::NONE && self.packets() > 0
    }

    /// As [`Discipline::dequeue`], among the queues whose first packet is not of a class in `paused`. Default: nothing
    /// starts while any class is paused.
    #[inline]
    fn dequeue_unpaused(&mut self, t: Time, paused: ClassSet, out: &mut dyn PortSink<P>) -> Option<&P> {
        if paused == ClassSet::NONE { self.dequeue(t, out) } else { None }
    }

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
