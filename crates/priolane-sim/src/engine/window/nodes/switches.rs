//! Switches as driven by the window engine.
//!
//! Ports that share nothing never affect each other. Their switch takes the arrivals of a window port by port
//! (`calendar/by_port.rs`); any other takes them in order of time, whatever their ports.
//!
//! ```text
//! by port           ports are independent (`Switch::has_independent_ports`), nothing is sampled, and each port follows from
//!                   header and arrival: hashed, pinned and random paths
//! in order of time  shared buffers and DRILL, which look at other ports; headers that return to their senders; samples,
//!                   which read all ports at one instant; round robin, whose turns follow arrivals; routes that change
//!
//! opened            ports of all arrivals looked up; sorted by port, instant and tie, or by instant and tie
//! arrival           its port is served up to the instant; the packet passes an idle line, or is stored, marked or dropped
//! end               all ports with a backlog are served up to the end; the switch sleeps until the next service
//! ```

use priolane_core::ids::NodeId;
use priolane_core::packet::{Body, Packet};
use priolane_core::port::Discipline;
use priolane_core::units::Time;

use super::WindowNode;
use crate::device::fabric::Fabric;
use crate::device::path_selector::Visit;
use crate::device::switch::{Routes, Switch};
use crate::engine::window::calendar::{ArrivalBatch, ArrivalBatches, Arrivals, ArrivalsByPort};
use crate::engine::window::scheduler::WindowScheduler;
use crate::engine::window::span::WindowSpan;

impl<B: Body, D: Discipline<Packet<B>>> WindowNode<B> for Switch<D> {
    #[inline]
    fn run_window(
        &mut self,
        fabric: &Fabric,
        (batches, node): (&mut ArrivalBatches<B>, NodeId),
        window: &WindowSpan,
        sink: &mut WindowScheduler<B>,
    ) -> Time {
        // All that is rare is behind one call, and takes nothing by reference that the rest could keep in registers.
        if let (Some((table, pick)), None) = (self.simple_routes(fabric), window.sample_every) {
            let looks_ahead = batches.looks_ahead;
            let batch = batches.of(node);
            let arrivals = batch.open_by_port(window.end, |packet, _| table.port(&packet.header, pick));
            return forward_by_port(self, fabric, (arrivals, looks_ahead), window, sink);
        }
        if self.has_independent_ports() && window.sample_every.is_none() {
            return run_by_port(self, fabric, (batches, node), window, sink);
        }
        run_in_order_of_time(self, fabric, batches.of(node), window, sink)
    }
}

/// Runs through a window port by port, on any path that does not depend on earlier arrivals.
#[inline(never)]
fn run_by_port<B: Body, D: Discipline<Packet<B>>>(
    switch: &mut Switch<D>,
    fabric: &Fabric,
    (batches, node): (&mut ArrivalBatches<B>, NodeId),
    window: &WindowSpan,
    sink: &mut WindowScheduler<B>,
) -> Time {
    let looks_ahead = batches.looks_ahead;
    let batch = batches.of(node);
    let arrivals = match switch.routes(fabric, window.start, window.end) {
        Routes::ByHeader(table, pick) => {
            batch.open_by_port(window.end, |packet, _| table.port(&packet.header, pick))
        }
        Routes::ByVisit(table, rng) => {
            batch.open_by_port(window.end, |packet, visit| table.sprayed_port(&packet.header, rng, visit))
        }
        Routes::InOrder => return choose_in_order(switch, fabric, batch, window, sink),
    };
    forward_by_port(switch, fabric, (arrivals, looks_ahead), window, sink)
}

/// Forwards the arrivals of a window port by port. The second of the pair tells whether to prefetch the ports.
#[inline(always)]
fn forward_by_port<B: Body, D: Discipline<Packet<B>>>(
    switch: &mut Switch<D>,
    fabric: &Fabric,
    (arrivals, looks_ahead): (ArrivalsByPort<B>, bool),
    window: &WindowSpan,
    sink: &mut WindowScheduler<B>,
) -> Time {
    if looks_ahead {
        prefetch_ports(switch, arrivals);
    }
    for (port, at, packet) in arrivals.iter() {
        switch.arrive_alone(port, fabric, at, packet, sink);
    }
    switch.serve_busy(Time(window.end.0 - 1), sink)
}

/// Prefetches the ports of arrivals.
#[inline(never)]
fn prefetch_ports<B: Body, D>(switch: &Switch<D>, arrivals: ArrivalsByPort<B>) {
    arrivals.ports().for_each(|port| switch.prefetch_port(port));
}

/// Runs a switch through a window in order of time: with ports that depend on each other, or samples.
#[inline(never)]
fn run_in_order_of_time<B: Body, D: Discipline<Packet<B>>>(
    switch: &mut Switch<D>,
    fabric: &Fabric,
    batch: ArrivalBatch<B>,
    window: &WindowSpan,
    sink: &mut WindowScheduler<B>,
) -> Time {
    let arrivals = match switch.routes(fabric, window.start, window.end) {
        Routes::ByHeader(table, pick) => {
            batch.open_noting(window.end, |packet, _| table.port(&packet.header, pick))
        }
        Routes::ByVisit(table, rng) => {
            batch.open_noting(window.end, |packet, visit| table.sprayed_port(&packet.header, rng, visit))
        }
        Routes::InOrder => return choose_in_order(switch, fabric, batch, window, sink),
    };
    if window.sample_every.is_some() {
        return forward_all(switch, fabric, window, arrivals, sink, |_, _, _, noted| noted);
    }
    for (at, packet, port) in arrivals.with_notes() {
        switch.arrive_lazily(port, fabric, at, packet, sink);
    }
    switch.serve_busy(Time(window.end.0 - 1), sink)
}

/// Runs through a window in which a port depends on earlier arrivals, or forwarding changes. DRILL selects the port
/// itself.
#[inline(never)]
fn choose_in_order<B: Body, D: Discipline<Packet<B>>>(
    switch: &mut Switch<D>,
    fabric: &Fabric,
    batch: ArrivalBatch<B>,
    window: &WindowSpan,
    sink: &mut WindowScheduler<B>,
) -> Time {
    let arrivals = batch.open_noting(window.end, |_, visit| visit.from);
    let choose = |switch: &mut Switch<D>, at, packet: &Packet<B>, from: usize| {
        switch.next_port(fabric, Visit { at, from: from as u32 }, &packet.header) as usize
    };
    forward_all(switch, fabric, window, arrivals, sink, choose)
}

/// Runs through a window; `route` returns the port of each packet from its note, in order of arrival.
#[inline(always)]
fn forward_all<B: Body, D: Discipline<Packet<B>>>(
    switch: &mut Switch<D>,
    fabric: &Fabric,
    window: &WindowSpan,
    arrivals: Arrivals<B>,
    sink: &mut WindowScheduler<B>,
    mut route: impl FnMut(&mut Switch<D>, Time, &Packet<B>, usize) -> usize,
) -> Time {
    let mut tick = window.samples();
    for (at, packet, note) in arrivals.with_notes() {
        while let Some(instant) = tick.next_before(at) {
            switch.serve_busy(instant, sink);
            switch.sample(instant, &mut sink.samples);
        }
        let port = route(switch, at, packet, note);
        switch.arrive_lazily(port, fabric, at, packet, sink);
    }
    while let Some(instant) = tick.next_before(window.end) {
        switch.serve_busy(instant, sink);
        switch.sample(instant, &mut sink.samples);
    }
    let next = switch.serve_busy(Time(window.end.0 - 1), sink);
    window.next_wake(next, || switch.has_reading())
}
