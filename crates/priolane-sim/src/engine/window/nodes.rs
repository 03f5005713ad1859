//! Nodes as the window engine drives them: each runs through a window alone.

use priolane_core::endpoint::Endpoint;
use priolane_core::ids::NodeId;
use priolane_core::packet::{Body, Packet};
use priolane_core::port::Discipline;
use priolane_core::units::Time;

use super::calendar::{ArrivalBatch, ArrivalBatches, Arrivals};
use super::scheduler::WindowScheduler;
use super::span::{SampleTimes, WindowSpan};
use crate::device::event_sink::{EventKey, Kind};
use crate::device::fabric::Fabric;
use crate::device::host::Host;
use crate::device::lossless::LosslessSwitch;
use crate::device::switch::Switch;

/// What nodes of one group are given to run through a window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowContext<'a> {
    /// The nodes that run, in this order.
    pub(crate) nodes: &'a [NodeId],
    /// By node of the network: its index in its group.
    pub(crate) index_of: &'a [u32],
    pub(crate) fabric: &'a Fabric<'a>,
    pub(crate) window: &'a WindowSpan,
}

/// A group of nodes, as the window engine drives it.
pub(crate) trait WindowNodes<B: Body> {
    /// The nodes of `cx` run through its window, each with its arrivals in `batches`.
    fn run_window(
        &mut self,
        cx: &WindowContext,
        batches: &mut ArrivalBatches<B>,
        wire: &mut WindowScheduler<B>,
    );
}

/// One node, as the window engine drives it.
trait WindowNode<B: Body> {
    /// Runs through `window` with the arrivals of `batch`; when the node must run next if nothing arrives.
    fn run_window(
        &mut self,
        fabric: &Fabric,
        batch: ArrivalBatch<B>,
        window: &WindowSpan,
        wire: &mut WindowScheduler<B>,
    ) -> Time;
}

/// One node after the other.
fn run_each<B: Body, N: WindowNode<B>>(
    group: &mut [N],
    cx: &WindowContext,
    batches: &mut ArrivalBatches<B>,
    wire: &mut WindowScheduler<B>,
) {
    let WindowContext { nodes, index_of, fabric, window } = *cx;
    for &node in nodes {
        let next = group[index_of[node.index()] as usize].run_window(fabric, batches.of(node), window, wire);
        wire.wake(node, next);
    }
}

impl<B: Body, D: Discipline<Packet<B>>> WindowNodes<B> for Vec<Switch<D>> {
    fn run_window(
        &mut self,
        cx: &WindowContext,
        batches: &mut ArrivalBatches<B>,
        wire: &mut WindowScheduler<B>,
    ) {
        run_each(self, cx, batches, wire);
    }
}

impl<B: Body> WindowNodes<B> for Vec<LosslessSwitch<B>> {
    fn run_window(
        &mut self,
        cx: &WindowContext,
        batches: &mut ArrivalBatches<B>,
        wire: &mut WindowScheduler<B>,
    ) {
        run_each(self, cx, batches, wire);
    }
}

impl<E: Endpoint> WindowNodes<E::Body> for Vec<Host<E>> {
    fn run_window(
        &mut self,
        cx: &WindowContext,
        batches: &mut ArrivalBatches<E::Body>,
        wire: &mut WindowScheduler<E::Body>,
    ) {
        run_each(self, cx, batches, wire);
    }
}

impl<B: Body, D: Discipline<Packet<B>>> WindowNode<B> for Switch<D> {
    #[inline]
    fn run_window(
        &mut self,
        fabric: &Fabric,
        batch: ArrivalBatch<B>,
        window: &WindowSpan,
        wire: &mut WindowScheduler<B>,
    ) -> Time {
        match self.fixed_routes(fabric, window.start, window.end) {
            Some((table, pick)) => {
                let arrivals = batch.open_noting(window.end, |packet| table.port(&packet.header, pick));
                forward_all(self, fabric, window, arrivals, wire, |_, _, _, noted| noted)
            }
            None => choose_at_arrival(self, fabric, batch, window, wire),
        }
    }
}

/// Runs through a window where a port depends on earlier arrivals, or forwarding changes within the window. DRILL looks its
/// port up itself.
#[inline(never)]
fn choose_at_arrival<B: Body, D: Discipline<Packet<B>>>(
    switch: &mut Switch<D>,
    fabric: &Fabric,
    batch: ArrivalBatch<B>,
    window: &WindowSpan,
    wire: &mut WindowScheduler<B>,
) -> Time {
    let arrivals = batch.open(window.end);
    let choose =
        |switch: &mut Switch<D>, at, packet: &Packet<B>, _| switch.next_port(fabric, at, &packet.header);
    forward_all(switch, fabric, window, arrivals, wire, choose)
}

/// Runs through a window; `route` names the port of each packet, in order of arrival, from its note.
#[inline(always)]
fn forward_all<B: Body, D: Discipline<Packet<B>>>(
    switch: &mut Switch<D>,
    fabric: &Fabric,
    window: &WindowSpan,
    arrivals: Arrivals<B>,
    wire: &mut WindowScheduler<B>,
    mut route: impl FnMut(&mut Switch<D>, Time, &Packet<B>, u32) -> u32,
) -> Time {
    let mut tick = window.samples();
    for (at, packet, note) in arrivals.with_notes() {
        while let Some(instant) = tick.next_before(at) {
            switch.serve_busy(instant, wire);
            switch.sample(instant, &mut wire.samples);
        }
        let port = route(switch, at, packet, note);
        switch.arrive_lazily(port, fabric, at, packet, wire);
    }
    while let Some(instant) = tick.next_before(window.end) {
        switch.serve_busy(instant, wire);
        switch.sample(instant, &mut wire.samples);
    }
    let next = switch.serve_busy(Time(window.end.0 - 1), wire);
    window.next_wake(next, || switch.has_reading())
}

impl<B: Body> WindowNode<B> for LosslessSwitch<B> {
    #[inline]
    fn run_window(
        &mut self,
        fabric: &Fabric,
        batch: ArrivalBatch<B>,
        window: &WindowSpan,
        wire: &mut WindowScheduler<B>,
    ) -> Time {
        let mut tick = window.samples();
        let mut arrivals = batch.open(window.end).by_ingress().peekable();
        loop {
            let departure = self.next();
            let arrival = arrivals.peek().map_or(Time::NEVER, |arrival| arrival.at);
            let now = departure.min(arrival);
            while let Some(instant) = tick.next_before(now.min(window.end)) {
                self.sample(instant, &mut wire.samples);
            }
            if now >= window.end {
                return window.next_wake(departure, || self.has_reading());
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

impl<E: Endpoint> WindowNode<E::Body> for Host<E> {
    #[inline]
    fn run_window(
        &mut self,
        fabric: &Fabric,
        batch: ArrivalBatch<E::Body>,
        window: &WindowSpan,
        wire: &mut WindowScheduler<E::Body>,
    ) -> Time {
        let mut tick = window.samples();
        for (at, packet) in batch.open(window.end).iter() {
            run_events_before(self, EventKey::new(at, Kind::Arrival), fabric, &mut tick, wire);
            advance(self, at, &mut tick, wire);
            self.arrive(fabric, at, packet, wire);
            wire.handled += 1;
        }
        run_events_before(self, EventKey::new(window.end, Kind::Departure), fabric, &mut tick, wire);
        while let Some(instant) = tick.next_before(window.end) {
            sample_host(self, instant, wire);
        }
        self.catch_up(Time(window.end.0 - 1), wire);
        window.next_wake(self.next_wake(), || self.has_reading())
    }
}

/// The events that the host scheduled for itself before `limit`.
#[inline]
fn run_events_before<E: Endpoint>(
    host: &mut Host<E>,
    limit: EventKey,
    fabric: &Fabric,
    samples: &mut SampleTimes,
    wire: &mut WindowScheduler<E::Body>,
) {
    if host.next_event() < limit {
        run_all_before(host, limit, fabric, samples, wire);
    }
}

#[inline(never)]
fn run_all_before<E: Endpoint>(
    host: &mut Host<E>,
    limit: EventKey,
    fabric: &Fabric,
    samples: &mut SampleTimes,
    wire: &mut WindowScheduler<E::Body>,
) {
    while host.next_event() < limit {
        let local = host.next_event();
        advance(host, local.at(), samples, wire);
        host.run_event(fabric, local.at(), local.kind(), wire);
        wire.handled += 1;
    }
}

/// Samples and departures up to `now` happen.
#[inline]
fn advance<E: Endpoint>(
    host: &mut Host<E>,
    now: Time,
    samples: &mut SampleTimes,
    wire: &mut WindowScheduler<E::Body>,
) {
    while let Some(instant) = samples.next_before(now) {
        sample_host(host, instant, wire);
    }
    host.catch_up(now, wire);
}

/// Reads the host as it is at `instant`.
#[cold]
fn sample_host<E: Endpoint>(host: &mut Host<E>, instant: Time, wire: &mut WindowScheduler<E::Body>) {
    host.catch_up(instant, wire);
    host.sample(instant, &mut wire.samples);
}
