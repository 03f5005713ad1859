//! Nodes of one kind behind one dynamic call per node and window, so that any transport meets any port.

use priolane_core::endpoint::Endpoint;
use priolane_core::packet::{Body, Packet};
use priolane_core::port::Discipline;
use priolane_core::units::Time;

use super::collector::Collector;
use super::egress::{Egress, Started};
use super::fabric::Fabric;
use super::host::Host;
use super::lossless::LosslessSwitch;
use super::switch::Switch;
use crate::engine::control_plane::Told;
use crate::engine::mail::LazyWire;
use crate::engine::sheaf::Arrivals;
use crate::engine::wheel::{EagerWire, Wake};
use crate::engine::window::Span as WindowSpan;
use crate::outcome::Readings;
use crate::waits::News;
use crate::wire::{Arrival, Due, Kind};

/// Nodes of one kind. Both engines drive them; `i` is a node's place in its group.
pub(crate) trait NodeGroup<B: Body>: Send {
    /// Window engine: node `i` lives through `span` with these arrivals; when it next wants to live.
    fn run_window(
        &mut self,
        i: usize,
        fabric: &Fabric,
        arrivals: Arrivals<B>,
        span: &WindowSpan,
        wire: &mut LazyWire<B>,
    ) -> Time;

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

impl<B: Body, D: Discipline<Packet<B>>> NodeGroup<B> for Vec<Switch<D>> {
    fn run_window(
        &mut self,
        i: usize,
        fabric: &Fabric,
        arrivals: Arrivals<B>,
        span: &WindowSpan,
        wire: &mut LazyWire<B>,
    ) -> Time {
        let switch = &mut self[i];
        let mut tick = span.samples();
        switch.route(fabric, span, arrivals.iter());
        for (place, (at, packet)) in arrivals.iter().enumerate() {
            while let Some(instant) = tick.next_before(at) {
                switch.serve_busy(instant, wire);
                switch.sample(instant, &mut wire.samples);
            }
            switch.arrive_lazily(place, fabric, at, packet, wire);
        }
        while let Some(instant) = tick.next_before(span.end) {
            switch.serve_busy(instant, wire);
            switch.sample(instant, &mut wire.samples);
        }
        let next = switch.serve_busy(Time(span.end.0 - 1), wire);
        span.keep_alive(next, || switch.has_reading())
    }

    fn arrive(&mut self, i: usize, fabric: &Fabric, arrival: Arrival<B>, wire: &mut EagerWire<B>) {
        let Arrival { at: now, packet, .. } = arrival;
        let Some((port, started)) = self[i].arrive_eagerly(fabric, now, packet, wire) else { return };
        let back = self[i].send_back_eagerly(port, fabric, now, wire);
        for (port, started) in [Some((port, started)), back].into_iter().flatten() {
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

impl<B: Body> NodeGroup<B> for Vec<LosslessSwitch<B>> {
    fn run_window(
        &mut self,
        i: usize,
        fabric: &Fabric,
        arrivals: Arrivals<B>,
        span: &WindowSpan,
        wire: &mut LazyWire<B>,
    ) -> Time {
        let switch = &mut self[i];
        let mut tick = span.samples();
        let mut arrivals = arrivals.by_ingress().peekable();
        loop {
            let departure = switch.next();
            let arrival = arrivals.peek().map_or(Time::NEVER, |arrival| arrival.at);
            let now = departure.min(arrival);
            while let Some(instant) = tick.next_before(now.min(span.end)) {
                switch.sample(instant, &mut wire.samples);
            }
            if now >= span.end {
                return span.keep_alive(departure, || switch.has_reading());
            }
            if departure <= arrival {
                if let Some((at, port)) = switch.pop_next() {
                    switch.depart(port as usize, at, wire);
                }
            } else if let Some(arrival) = arrivals.next() {
                switch.arrive(fabric, arrival, wire);
            }
            wire.handled += 1;
        }
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

impl<E: Endpoint> NodeGroup<E::Body> for Vec<Host<E>> {
    fn run_window(
        &mut self,
        i: usize,
        fabric: &Fabric,
        arrivals: Arrivals<E::Body>,
        span: &WindowSpan,
        wire: &mut LazyWire<E::Body>,
    ) -> Time {
        let host = &mut self[i];
        let scenario = fabric.scenario;
        let mut tick = span.samples();
        let last = Time(span.end.0 - 1);
        let mut arrivals = arrivals.iter();
        let mut arrival = arrivals.next();
        loop {
            let (next, limit) = match arrival {
                Some((at, _)) => (at, Due::new(at, Kind::Arrival)),
                None => (span.end, Due::new(span.end, Kind::Departure)),
            };
            let local = Some(host.next_local()).filter(|&local| local < limit);
            let now = local.map_or(next, Due::at);
            while let Some(instant) = tick.next_before(now) {
                host.sample_at(instant, wire);
            }
            host.catch_up(now.min(last), wire);
            match (local, arrival) {
                (Some(local), _) => host.run_local(scenario, now, local.kind(), wire),
                (None, Some((_, packet))) => {
                    host.arrive(scenario, now, packet, wire);
                    arrival = arrivals.next();
                }
                (None, None) => return span.keep_alive(host.next_life(), || host.has_reading()),
            }
            wire.handled += 1;
        }
    }

    fn arrive(
        &mut self,
        i: usize,
        fabric: &Fabric,
        Arrival { at: now, packet, .. }: Arrival<E::Body>,
        wire: &mut EagerWire<E::Body>,
    ) {
        self[i].arrive(fabric.scenario, now, packet, wire);
        let next = self[i].next_local();
        wire.wake_at(next.at(), Wake::local(next.kind()));
    }

    fn wake(&mut self, i: usize, fabric: &Fabric, now: Time, wake: Wake, wire: &mut EagerWire<E::Body>) {
        let host = &mut self[i];
        // What the host waited for may have moved since: then this instant is only one to ask again.
        if host.next_local() == Due::new(now, wake.kind) {
            host.run_local(fabric.scenario, now, wake.kind, wire);
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
    egress: &Egress<D>,
    now: Time,
    wake: Wake,
    wire: &mut EagerWire<B>,
) {
    if egress.line.free_at <= now
        && let Some(service) = egress.next_service()
    {
        wire.wake_at(service, wake);
    }
}
