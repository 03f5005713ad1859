//! An egress port of a switch or a host: a discipline in front of a link, with counters and tracing.
//!
//! A node decides when its ports are served, and whether classes are paused. Data that only the node knows about a
//! queued packet is stored with it ([`PortItem`]).

use priolane_core::ids::{ClassSet, LinkId};
use priolane_core::packet::{Body, Header, Packet, QueueItem};
use priolane_core::port::{Admission, Discipline, PortSink};
use priolane_core::units::Time;

use super::transmitter::Transmitter;
use crate::device::event_sink::EventSink;
use crate::observe::counters::PortCounters;
use crate::observe::trace::{Backlog, TraceEvent};

/// An item queued in a port: a packet, possibly with metadata that never leaves the node.
pub(crate) trait PortItem: QueueItem {
    /// The packet's body.
    type Body: Body;

    /// Metadata that the node receives when the packet starts transmission.
    type Tag;

    /// Whether the port stamps packets with telemetry readings.
    const STAMPED: bool;

    /// Returns the packet.
    fn packet(&self) -> &Packet<Self::Body>;

    /// Returns the metadata for the node.
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

/// A port, aligned to occupy as few cache lines as possible.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Port<D> {
    pub(crate) line: Transmitter,
    pub(crate) counts: PortCounters,
    pub(crate) queue: D,
    /// Whether the port is on the switch's list of ports with a backlog.
    pub(crate) listed: bool,
}

const _: () = assert!(size_of::<Port<priolane_core::port::Fifo<Packet<()>>>>() == 192);

impl<D> Port<D> {
    /// Creates an empty port.
    pub(crate) fn new(line: Transmitter, queue: D) -> Self {
        Self { line, counts: PortCounters::default(), queue, listed: false }
    }

    /// Returns the queued packets and bytes.
    #[inline]
    pub(crate) fn queued<P: QueueItem>(&self) -> (u32, u64)
    where
        D: Discipline<P>,
    {
        (self.queue.packets(), self.queue.bytes())
    }

    /// Returns when the next service starts; `None` if nothing is queued.
    #[inline]
    pub(crate) fn next_service<P: QueueItem>(&self) -> Option<Time>
    where
        D: Discipline<P>,
    {
        self.queue.next_eligible_time().map(|ready| ready.max(self.line.free_at))
    }

    /// Discards packets that have expired by `now`.
    #[inline]
    pub(crate) fn expire<P: PortItem, W: EventSink<P::Body>>(
        &mut self,
        now: Time,
        sink: &mut W,
        node: &mut impl PortSink<P>,
    ) where
        D: Discipline<P>,
    {
        self.queue.expire(now, &mut PortEvents::new(now, self.line.link, &mut self.counts, sink, node));
    }

    /// Traces the backlog that a packet finds when it arrives at `now`.
    #[inline]
    pub(crate) fn offered<P: PortItem, W: EventSink<P::Body>>(&self, now: Time, header: &Header, sink: &mut W)
    where
        D: Discipline<P>,
    {
        sink.observe(|| {
            let (packets, bytes) = self.queued();
            let ahead = Backlog { packets, bytes };
            TraceEvent::Offered { link: self.line.link, at: now, header: *header, ahead }
        });
    }

    /// Returns the result for a packet that arrives at `now` at an empty queue with a free link, if it need not be
    /// stored.
    #[inline(always)]
    pub(crate) fn try_bypass<P: PortItem, W: EventSink<P::Body>>(
        &mut self,
        now: Time,
        header: &Header,
        sink: &mut W,
    ) -> Option<Admission>
    where
        D: Discipline<P>,
    {
        let admission = self.queue.try_bypass(now, header)?;
        sink.observe(|| TraceEvent::Admitted(admission));
        if admission != Admission::Queued {
            self.count_rare(admission, header);
        }
        Some(admission)
    }

    /// Enqueues a packet that arrives at `now`, unless the discipline rejects it.
    #[inline(always)]
    pub(crate) fn enqueue<P: PortItem, W: EventSink<P::Body>>(
        &mut self,
        now: Time,
        item: &P,
        sink: &mut W,
        node: &mut impl PortSink<P>,
    ) -> Admission
    where
        D: Discipline<P>,
    {
        let mut events = PortEvents::new(now, self.line.link, &mut self.counts, &mut *sink, node);
        let admission = self.queue.enqueue(now, item, &mut events);
        self.enqueued(now, item.header(), admission, sink);
        admission
    }

    /// Counts and traces a packet about which the discipline decided at `now`.
    #[inline(always)]
    pub(super) fn enqueued<B: Body, W: EventSink<B>>(
        &mut self,
        now: Time,
        header: &Header,
        admission: Admission,
        sink: &mut W,
    ) {
        sink.observe(|| TraceEvent::Admitted(admission));
        if admission != Admission::Queued {
            self.count_rare(admission, header);
        }
        if admission.is_kept() {
            self.counts.queued(now, header);
        }
    }

    /// Drops an arriving packet because the node has no room for it.
    pub(crate) fn refuse<B: Body, W: EventSink<B>>(&mut self, header: &Header, sink: &mut W) {
        sink.observe(|| TraceEvent::Admitted(Admission::Dropped));
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

    /// Transmits a packet that bypassed the queue, unless it was not admitted.
    #[inline(always)]
    pub(crate) fn forward<B: Body, W: EventSink<B>>(
        &mut self,
        now: Time,
        packet: &Packet<B>,
        admission: Admission,
        sink: &mut W,
    ) -> Started {
        if admission != Admission::Queued {
            return self.forward_changed(now, packet, admission, sink);
        }
        self.send(now, packet, sink)
    }

    #[cold]
    fn forward_changed<B: Body, W: EventSink<B>>(
        &mut self,
        now: Time,
        packet: &Packet<B>,
        admission: Admission,
        sink: &mut W,
    ) -> Started {
        if !admission.is_kept() {
            return Started::No;
        }
        let mut kept = *packet;
        admission.mark(&mut kept);
        self.send(now, &kept, sink)
    }

    #[inline(always)]
    fn send<B: Body, W: EventSink<B>>(&mut self, now: Time, packet: &Packet<B>, sink: &mut W) -> Started {
        if B::STAMPED {
            self.send_stamped(now, packet, 0, sink);
        } else {
            self.line.transmit(now, packet, &mut self.counts, sink);
        }
        Started::Yes
    }

    /// Starts transmission of the next packet at `t`, from queues whose classes are not in `paused`; returns its
    /// metadata.
    #[inline(always)]
    pub(crate) fn start<P: PortItem, W: EventSink<P::Body>>(
        &mut self,
        t: Time,
        paused: ClassSet,
        sink: &mut W,
        node: &mut impl PortSink<P>,
    ) -> Option<P::Tag>
    where
        D: Discipline<P>,
    {
        let mut events = PortEvents::new(t, self.line.link, &mut self.counts, &mut *sink, node);
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
            self.send_stamped(t, &packet, left_behind, sink);
        } else {
            self.line.transmit(t, packet, &mut self.counts, sink);
        }
        Some(tag)
    }

    /// Drops the next packet at `t` of the queues whose first packet is not of a class in `kept`; returns its header and
    /// its metadata.
    #[cold]
    pub(crate) fn discard<P: PortItem, W: EventSink<P::Body>>(
        &mut self,
        t: Time,
        kept: ClassSet,
        sink: &mut W,
    ) -> Option<(Header, P::Tag)>
    where
        D: Discipline<P>,
    {
        let mut nobody = ();
        let mut events = PortEvents::new(t, self.line.link, &mut self.counts, &mut *sink, &mut nobody);
        let item = self.queue.dequeue_unpaused(t, kept, &mut events)?;
        let (header, tag) = (*item.header(), item.tag());
        sink.observe(|| TraceEvent::Evicted { link: self.line.link, header });
        self.counts.evicted(t, &header);
        Some((header, tag))
    }

    /// Transmits a packet stamped with a reading of this port, at which `queued_bytes` remain.
    fn send_stamped<B: Body, W: EventSink<B>>(
        &mut self,
        t: Time,
        packet: &Packet<B>,
        queued_bytes: u64,
        sink: &mut W,
    ) {
        let reading = self.line.reading(t, queued_bytes, &self.counts);
        let stamp = |packet: &mut Packet<B>| packet.body.stamp(&packet.header, reading);
        self.line.transmit_stamped(t, packet, &mut self.counts, sink, stamp);
    }

    /// Removes all packets still queued at the end of a run, including those that expire by then.
    pub(crate) fn drain<P: PortItem>(&mut self, at: Time, mut take: impl FnMut(&P))
    where
        D: Discipline<P>,
    {
        let mut left = |item: &P| {
            self.counts.payload_left(at, item.header());
            take(item);
        };
        while let Some(start) = self.queue.next_eligible_time() {
            if let Some(item) = self.queue.dequeue(start.max(at), &mut ExpirySink(&mut left)) {
                left(item);
            }
        }
    }
}

/// Whether a transmission was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Started {
    Yes,
    No,
}

/// Counts and traces packets that a discipline drops or modifies, and notifies the node.
struct PortEvents<'a, W, S> {
    now: Time,
    link: LinkId,
    counts: &'a mut PortCounters,
    sink: &'a mut W,
    node: &'a mut S,
    /// The arriving packet is returned to its sender: only its header is trimmed.
    goes_back: bool,
}

impl<'a, W, S> PortEvents<'a, W, S> {
    #[inline]
    fn new(now: Time, link: LinkId, counts: &'a mut PortCounters, sink: &'a mut W, node: &'a mut S) -> Self {
        Self { now, link, counts, sink, node, goes_back: false }
    }
}

impl<P: PortItem, W: EventSink<P::Body>, S: PortSink<P>> PortSink<P> for PortEvents<'_, W, S> {
    fn evicted(&mut self, item: &P) {
        let (link, header) = (self.link, *item.header());
        self.sink.observe(|| TraceEvent::Evicted { link, header });
        self.counts.evicted(self.now, &header);
        self.node.evicted(item);
    }

    fn trimmed(&mut self, before: &Header, after: &Header) {
        let (link, before) = (self.link, *before);
        if !self.goes_back {
            self.sink.observe(|| TraceEvent::Trimmed { link, before });
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
        self.sink.observe(|| TraceEvent::Expired { link, header });
        self.counts.expired(self.now, &header);
        self.node.expired(item);
    }
}

/// Passes on packets that expire while a queue is drained.
struct ExpirySink<'a, F>(&'a mut F);

impl<P: QueueItem, F: FnMut(&P)> PortSink<P> for ExpirySink<'_, F> {
    fn expired(&mut self, item: &P) {
        (self.0)(item);
    }
}
