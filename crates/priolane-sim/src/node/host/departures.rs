//! How packets leave a host: asked for by the free line, or through a transmit queue.

use priolane_core::endpoint::{Cx, Endpoint, LocalClock, SendId, Tx};
use priolane_core::ids::{CLASSES, ClassSet, LinkId};
use priolane_core::packet::{Body, Header, Packet};
use priolane_core::port::{Admission, PortSink};
use priolane_core::rng::Stream;
use priolane_core::units::Time;

use super::Host;
use crate::node::counts::Counts;
use crate::node::nic::{Outgoing, TransmitQueue};
use crate::outcome::RunError;
use crate::trace::{Backlog, Seen};
use crate::wire::{Due, Kind, Service, Wire};

/// What the transport answered when it was last asked for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pull {
    /// Nothing to send until something happens.
    Idle,
    /// Ask when the line is free.
    Ask,
    /// Ask at this instant.
    NotBefore(Time),
    /// Not before the packet that is kept has gone: its class is paused.
    Kept,
}

/// What the transmit queue holds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waiting {
    pub(super) packets: u32,
    /// Those whose departure the transport wants to know.
    pub(super) named: u32,
    /// Whether the queue may hold packets back: then each departure is an event, at an instant that the queue knows.
    pub(super) limited: bool,
}

impl Waiting {
    #[inline]
    fn add(&mut self, id: Option<SendId>) {
        self.packets += 1;
        self.named += u32::from(id.is_some());
    }

    #[inline]
    fn remove(&mut self, id: Option<SendId>) {
        self.packets -= 1;
        self.named -= u32::from(id.is_some());
    }

    /// Whether the next departure is an event of its own.
    #[inline]
    fn is_event<W: Wire<B>, B: Body>(self) -> bool {
        self.named > 0 || ((W::SERVICE == Service::Eager || self.limited) && self.packets > 0)
    }
}

/// Counts and traces what the transmit queue gives up, and reports it to the transport.
struct QueueEvents<'a, E, W> {
    now: Time,
    link: LinkId,
    counts: &'a mut Counts,
    waiting: &'a mut Waiting,
    endpoint: &'a mut E,
    clock: LocalClock,
    rng: &'a mut Stream,
    wire: &'a mut W,
}

impl<E: Endpoint, W: Wire<E::Body>> PortSink<Outgoing<E::Body>> for QueueEvents<'_, E, W> {
    fn evicted(&mut self, &Outgoing { packet: Packet { header, .. }, id }: &Outgoing<E::Body>) {
        let (now, link) = (self.now, self.link);
        self.wire.observe(|| Seen::Evicted { link, header });
        self.waiting.remove(id);
        self.counts.evicted(now, &header);
        if let Some(id) = id {
            self.endpoint.on_refused(&mut Cx { now, clock: self.clock, rng: self.rng }, id);
        }
    }

    fn trimmed(&mut self, before: &Header, after: &Header) {
        let (link, before) = (self.link, *before);
        self.wire.observe(|| Seen::Trimmed { link, before });
        self.counts.trimmed(before.class, before.wire - after.wire);
    }

    fn expired(&mut self, &Outgoing { packet: Packet { header, .. }, id }: &Outgoing<E::Body>) {
        let link = self.link;
        self.wire.observe(|| Seen::Expired { link, header });
        self.waiting.remove(id);
        self.counts.expired(self.now, &header);
    }
}

/// The [`QueueEvents`] of a host, of which the queue itself stays free to be borrowed.
macro_rules! queue_events {
    ($host:ident, $now:expr, $wire:ident) => {
        QueueEvents {
            now: $now,
            link: $host.line.link,
            counts: &mut $host.counts,
            waiting: &mut $host.waiting,
            endpoint: &mut $host.endpoint,
            clock: $host.clock,
            rng: &mut $host.rng,
            wire: $wire,
        }
    };
}

impl<E: Endpoint> Host<E> {
    /// When the next packet may leave, as of now.
    #[inline]
    pub(super) fn next_departure<W: Wire<E::Body>>(&self) -> Due {
        let asked = match self.pull {
            Pull::Idle | Pull::Kept => Time::NEVER,
            Pull::Ask => self.line.free_at,
            Pull::NotBefore(t) if self.queue.is_some() => t,
            Pull::NotBefore(t) => t.max(self.line.free_at),
        };
        let waits = self.waiting.is_event::<W, _>() && self.may_serve();
        let queued = if waits { self.next_service() } else { Time::NEVER };
        Due::new(asked.min(queued), Kind::Departure)
    }

    /// When the transmit queue, which holds something, starts the next packet.
    #[inline]
    pub(super) fn next_service(&self) -> Time {
        if !self.waiting.limited {
            return self.line.free_at;
        }
        self.queue.as_ref().map_or(Time::NEVER, |queue| queue.next_start().max(self.line.free_at))
    }

    /// Departures that are not events and were due by `limit` happen.
    #[inline]
    pub(crate) fn catch_up<W: Wire<E::Body>>(&mut self, limit: Time, wire: &mut W) {
        if self.waiting.packets > 0 && self.line.free_at <= limit {
            self.depart_until(limit, wire);
        }
    }

    #[inline(never)]
    fn depart_until<W: Wire<E::Body>>(&mut self, limit: Time, wire: &mut W) {
        while self.waiting.packets > 0 && self.line.free_at <= limit && !self.waiting.is_event::<W, _>() {
            let start = self.line.free_at;
            let paused = self.paused;
            let Some(queue) = &mut self.queue else { return };
            let events = &mut queue_events!(self, start, wire);
            let Some(outgoing) = queue.start(start, paused, events) else { return };
            self.waiting.remove(None);
            self.counts.dequeued(start, &outgoing.packet.header);
            self.line.transmit(start, &outgoing.packet, &mut self.counts, wire);
        }
    }

    /// Whether a transmit queue that holds something may serve it.
    #[inline]
    pub(super) fn may_serve(&self) -> bool {
        self.paused == ClassSet::NONE || self.has_unpaused()
    }

    /// Asks for packets and puts them on the line for as long as both are willing.
    #[inline]
    pub(super) fn pump<W: Wire<E::Body>>(&mut self, now: Time, wire: &mut W) {
        if self.queue.is_some() {
            self.fill(now, wire);
            self.expire(now, wire);
            if self.waiting.packets > 0 && self.line.free_at <= now {
                self.serve_queue(now, wire);
            }
        } else {
            self.pull(now, wire);
        }
        self.departure = self.next_departure::<W>();
        self.look_ahead();
    }

    /// Without a transmit queue: the free line asks.
    #[inline]
    fn pull<W: Wire<E::Body>>(&mut self, now: Time, wire: &mut W) {
        while self.pull == Pull::Ask && self.line.free_at <= now {
            let cx = &mut Cx { now, clock: self.clock, rng: &mut self.rng };
            match &self.endpoint.poll_transmit(cx) {
                &Tx::Send { ref packet, id } => {
                    self.exchanged[usize::from(packet.header.class) % CLASSES].made.add(packet.header.wire);
                    wire.observe(|| Seen::Made { at: now, packet: *packet });
                    wire.observe(|| self.offered(now, &packet.header));
                    wire.observe(|| Seen::Admitted(Admission::Queued));
                    if self.paused.has(packet.header.class) {
                        return self.keep(now, Outgoing { packet: *packet, id });
                    }
                    self.line.transmit(now, packet, &mut self.counts, wire);
                    if let Some(id) = id {
                        let cx = &mut Cx { now, clock: self.clock, rng: &mut self.rng };
                        self.endpoint.on_sent(cx, id, now);
                    }
                }
                other => self.wait(other, now, wire),
            }
        }
    }

    /// Notes an answer other than a packet.
    #[inline]
    fn wait<W: Wire<E::Body>>(&mut self, answer: &Tx<E::Body>, now: Time, wire: &mut W) {
        self.pull = match *answer {
            Tx::NotBefore(t) if t > now => Pull::NotBefore(t),
            Tx::NotBefore(_) => {
                wire.violated(self.asked_for_the_past(now));
                Pull::Idle
            }
            Tx::Idle | Tx::Send { .. } => Pull::Idle,
        };
    }

    #[cold]
    fn asked_for_the_past(&self, now: Time) -> RunError {
        RunError::Violation {
            what: "a transport asked to wait until an instant that has passed".into(),
            at: now,
            place: format!("host {}", self.host.0),
        }
    }

    #[inline(never)]
    fn refill<W: Wire<E::Body>>(&mut self, now: Time, wire: &mut W) {
        self.fill(now, wire);
    }

    /// Moves what the transport wants to send into the transmit queue, or past it where nothing is before it.
    // Inlined by measurement, into `pump` alone: every packet of a host comes through here.
    #[inline(always)]
    fn fill<W: Wire<E::Body>>(&mut self, now: Time, wire: &mut W) {
        while self.pull == Pull::Ask {
            let cx = &mut Cx { now, clock: self.clock, rng: &mut self.rng };
            // Used where it is: a copy of what was just written in small pieces waits for them.
            let mut answer = self.endpoint.poll_transmit(cx);
            let Tx::Send { packet, id } = &mut answer else { return self.wait(&answer, now, wire) };
            let Header { class, wire: size, .. } = packet.header;
            self.expire(now, wire);
            self.exchanged[usize::from(class) % CLASSES].made.add(size);
            wire.observe(|| Seen::Made { at: now, packet: *packet });
            wire.observe(|| self.offered(now, &packet.header));
            let Some(queue) = &mut self.queue else { return };
            let paused = self.paused.has(class);
            let idle = self.line.free_at <= now && self.waiting.packets == 0 && !paused;
            let passed = if idle { queue.pass(now, &packet.header) } else { None };
            let admission = passed.unwrap_or_else(|| {
                let events = &mut queue_events!(self, now, wire);
                queue.enqueue(now, &Outgoing { packet: *packet, id: *id }, events)
            });
            wire.observe(|| Seen::Admitted(admission));
            match admission {
                Admission::Dropped | Admission::Returned => {
                    self.counts.dropped(class, size);
                    if let Some(id) = *id {
                        let cx = &mut Cx { now, clock: self.clock, rng: &mut self.rng };
                        self.endpoint.on_refused(cx, id);
                    }
                    continue;
                }
                Admission::Marked => self.counts.marked(class),
                Admission::Queued => {}
            }
            if passed.is_some() {
                admission.mark(packet);
                self.send(now, packet, *id, wire);
            } else {
                self.waiting.add(*id);
                self.counts.queued(now, &packet.header);
                if idle || self.paused != ClassSet::NONE {
                    self.line.free_at = self.line.free_at.max(now);
                }
            }
        }
    }

    /// What a packet of the transport finds in front of the line now.
    fn offered(&self, at: Time, header: &Header) -> Seen<'static, E::Body> {
        let (packets, bytes) = self.queue.as_ref().map_or((0, 0), TransmitQueue::backlog);
        Seen::Offered { link: self.line.link, at, header: *header, ahead: Backlog { packets, bytes } }
    }

    /// Puts a packet on the line.
    #[inline]
    fn send<W: Wire<E::Body>>(
        &mut self,
        now: Time,
        packet: &Packet<E::Body>,
        id: Option<SendId>,
        wire: &mut W,
    ) {
        self.line.transmit(now, packet, &mut self.counts, wire);
        if let Some(id) = id {
            let cx = &mut Cx { now, clock: self.clock, rng: &mut self.rng };
            self.endpoint.on_sent(cx, id, now);
            self.pull = Pull::Ask;
        }
    }

    #[inline(never)]
    fn serve_queue<W: Wire<E::Body>>(&mut self, now: Time, wire: &mut W) {
        while self.waiting.packets > 0 && self.line.free_at <= now {
            let paused = self.paused;
            let Some(queue) = &mut self.queue else { return };
            let events = &mut queue_events!(self, now, wire);
            let Some(outgoing) = queue.start(now, paused, events) else { return };
            self.waiting.remove(outgoing.id);
            self.counts.dequeued(now, &outgoing.packet.header);
            self.line.transmit(now, &outgoing.packet, &mut self.counts, wire);
            if let Some(id) = outgoing.id {
                let cx = &mut Cx { now, clock: self.clock, rng: &mut self.rng };
                self.endpoint.on_sent(cx, id, now);
                self.pull = Pull::Ask;
                self.refill(now, wire);
            }
        }
    }

    /// Takes out of the transmit queue what has waited too long.
    #[inline]
    fn expire<W: Wire<E::Body>>(&mut self, now: Time, wire: &mut W) {
        if !self.waiting.limited {
            return;
        }
        if let Some(queue) = &mut self.queue {
            queue.expire(now, &mut queue_events!(self, now, wire));
        }
    }
}
