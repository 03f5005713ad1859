//! An egress port of a switch or a host: a discipline in front of a line, and what it counts and traces.
//!
//! A node decides when its ports are served, and whether classes are paused. What only the node knows of a packet in a
//! queue goes with it ([`PortItem`]).

use priolane_core::ids::{ClassSet, LinkId};
use priolane_core::packet::{Body, Header, Packet, QueueItem};
use priolane_core::port::{Admission, Discipline, PortSink};
use priolane_core::units::Time;

use super::transmitter::Transmitter;
use crate::device::event_sink::EventSink;
use crate::observe::counters::PortCounters;
use crate::observe::trace::{Backlog, TraceEvent};

/// What waits in a port: a packet, perhaps with something that never leaves the node.
pub(crate) trait PortItem: QueueItem {
    /// The packet's body.
    type Body: Body;

    /// What the node is given when the packet is put on the line.
    type Tag;

    /// Whether the port writes a reading into packets that take one.
    const STAMPED: bool;

    /// The packet.
    fn packet(&self) -> &Packet<Self::Body>;

    /// What the node is given.
    fn tag(&self) -> Self::Tag;
}

impl<B: Body> PortItem for Packet<B> {
    type Body = B;
    type Tag = ();

    const STAMPED: bool = B::STAMPED;

    #[inline]
    fn packet(&self) -> &Self {
        self
    }

    #[inline]
    fn tag(&self) {}
}

/// A port; aligned, so that it takes no more cache lines than it must.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Port<D> {
    pub(crate) line: Transmitter,
    pub(crate) counts: PortCounters,
    pub(crate) queue: D,
    /// Whether the switch has this port on its list of ports with a backlog.
    pub(crate) listed: bool,
}

const _: () = assert!(size_of::<Port<priolane_core::port::Fifo<Packet<()>>>>() == 192);

impl<D> Port<D> {
    /// An empty port.
    pub(crate) fn new(line: Transmitter, queue: D) -> Self {
        Self { line, counts: PortCounters::default(), queue, listed: false }
    }

    /// Packets and bytes queued.
    #[inline]
    pub(crate) fn queued<P: QueueItem>(&self) -> (u32, u64)
    where
        D: Discipline<P>,
    {
        (self.queue.packets(), self.queue.bytes())
    }

    /// When the next service starts; `None` if nothing is queued.
    #[inline]
    pub(crate) fn next_service<P: QueueItem>(&self) -> Option<Time>
    where
        D: Discipline<P>,
    {
        self.queue.next_eligible_time().map(|ready| ready.max(self.line.free_at))
    }

    /// Discards what has waited too long at `now`.
    #[inline]
    pub(crate) fn expire<P: PortItem, W: EventSink<P::Body>>(
        &mut self,
        now: Time,
        wire: &mut W,
        node: &mut impl PortSink<P>,
    ) where
        D: Discipline<P>,
    {
        self.queue.expire(now, &mut PortEvents::new(now, self.line.link, &mut self.counts, wire, node));
    }

    /// Traces what a packet finds that arrives at `now`.
    #[inline]
    pub(crate) fn offered<P: PortItem, W: EventSink<P::Body>>(&self, now: Time, header: &Header, wire: &mut W)
    where
        D: Discipline<P>,
    {
        wire.observe(|| {
            let (packets, bytes) = self.queued();
            let ahead = Backlog { packets, bytes };
            TraceEvent::Offered { link: self.line.link, at: now, header: *header, ahead }
        });
    }

    /// What becomes of a packet that arrives at `now`, nothing is queued and the line is free, if it need not be stored.
    #[inline(always)]
    pub(crate) fn try_bypass<P: PortItem, W: EventSink<P::Body>>(
        &mut self,
        now: Time,
        header: &Header,
        wire: &mut W,
    ) -> Option<Admission>
    where
        D: Discipline<P>,
    {
        let admission = self.queue.try_bypass(now, header)?;
        wire.observe(|| TraceEvent::Admitted(admission));
        if admission != Admission::Queued {
            self.count_rare(admission, header);
        }
        Some(admission)
    }

    /// A packet arrives at `now` and is stored, unless the discipline refuses it.
    #[inline(always)]
    pub(crate) fn enqueue<P: PortItem, W: EventSink<P::Body>>(
        &mut self,
        now: Time,
        item: &P,
        wire: &mut W,
        node: &mut impl PortSink<P>,
    ) -> Admission
    where
        D: Discipline<P>,
    {
        let mut events = PortEvents::new(now, self.line.link, &mut self.counts, &mut *wire, node);
        let admission = self.queue.enqueue(now, item, &mut events);
        wire.observe(|| TraceEvent::Admitted(admission));
        self.count(admission, item.header());
        if admission.is_kept() {
            self.counts.queued(now, item.header());
        }
        admission
    }

    /// A packet arrives, and the node has no room for it.
    pub(crate) fn refuse<B: Body, W: EventSink<B>>(&mut self, header: &Header, wire: &mut W) {
        wire.observe(|| TraceEvent::Admitted(Admission::Dropped));
        self.count(Admission::Dropped, header);
    }

    #[inline]
    fn count(&mut self, admission: Admission, header: &Header) {
        match admission {
            Admission::Dropped => self.counts.dropped(header.class, header.wire),
            Admission::Marked => self.counts.marked(header.class),
            Admission::Queued | Admission::Returned => {}
        }
    }

    #[cold]
    fn count_rare(&mut self, admission: Admission, header: &Header) {
        self.count(admission, header);
    }

    /// Puts a packet on the line that bypassed the queue, unless it was not admitted.
    #[inline(always)]
    pub(crate) fn forward<B: Body, W: EventSink<B>>(
        &mut self,
        now: Time,
        packet: &Packet<B>,
        admission: Admission,
        wire: &mut W,
    ) -> Started {
        if admission != Admission::Queued {
            return self.forward_changed(now, packet, admission, wire);
        }
        self.send(now, packet, wire)
    }

    #[cold]
    fn forward_changed<B: Body, W: EventSink<B>>(
        &mut self,
        now: Time,
        packet: &Packet<B>,
        admission: Admission,
        wire: &mut W,
    ) -> Started {
        if !admission.is_kept() {
            return Started::No;
        }
        let mut kept = *packet;
        admission.mark(&mut kept);
        self.send(now, &kept, wire)
    }

    #[inline(always)]
    fn send<B: Body, W: EventSink<B>>(&mut self, now: Time, packet: &Packet<B>, wire: &mut W) -> Started {
        if B::STAMPED {
            self.send_stamped(now, packet, 0, wire);
        } else {
            self.line.transmit(now, packet, &mut self.counts, wire);
        }
        Started::Yes
    }

    /// Puts the next packet on the line at `t`, of the queues that the classes in `paused` do not hold back; its tag.
    #[inline(always)]
    pub(crate) fn start<P: PortItem, W: EventSink<P::Body>>(
        &mut self,
        t: Time,
        paused: ClassSet,
        wire: &mut W,
        node: &mut impl PortSink<P>,
    ) -> Option<P::Tag>
    where
        D: Discipline<P>,
    {
        let mut events = PortEvents::new(t, self.line.link, &mut self.counts, &mut *wire, node);
        let item = if paused == ClassSet::NONE {
            self.queue.dequeue(t, &mut events)?
        } else {
            self.queue.dequeue_unpaused(t, paused, &mut events)?
        };
        let (packet, tag) = (item.packet(), item.tag());
        self.counts.dequeued(t, &packet.header);
        if P::STAMPED {
            let packet = *packet;
            let left_behind = self.queue.bytes();
            self.send_stamped(t, &packet, left_behind, wire);
        } else {
            self.line.transmit(t, packet, &mut self.counts, wire);
        }
        Some(tag)
    }

    /// Puts a packet on the line with a reading of this port, in which it leaves `queued_bytes` behind.
    fn send_stamped<B: Body, W: EventSink<B>>(
        &mut self,
        t: Time,
        packet: &Packet<B>,
        queued_bytes: u64,
        wire: &mut W,
    ) {
        let reading = self.line.reading(t, queued_bytes, &self.counts);
        let stamp = |packet: &mut Packet<B>| packet.body.stamp(&packet.header, reading);
        self.line.transmit_stamped(t, packet, &mut self.counts, wire, stamp);
    }

    /// Takes out what is still queued at the end of a run, what expires by then included.
    pub(crate) fn drain<P: PortItem>(&mut self, at: Time, mut take: impl FnMut(&P))
    where
        D: Discipline<P>,
    {
        let mut left = |item: &P| {
            self.counts.payload_left(at, item.header());
            take(item);
        };
        while let Some(start) = self.queue.next_eligible_time() {
            if let Some(item) = self.queue.dequeue(start.max(at), &mut Expired(&mut left)) {
                left(item);
            }
        }
    }
}

/// Whether a packet was put on the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Started {
    Yes,
    No,
}

/// Counts and traces what a discipline gives up, and tells the node.
struct PortEvents<'a, W, S> {
    now: Time,
    link: LinkId,
    counts: &'a mut PortCounters,
    wire: &'a mut W,
    node: &'a mut S,
    /// The arriving packet goes back: what is trimmed is its header.
    goes_back: bool,
}

impl<'a, W, S> PortEvents<'a, W, S> {
    #[inline]
    fn new(now: Time, link: LinkId, counts: &'a mut PortCounters, wire: &'a mut W, node: &'a mut S) -> Self {
        Self { now, link, counts, wire, node, goes_back: false }
    }
}

impl<P: PortItem, W: EventSink<P::Body>, S: PortSink<P>> PortSink<P> for PortEvents<'_, W, S> {
    fn evicted(&mut self, item: &P) {
        let (link, header) = (self.link, *item.header());
        self.wire.observe(|| TraceEvent::Evicted { link, header });
        self.counts.evicted(self.now, &header);
        self.node.evicted(item);
    }

    fn trimmed(&mut self, before: &Header, after: &Header) {
        let (link, before) = (self.link, *before);
        if !self.goes_back {
            self.wire.observe(|| TraceEvent::Trimmed { link, before });
        }
        self.counts.trimmed(before.class, before.wire - after.wire);
        self.node.trimmed(&before, after);
    }

    fn returned(&mut self, item: &P) {
        self.goes_back = true;
        self.node.returned(item);
    }

    fn expired(&mut self, item: &P) {
        let (link, header) = (self.link, *item.header());
        self.wire.observe(|| TraceEvent::Expired { link, header });
        self.counts.expired(self.now, &header);
        self.node.expired(item);
    }
}

/// Takes the packets that expire in a queue that is emptied.
struct Expired<'a, F>(&'a mut F);

impl<P: QueueItem, F: FnMut(&P)> PortSink<P> for Expired<'_, F> {
    fn expired(&mut self, item: &P) {
        (self.0)(item);
    }
}
