//! Departures of packets from a host: polled by the free link, or through a transmit queue.

use priolane_core::endpoint::{Cx, Departure, Endpoint, LocalClock, SendId, Tx};
use priolane_core::ids::{CLASSES, ClassSet};
use priolane_core::packet::{Header, Packet};
use priolane_core::port::{Admission, PortSink};
use priolane_core::rng::Stream;
use priolane_core::units::Time;

use super::Host;
use super::state::{Pull, Waiting};
use crate::device::event_sink::{EventKey, EventSink, Kind};
use crate::device::nic::{NicMode, Outgoing, TransmitQueue};
use crate::device::port::Port;
use crate::device::send_jitter::Jittered;
use crate::observe::outcome::RunError;
use crate::observe::phase::in_transport;
use crate::observe::trace::TraceEvent;

/// Notifies the transport of packets that its transmit queue drops.
struct Refusals<'a, E> {
    now: Time,
    waiting: &'a mut Waiting,
    endpoint: &'a mut E,
    clock: LocalClock,
    rng: &'a mut Stream,
}

impl<E: Endpoint> PortSink<Outgoing<E::Body>> for Refusals<'_, E> {
    fn evicted(&mut self, outgoing: &Outgoing<E::Body>) {
        self.waiting.remove(outgoing.id);
        if let Some(id) = outgoing.id {
            self.endpoint.on_departure(
                &mut Cx { now: self.now, clock: self.clock, rng: self.rng },
                id,
                Departure::Dropped,
            );
        }
    }

    fn expired(&mut self, outgoing: &Outgoing<E::Body>) {
        self.waiting.remove(outgoing.id);
    }
}

impl<E: Endpoint> Host<E> {
    /// Returns when the next packet may leave, as of now.
    #[inline]
    pub(super) fn next_departure<W: EventSink<E::Body>>(&self) -> EventKey {
        if matches!(self.pull, Pull::Idle | Pull::Kept) && !self.waiting.is_event::<W, _>() {
            return EventKey::NEVER;
        }
        let asked = match self.pull {
            Pull::Idle | Pull::Kept => Time::NEVER,
            Pull::Ask => self.port.line.free_at,
            Pull::NotBefore(t) if self.nic == NicMode::Queue => t,
            Pull::NotBefore(t) => t.max(self.port.line.free_at),
        };
        let waits = self.waiting.is_event::<W, _>() && self.may_serve();
        let queued = if waits { self.next_service() } else { Time::NEVER };
        EventKey::new(asked.min(queued), Kind::Departure)
    }

    /// Returns when the transmit queue, which is not empty, starts the next packet.
    #[inline]
    pub(super) fn next_service(&self) -> Time {
        if !self.waiting.limited {
            return self.port.line.free_at;
        }
        self.port.next_service().unwrap_or(Time::NEVER)
    }

    /// Serves lazy departures that were due by `limit`.
    #[inline]
    pub(crate) fn catch_up<W: EventSink<E::Body>>(&mut self, limit: Time, sink: &mut W) {
        if self.waiting.packets > 0 && self.port.line.free_at <= limit {
            self.depart_until(limit, sink);
        }
    }

    #[inline(never)]
    fn depart_until<W: EventSink<E::Body>>(&mut self, limit: Time, sink: &mut W) {
        while self.waiting.packets > 0 && self.port.line.free_at <= limit && !self.waiting.is_event::<W, _>()
        {
            let Some(id) = self.start_lazily(self.port.line.free_at, sink) else { return };
            self.waiting.remove(id);
        }
    }

    /// Starts the next packet of the transmit queue at `start`, when the line becomes free.
    #[inline(always)]
    fn start_lazily<W: EventSink<E::Body>>(&mut self, start: Time, sink: &mut W) -> Option<Option<SendId>> {
        if self.paused == ClassSet::NONE && matches!(self.port.queue, TransmitQueue::Fifo(_)) {
            return self.port.start_fifo(start, &mut Jittered { jitter: &mut self.jitter, sink });
        }
        self.start_in_general(start, sink)
    }

    #[inline(never)]
    fn start_in_general<W: EventSink<E::Body>>(
        &mut self,
        start: Time,
        sink: &mut W,
    ) -> Option<Option<SendId>> {
        self.start_queued(start, self.paused, sink)
    }

    /// Returns the port, and the sink for packets that its queue drops at `now`.
    #[inline(always)]
    fn port_and_refusals(&mut self, now: Time) -> (&mut Port<TransmitQueue<E::Body>>, Refusals<'_, E>) {
        let Self { port, waiting, endpoint, clock, rng, .. } = self;
        (port, Refusals { now, waiting, endpoint, clock: *clock, rng })
    }

    /// Puts a packet on the free line.
    #[inline(always)]
    fn transmit<W: EventSink<E::Body>>(&mut self, now: Time, packet: &Packet<E::Body>, sink: &mut W) {
        let sink = &mut Jittered { jitter: &mut self.jitter, sink };
        self.port.line.transmit(now, packet, &mut self.port.counts, sink);
    }

    /// Puts the next packet of the transmit queue on the free line, if a class that is not in `paused` has one.
    #[inline(always)]
    fn start_queued<W: EventSink<E::Body>>(
        &mut self,
        now: Time,
        paused: ClassSet,
        sink: &mut W,
    ) -> Option<Option<SendId>> {
        let Self { port, waiting, endpoint, clock, rng, jitter, .. } = self;
        let refusals = &mut Refusals { now, waiting, endpoint, clock: *clock, rng };
        port.start(now, paused, &mut Jittered { jitter, sink }, refusals)
    }

    /// Returns whether a non-empty transmit queue may be served.
    #[inline]
    pub(super) fn may_serve(&self) -> bool {
        self.paused == ClassSet::NONE || self.has_unpaused()
    }

    /// Polls for packets and transmits them while both transport and link are ready.
    #[inline]
    pub(super) fn pump<W: EventSink<E::Body>>(&mut self, now: Time, sink: &mut W) {
        if self.nic == NicMode::Queue {
            self.fill(now, sink);
            self.serve(now, sink);
        } else {
            self.pull(now, sink);
        }
        self.plan_departure::<W>();
    }

    /// Returns whether the transport would be polled after an arrival at `now`.
    #[inline]
    pub(super) fn would_poll(&self, now: Time) -> bool {
        self.nic == NicMode::Queue || (!matches!(self.pull, Pull::Kept) && self.port.line.free_at <= now)
    }

    /// Transmits the transport's response to a packet, then pumps.
    #[inline(always)]
    pub(super) fn send_response<W: EventSink<E::Body>>(
        &mut self,
        now: Time,
        response: &mut Tx<E::Body>,
        sink: &mut W,
    ) {
        self.pull = Pull::Ask;
        let Tx::Send { packet, id } = &mut *response else {
            self.wait(response, now, sink);
            return self.pump(now, sink);
        };
        if self.nic == NicMode::Queue {
            self.queue(now, packet, *id, sink);
        } else {
            self.start(now, packet, *id, sink);
        }
        if matches!(self.pull, Pull::Ask) {
            return self.pump(now, sink);
        }
        if self.nic == NicMode::Queue {
            self.serve(now, sink);
        }
        self.plan_departure::<W>();
    }

    /// Updates the next departure and event.
    #[inline]
    fn plan_departure<W: EventSink<E::Body>>(&mut self) {
        self.departure = self.next_departure::<W>();
        self.look_ahead();
    }

    /// Lets the free link poll the transport, without a transmit queue.
    #[inline]
    fn pull<W: EventSink<E::Body>>(&mut self, now: Time, sink: &mut W) {
        while matches!(self.pull, Pull::Ask) && self.port.line.free_at <= now {
            let cx = &mut Cx { now, clock: self.clock, rng: &mut self.rng };
            match &in_transport(&self.phase, || self.endpoint.poll_transmit(cx)) {
                &Tx::Send { ref packet, id } => self.start(now, packet, id, sink),
                other => self.wait(other, now, sink),
            }
        }
    }

    /// Transmits a packet of the transport on the free link, unless its class is paused.
    #[inline(always)]
    fn start<W: EventSink<E::Body>>(
        &mut self,
        now: Time,
        packet: &Packet<E::Body>,
        id: Option<SendId>,
        sink: &mut W,
    ) {
        self.exchanged[usize::from(packet.header.class) % CLASSES].made.add(packet.header.wire);
        sink.observe(|| TraceEvent::Made { at: now, packet: *packet });
        self.port.offered(now, &packet.header, sink);
        sink.observe(|| TraceEvent::Admitted(Admission::Queued));
        if self.paused.has(packet.header.class) {
            return self.keep(now, Outgoing { packet: *packet, id });
        }
        self.transmit(now, packet, sink);
        if let Some(id) = id {
            let cx = &mut Cx { now, clock: self.clock, rng: &mut self.rng };
            self.endpoint.on_departure(cx, id, Departure::Sent(now));
        }
        self.poll_again();
    }

    /// Sets whether to poll again after a packet.
    #[inline]
    fn poll_again(&mut self) {
        if !self.endpoint.may_transmit() {
            self.pull = Pull::Idle;
        }
    }

    /// Records a reply other than a packet.
    #[inline]
    fn wait<W: EventSink<E::Body>>(&mut self, answer: &Tx<E::Body>, now: Time, sink: &mut W) {
        self.pull = match *answer {
            Tx::NotBefore(t) if t > now => Pull::NotBefore(t),
            Tx::NotBefore(_) => {
                sink.violated(self.asked_for_the_past(now));
                Pull::Idle
            }
            Tx::Idle | Tx::Send { .. } => Pull::Idle,
        };
    }

    #[cold]
    fn asked_for_the_past(&self, now: Time) -> RunError {
        RunError::Violation {
            what: "a transport requested a wait until a time in the past".into(),
            at: now,
            place: format!("host {}", self.host.0),
        }
    }

    #[inline(never)]
    fn refill<W: EventSink<E::Body>>(&mut self, now: Time, sink: &mut W) {
        self.fill(now, sink);
    }

    /// Moves packets of the transport into the transmit queue, or past it if nothing is queued.
    // Inlined as measured, into `pump` alone: every packet of a host passes through here.
    #[inline(always)]
    fn fill<W: EventSink<E::Body>>(&mut self, now: Time, sink: &mut W) {
        while matches!(self.pull, Pull::Ask) {
            let cx = &mut Cx { now, clock: self.clock, rng: &mut self.rng };
            // Used in place: a copy would stall on the small writes just made.
            let mut answer = in_transport(&self.phase, || self.endpoint.poll_transmit(cx));
            let Tx::Send { packet, id } = &mut answer else { return self.wait(&answer, now, sink) };
            self.queue(now, packet, *id, sink);
        }
    }

    /// Moves a packet of the transport into the transmit queue, or past it if nothing is queued.
    #[inline(always)]
    fn queue<W: EventSink<E::Body>>(
        &mut self,
        now: Time,
        packet: &mut Packet<E::Body>,
        id: Option<SendId>,
        sink: &mut W,
    ) {
        let Header { class, wire: size, .. } = packet.header;
        self.expire(now, sink);
        self.exchanged[usize::from(class) % CLASSES].made.add(size);
        sink.observe(|| TraceEvent::Made { at: now, packet: *packet });
        self.port.offered(now, &packet.header, sink);
        let idle = self.port.line.free_at <= now && self.waiting.packets == 0 && !self.paused.has(class);
        if idle && let Some(admission) = self.port.try_bypass(now, &packet.header, sink) {
            if admission.is_kept() {
                admission.mark(packet);
                self.send(now, packet, id, sink);
            } else {
                self.refused(now, id);
            }
            return self.poll_again();
        }
        let admission = match self.port.enqueue_fifo(now, packet, id, sink) {
            Some(admission) => admission,
            None => self.enqueue_in_general(now, &Outgoing { packet: *packet, id }, sink),
        };
        if admission.is_kept() {
            self.waiting.add(id);
            if idle || self.paused != ClassSet::NONE {
                self.port.line.free_at = self.port.line.free_at.max(now);
            }
        } else {
            self.refused(now, id);
        }
        self.poll_again();
    }

    #[inline(never)]
    fn enqueue_in_general<W: EventSink<E::Body>>(
        &mut self,
        now: Time,
        outgoing: &Outgoing<E::Body>,
        sink: &mut W,
    ) -> Admission {
        let (port, mut refusals) = self.port_and_refusals(now);
        port.enqueue(now, outgoing, sink, &mut refusals)
    }

    /// Notifies the transport that the transmit queue has no room for a packet.
    #[inline]
    fn refused(&mut self, now: Time, id: Option<SendId>) {
        if let Some(id) = id {
            let cx = &mut Cx { now, clock: self.clock, rng: &mut self.rng };
            self.endpoint.on_departure(cx, id, Departure::Dropped);
        }
    }

    /// Transmits a packet.
    #[inline]
    fn send<W: EventSink<E::Body>>(
        &mut self,
        now: Time,
        packet: &Packet<E::Body>,
        id: Option<SendId>,
        sink: &mut W,
    ) {
        self.transmit(now, packet, sink);
        if let Some(id) = id {
            let cx = &mut Cx { now, clock: self.clock, rng: &mut self.rng };
            self.endpoint.on_departure(cx, id, Departure::Sent(now));
            self.pull = Pull::Ask;
        }
    }

    /// Transmits the packets of the transmit queue that are due. The queue is not asked before: it would discard what has
    /// expired, and how long that counts as queued would depend on how often the transport is called.
    #[inline]
    pub(super) fn serve<W: EventSink<E::Body>>(&mut self, now: Time, sink: &mut W) {
        if self.is_due(now) {
            self.serve_queue(now, sink);
        }
    }

    /// Returns whether the transmit queue starts a packet at `now`, unless its class is paused.
    #[inline]
    fn is_due(&self, now: Time) -> bool {
        self.waiting.packets > 0 && self.next_service() <= now
    }

    #[inline(never)]
    fn serve_queue<W: EventSink<E::Body>>(&mut self, now: Time, sink: &mut W) {
        while self.is_due(now) {
            let paused = self.paused;
            let Some(id) = self.start_queued(now, paused, sink) else { return };
            self.waiting.remove(id);
            if let Some(id) = id {
                let cx = &mut Cx { now, clock: self.clock, rng: &mut self.rng };
                self.endpoint.on_departure(cx, id, Departure::Sent(now));
                self.pull = Pull::Ask;
                self.refill(now, sink);
            }
        }
    }

    /// Removes expired packets from the transmit queue, which a packet is about to join.
    #[inline]
    fn expire<W: EventSink<E::Body>>(&mut self, now: Time, sink: &mut W) {
        if !self.waiting.limited {
            return;
        }
        let (port, mut refusals) = self.port_and_refusals(now);
        port.expire(now, sink, &mut refusals);
    }
}
