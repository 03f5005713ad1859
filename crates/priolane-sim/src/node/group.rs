//! Nodes of one kind behind one dynamic call per group and window, so that any transport meets any port.

use priolane_core::endpoint::Endpoint;
use priolane_core::ids::NodeId;
use priolane_core::packet::{Body, Packet};
use priolane_core::port::Discipline;
use priolane_core::units::Time;

use super::collector::Collector;
use super::fabric::Fabric;
use super::host::Host;
use super::lossless::LosslessSwitch;
use super::port::{Port, Started};
use super::switch::Switch;
use crate::engine::control_plane::Told;
use crate::engine::mail::LazyWire;
use crate::engine::network::Place;
use crate::engine::sheaf::{Inbox, Inboxes};
use crate::engine::wheel::{EagerWire, Wake};
use crate::engine::window::{Span as WindowSpan, Ticks};
use crate::outcome::Readings;
use crate::waits::News;
use crate::wire::{Arrival, Due, Kind};

/// Nodes of a group that live through a window, in this order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Visits<'a> {
    pub(crate) nodes: &'a [NodeId],
    /// Where each node of the network lives.
    pub(crate) places: &'a [Place],
    pub(crate) fabric: &'a Fabric<'a>,
    pub(crate) span: &'a WindowSpan,
}

/// Nodes of one kind. Both engines drive them; `i` is a node's place in its group.
pub(crate) trait NodeGroup<B: Body>: Send {
    /// Window engine: nodes live through a window, each with what is in its inbox.
    fn run_window(&mut self, visits: &Visits, inboxes: &mut Inboxes<B>, wire: &mut LazyWire<B>);

    /// Wheel engine: a packet arrives at node `i`.
    fn arrive(&mut self, i: usize, fabric: &Fabric, arrival: Arrival<B>, wire: &mut EagerWire<B>);

    /// Wheel engine: an instant node `i` asked for.
    fn wake(&mut self, i: usize, fabric: &Fabric, now: Time, wake: Wake, wire: &mut EagerWire<B>);

    /// Both: the first instant node `i` wants, before anything arrives.
    fn first(&self, i: usize) -> Due;

    /// Wheel engine: reads the ports of node `i`.
    fn sample(&mut self, i: usize, at: Time, samples: &mut Readings);

    /// Both: host `i` will be told new thresholds. Switches sort by what hosts stamp and are told nothing.
    fn tell(&mut self, i: usize, told: &Told) {
        let _ = (i, told);
    }

    /// Both: host `i` hears news of a delivered flow; when the flow that waited for it starts, if that is known now.
    fn hear(&mut self, i: usize, news: &News) -> Option<Time> {
        let _ = (i, news);
        None
    }

    /// Both: node `i` hands over what the run leaves.
    fn finish(&mut self, i: usize, fabric: &Fabric, at: Time, out: &mut Collector);
}

/// A node as the window engine drives it.
trait Resident<B: Body> {
    /// Lives through `span` with what is in its inbox; when it next wants to live.
    fn live(&mut self, fabric: &Fabric, inbox: Inbox<B>, span: &WindowSpan, wire: &mut LazyWire<B>) -> Time;
}

/// One node after the other.
fn visit<B: Body, N: Resident<B>>(
    group: &mut [N],
    visits: &Visits,
    inboxes: &mut Inboxes<B>,
    wire: &mut LazyWire<B>,
) {
    let Visits { nodes, places, fabric, span } = *visits;
    for &node in nodes {
        let resident = &mut group[places[node.index()].index as usize];
        let next = resident.live(fabric, inboxes.of(node), span, wire);
        wire.wake(node, next);
    }
}

impl<B: Body, D: Discipline<Packet<B>>> Resident<B> for Switch<D> {
    #[inline]
    fn live(&mut self, fabric: &Fabric, inbox: Inbox<B>, span: &WindowSpan, wire: &mut LazyWire<B>) -> Time {
        let mut tick = span.samples();
        for (at, packet, route) in self.route(fabric, inbox, span).with_notes() {
            while let Some(instant) = tick.next_before(at) {
                self.serve_busy(instant, wire);
                self.sample(instant, &mut wire.samples);
            }
            self.arrive_lazily(route, fabric, at, packet, wire);
        }
        while let Some(instant) = tick.next_before(span.end) {
            self.serve_busy(instant, wire);
            self.sample(instant, &mut wire.samples);
        }
        let next = self.serve_busy(Time(span.end.0 - 1), wire);
        span.keep_alive(next, || self.has_reading())
    }
}

impl<B: Body, D: Discipline<Packet<B>>> NodeGroup<B> for Vec<Switch<D>> {
    fn run_window(&mut self, visits: &Visits, inboxes: &mut Inboxes<B>, wire: &mut LazyWire<B>) {
        visit(self, visits, inboxes, wire);
    }

    fn arrive(&mut self, i: usize, fabric: &Fabric, arrival: Arrival<B>, wire: &mut EagerWire<B>) {
        let Arrival { at: now, packet, .. } = arrival;
        let touched = self[i].arrive_eagerly(fabric, now, packet, wire);
        for (port, started) in touched.into_iter().flatten() {
            let egress = &self[i].ports[port];
            match started {
                Started::Yes => wire.wake_at(egress.line.free_at, Wake::port(port)),
                Started::No => wake_limited(egress, now, Wake::port(port), wire),
            }
        }
    }

    fn wake(&mut self, i: usize, _fabric: &Fabric, now: Time, wake: Wake, wire: &mut EagerWire<B>) {
        let started = self[i].depart(wake.port as usize, now, wire);
        let egress = &self[i].ports[wake.port as usize];
        match started {
            Started::Yes => wire.wake_at(egress.line.free_at, wake),
            Started::No => wake_limited(egress, now, wake, wire),
        }
    }

    fn first(&self, _i: usize) -> Due {
        Due::NEVER
    }

    fn sample(&mut self, i: usize, at: Time, samples: &mut Readings) {
        self[i].sample(at, samples);
    }

    fn finish(&mut self, i: usize, fabric: &Fabric, at: Time, out: &mut Collector) {
        self[i].finish(fabric, at, out);
    }
}

impl<B: Body> Resident<B> for LosslessSwitch<B> {
    #[inline]
    fn live(&mut self, fabric: &Fabric, inbox: Inbox<B>, span: &WindowSpan, wire: &mut LazyWire<B>) -> Time {
        let mut tick = span.samples();
        let mut arrivals = inbox.open(span.end).by_ingress().peekable();
        loop {
            let departure = self.next();
            let arrival = arrivals.peek().map_or(Time::NEVER, |arrival| arrival.at);
            let now = departure.min(arrival);
            while let Some(instant) = tick.next_before(now.min(span.end)) {
                self.sample(instant, &mut wire.samples);
            }
            if now >= span.end {
                return span.keep_alive(departure, || self.has_reading());
            }
            if departure <= arrival {
                if let Some((at, port)) = self.pop_next() {
                    self.depart(port as usize, at, wire);
                }
            } else if let Some(arrival) = arrivals.next() {
                self.arrive(fabric, arrival, wire);
            }
            wire.handled += 1;
        }
    }
}

impl<B: Body> NodeGroup<B> for Vec<LosslessSwitch<B>> {
    fn run_window(&mut self, visits: &Visits, inboxes: &mut Inboxes<B>, wire: &mut LazyWire<B>) {
        visit(self, visits, inboxes, wire);
    }

    fn arrive(&mut self, i: usize, fabric: &Fabric, arrival: Arrival<B>, wire: &mut EagerWire<B>) {
        self[i].arrive(fabric, arrival, wire);
        wake_all(&mut self[i], wire);
    }

    fn wake(&mut self, i: usize, _fabric: &Fabric, now: Time, wake: Wake, wire: &mut EagerWire<B>) {
        self[i].depart(wake.port as usize, now, wire);
        wake_all(&mut self[i], wire);
    }

    fn first(&self, _i: usize) -> Due {
        Due::NEVER
    }

    fn sample(&mut self, i: usize, at: Time, samples: &mut Readings) {
        self[i].sample(at, samples);
    }

    fn finish(&mut self, i: usize, fabric: &Fabric, at: Time, out: &mut Collector) {
        self[i].finish(fabric, at, out);
    }
}

/// Every instant that a switch asked for is an event.
fn wake_all<B: Body>(switch: &mut LosslessSwitch<B>, wire: &mut EagerWire<B>) {
    while let Some((at, port)) = switch.pop_next() {
        wire.wake_at(at, Wake::port(port as usize));
    }
}

impl<E: Endpoint> Resident<E::Body> for Host<E> {
    #[inline]
    fn live(
        &mut self,
        fabric: &Fabric,
        inbox: Inbox<E::Body>,
        span: &WindowSpan,
        wire: &mut LazyWire<E::Body>,
    ) -> Time {
        let mut tick = span.samples();
        for (at, packet) in inbox.open(span.end).iter() {
            self.live_up_to(Due::new(at, Kind::Arrival), fabric, &mut tick, wire);
            self.reach(at, &mut tick, wire);
            self.arrive(fabric, at, packet, wire);
            wire.handled += 1;
        }
        self.live_up_to(Due::new(span.end, Kind::Departure), fabric, &mut tick, wire);
        while let Some(instant) = tick.next_before(span.end) {
            self.sample_at(instant, wire);
        }
        self.catch_up(Time(span.end.0 - 1), wire);
        span.keep_alive(self.next_life(), || self.has_reading())
    }
}

impl<E: Endpoint> Host<E> {
    /// Does what the host does by itself before `limit`.
    #[inline]
    fn live_up_to(&mut self, limit: Due, fabric: &Fabric, tick: &mut Ticks, wire: &mut LazyWire<E::Body>) {
        if self.next_local() < limit {
            self.do_all_before(limit, fabric, tick, wire);
        }
    }

    #[inline(never)]
    fn do_all_before(&mut self, limit: Due, fabric: &Fabric, tick: &mut Ticks, wire: &mut LazyWire<E::Body>) {
        while self.next_local() < limit {
            let local = self.next_local();
            self.reach(local.at(), tick, wire);
            self.run_local(fabric, local.at(), local.kind(), wire);
            wire.handled += 1;
        }
    }

    /// Samples and departures up to `now` happen.
    #[inline]
    fn reach(&mut self, now: Time, tick: &mut Ticks, wire: &mut LazyWire<E::Body>) {
        while let Some(instant) = tick.next_before(now) {
            self.sample_at(instant, wire);
        }
        self.catch_up(now, wire);
    }
}

impl<E: Endpoint> NodeGroup<E::Body> for Vec<Host<E>> {
    fn run_window(&mut self, visits: &Visits, inboxes: &mut Inboxes<E::Body>, wire: &mut LazyWire<E::Body>) {
        visit(self, visits, inboxes, wire);
    }

    fn arrive(
        &mut self,
        i: usize,
        fabric: &Fabric,
        Arrival { at: now, packet, .. }: Arrival<E::Body>,
        wire: &mut EagerWire<E::Body>,
    ) {
        self[i].arrive(fabric, now, packet, wire);
        let next = self[i].next_local();
        wire.wake_at(next.at(), Wake::local(next.kind()));
    }

    fn wake(&mut self, i: usize, fabric: &Fabric, now: Time, wake: Wake, wire: &mut EagerWire<E::Body>) {
        let host = &mut self[i];
        // What the host waited for may have moved since: then this instant is only one to ask again.
        if host.next_local() == Due::new(now, wake.kind) {
            host.run_local(fabric, now, wake.kind, wire);
        }
        let next = host.next_local();
        wire.wake_at(next.at(), Wake::local(next.kind()));
    }

    fn first(&self, i: usize) -> Due {
        self[i].next_local()
    }

    fn sample(&mut self, i: usize, at: Time, samples: &mut Readings) {
        self[i].sample(at, samples);
    }

    fn tell(&mut self, i: usize, told: &Told) {
        self[i].tell(told);
    }

    fn hear(&mut self, i: usize, news: &News) -> Option<Time> {
        self[i].hear(news)
    }

    fn finish(&mut self, i: usize, fabric: &Fabric, at: Time, out: &mut Collector) {
        self[i].finish(fabric, at, out);
    }
}

/// A port with an idle line and a backlog waits for its discipline: nothing else will wake it.
fn wake_limited<B: Body, D: Discipline<Packet<B>>>(
    port: &Port<D>,
    now: Time,
    wake: Wake,
    wire: &mut EagerWire<B>,
) {
    if port.line.free_at <= now
        && let Some(service) = port.next_service()
    {
        wire.wake_at(service, wake);
    }
}
