//! Nodes as driven by the window engine: each runs alone through a window.

mod switches;

use priolane_core::endpoint::Endpoint;
use priolane_core::ids::NodeId;
use priolane_core::packet::{Body, Packet};
use priolane_core::port::Discipline;
use priolane_core::units::Time;

use super::calendar::{ArrivalBatch, ArrivalBatches};
use super::look_ahead::LookAhead;
use super::scheduler::WindowScheduler;
use super::span::{SampleTimes, WindowSpan};
use crate::device::event_sink::{EventKey, Kind};
use crate::device::fabric::Fabric;
use crate::device::host::Host;
use crate::device::lossless::LosslessSwitch;
use crate::device::switch::Switch;

/// Context of a group of nodes that run through a window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowContext<'a> {
    /// The nodes to run, in this order.
    pub(crate) nodes: &'a [NodeId],
    /// The index of each node of the network in its group.
    pub(crate) index_of: &'a [u32],
    pub(crate) fabric: &'a Fabric<'a>,
    pub(crate) window: &'a WindowSpan,
}

/// A group of nodes driven by the window engine.
pub(crate) trait WindowNodes<B: Body> {
    /// Runs the nodes of `cx` through its window, each with its arrivals in `batches`.
    fn run_window(
        &mut self,
        cx: &WindowContext,
        batches: &mut ArrivalBatches<B>,
        sink: &mut WindowScheduler<B>,
    );

    /// Prefetches what the nodes of `cx` after its node `i` need. Called for one node after the other, each before it runs.
    /// Default: nothing.
    fn look_ahead(
        &self,
        (cx, i): (&WindowContext, usize),
        batches: &ArrivalBatches<B>,
        progress: &mut LookAhead,
    ) {
        let _ = (cx, i, batches, progress);
    }
}

/// A node driven by the window engine.
trait WindowNode<B: Body> {
    /// Runs through `window` with its arrivals in `batches`, where it is `node`. Returns when the node must run next if
    /// nothing arrives.
    fn run_window(
        &mut self,
        fabric: &Fabric,
        arrivals: (&mut ArrivalBatches<B>, NodeId),
        window: &WindowSpan,
        sink: &mut WindowScheduler<B>,
    ) -> Time;
}

/// Runs one node after the other.
fn run_each<B: Body, N: WindowNode<B>>(
    group: &mut [N],
    cx: &WindowContext,
    batches: &mut ArrivalBatches<B>,
    sink: &mut WindowScheduler<B>,
) {
    let WindowContext { nodes, index_of, fabric, window } = *cx;
    for &node in nodes {
        let member = &mut group[index_of[node.index()] as usize];
        let next = member.run_window(fabric, (&mut *batches, node), window, sink);
        sink.wake(node, next);
    }
}

impl<B: Body, D: Discipline<Packet<B>>> WindowNodes<B> for Vec<Switch<D>> {
    fn run_window(
        &mut self,
        cx: &WindowContext,
        batches: &mut ArrivalBatches<B>,
        sink: &mut WindowScheduler<B>,
    ) {
        run_each(self, cx, batches, sink);
    }

    fn look_ahead(
        &self,
        (cx, i): (&WindowContext, usize),
        batches: &ArrivalBatches<B>,
        progress: &mut LookAhead,
    ) {
        let member = |node: NodeId| &self[cx.index_of[node.index()] as usize];
        progress.prefetch_after((cx.nodes, i), member, cx.fabric, batches);
    }
}

impl<B: Body> WindowNodes<B> for Vec<LosslessSwitch<B>> {
    fn run_window(
        &mut self,
        cx: &WindowContext,
        batches: &mut ArrivalBatches<B>,
        sink: &mut WindowScheduler<B>,
    ) {
        run_each(self, cx, batches, sink);
    }
}

impl<E: Endpoint> WindowNodes<E::Body> for Vec<Host<E>> {
    fn run_window(
        &mut self,
        cx: &WindowContext,
        batches: &mut ArrivalBatches<E::Body>,
        sink: &mut WindowScheduler<E::Body>,
    ) {
        run_each(self, cx, batches, sink);
    }

    fn look_ahead(
        &self,
        (cx, i): (&WindowContext, usize),
        batches: &ArrivalBatches<E::Body>,
        progress: &mut LookAhead,
    ) {
        let member = |node: NodeId| &self[cx.index_of[node.index()] as usize];
        progress.prefetch_after((cx.nodes, i), member, cx.fabric, batches);
    }
}

impl<B: Body> WindowNode<B> for LosslessSwitch<B> {
    #[inline]
    fn run_window(
        &mut self,
        fabric: &Fabric,
        (batches, node): (&mut ArrivalBatches<B>, NodeId),
        window: &WindowSpan,
        sink: &mut WindowScheduler<B>,
    ) -> Time {
        let mut tick = window.samples();
        let mut arrivals = batches.of(node).open(window.end).by_ingress().peekable();
        loop {
            let departure = self.next();
            let arrival = arrivals.peek().map_or(Time::NEVER, |arrival| arrival.at);
            let now = departure.min(arrival);
            while let Some(instant) = tick.next_before(now.min(window.end)) {
                self.sample(instant, &mut sink.samples);
            }
            if now >= window.end {
                return window.next_wake(departure, || self.has_reading());
            }
            if departure <= arrival {
                if let Some((at, port)) = self.pop_next() {
                    self.depart(port as usize, at, sink);
                }
            } else if let Some(arrival) = arrivals.next() {
                self.arrive(fabric, arrival, sink);
            }
            sink.handled += 1;
        }
    }
}

impl<E: Endpoint> WindowNode<E::Body> for Host<E> {
    #[inline]
    fn run_window(
        &mut self,
        fabric: &Fabric,
        (batches, node): (&mut ArrivalBatches<E::Body>, NodeId),
        window: &WindowSpan,
        sink: &mut WindowScheduler<E::Body>,
    ) -> Time {
        if window.sample_every.is_none()
            && let Some(arrival) = batches.take_lone(node, window.end)
        {
            return live_with_one(self, fabric, arrival, window, sink);
        }
        live_in_general(self, fabric, batches.of(node), window, sink)
    }
}

/// Runs a host through a window without samples, in which one packet arrives.
// Most windows of a host have one arrival: a list of keys, and an iterator over it, would cost more than the host's
// own work.
#[inline(always)]
fn live_with_one<E: Endpoint>(
    host: &mut Host<E>,
    fabric: &Fabric,
    (at, packet): (Time, &Packet<E::Body>),
    window: &WindowSpan,
    sink: &mut WindowScheduler<E::Body>,
) -> Time {
    run_events_without_samples(host, EventKey::within(at, Kind::Arrival), fabric, sink);
    host.catch_up(at, sink);
    host.arrive(fabric, at, packet, sink);
    sink.handled += 1;
    run_events_without_samples(host, EventKey::within(window.end, Kind::Departure), fabric, sink);
    host.catch_up(Time(window.end.0 - 1), sink);
    host.next_wake()
}

/// Runs a host through a window with any number of arrivals and samples.
#[inline(never)]
fn live_in_general<E: Endpoint>(
    host: &mut Host<E>,
    fabric: &Fabric,
    batch: ArrivalBatch<E::Body>,
    window: &WindowSpan,
    sink: &mut WindowScheduler<E::Body>,
) -> Time {
    let mut tick = window.samples();
    for (at, packet) in batch.open_of_one_link(window.end).iter() {
        run_events_before(host, EventKey::new(at, Kind::Arrival), fabric, &mut tick, sink);
        advance(host, at, &mut tick, sink);
        host.arrive(fabric, at, packet, sink);
        sink.handled += 1;
    }
    run_events_before(host, EventKey::new(window.end, Kind::Departure), fabric, &mut tick, sink);
    while let Some(instant) = tick.next_before(window.end) {
        sample_host(host, instant, sink);
    }
    host.catch_up(Time(window.end.0 - 1), sink);
    window.next_wake(host.next_wake(), || host.has_reading())
}

/// Runs the events that the host scheduled for itself before `limit`.
#[inline]
fn run_events_before<E: Endpoint>(
    host: &mut Host<E>,
    limit: EventKey,
    fabric: &Fabric,
    samples: &mut SampleTimes,
    sink: &mut WindowScheduler<E::Body>,
) {
    if host.next_event() < limit {
        run_all_before(host, limit, fabric, samples, sink);
    }
}

/// As `run_events_before`, in a run without samples.
#[inline]
fn run_events_without_samples<E: Endpoint>(
    host: &mut Host<E>,
    limit: EventKey,
    fabric: &Fabric,
    sink: &mut WindowScheduler<E::Body>,
) {
    if host.next_event() < limit {
        let mut none = SampleTimes::NONE;
        run_all_before(host, limit, fabric, &mut none, sink);
    }
}

#[inline(never)]
fn run_all_before<E: Endpoint>(
    host: &mut Host<E>,
    limit: EventKey,
    fabric: &Fabric,
    samples: &mut SampleTimes,
    sink: &mut WindowScheduler<E::Body>,
) {
    while host.next_event() < limit {
        let local = host.next_event();
        advance(host, local.at(), samples, sink);
        host.run_event(fabric, local.at(), local.kind(), sink);
        sink.handled += 1;
    }
}

/// Takes samples and serves departures up to `now`.
#[inline]
fn advance<E: Endpoint>(
    host: &mut Host<E>,
    now: Time,
    samples: &mut SampleTimes,
    sink: &mut WindowScheduler<E::Body>,
) {
    while let Some(instant) = samples.next_before(now) {
        sample_host(host, instant, sink);
    }
    host.catch_up(now, sink);
}

/// Samples the host at `instant`.
#[cold]
fn sample_host<E: Endpoint>(host: &mut Host<E>, instant: Time, sink: &mut WindowScheduler<E::Body>) {
    host.catch_up(instant, sink);
    host.sample(instant, &mut sink.samples);
}
