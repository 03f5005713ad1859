//! Nodes as driven by the wheel engine: event by event.

use priolane_core::endpoint::Endpoint;
use priolane_core::packet::{Body, Packet};
use priolane_core::port::Discipline;
use priolane_core::units::Time;

use super::scheduler::{Wake, WheelScheduler};
use crate::device::event_sink::{Arrival, EventKey};
use crate::device::fabric::Fabric;
use crate::device::host::Host;
use crate::device::lossless::LosslessSwitch;
use crate::device::port::{Port, Started};
use crate::device::switch::Switch;
use crate::observe::outcome::Readings;

/// A group of nodes driven by the wheel engine; `i` is the index of a node in its group.
pub(crate) trait EventNodes<B: Body> {
    /// Handles the arrival of a packet at node `i`.
    fn arrive(&mut self, i: usize, fabric: &Fabric, arrival: Arrival<B>, sink: &mut WheelScheduler<B>);

    /// Handles an event that node `i` scheduled.
    fn wake(&mut self, i: usize, fabric: &Fabric, now: Time, wake: Wake, sink: &mut WheelScheduler<B>);

    /// Samples the ports of node `i`.
    fn sample(&mut self, i: usize, at: Time, samples: &mut Readings);
}

impl<B: Body, D: Discipline<Packet<B>>> EventNodes<B> for Vec<Switch<D>> {
    fn arrive(&mut self, i: usize, fabric: &Fabric, arrival: Arrival<B>, sink: &mut WheelScheduler<B>) {
        let now = arrival.at;
        let touched = self[i].arrive_eagerly(fabric, arrival, sink);
        for (port, started) in touched.into_iter().flatten() {
            let egress = &self[i].ports[port];
            match started {
                Started::Yes => sink.wake_at(egress.line.free_at, Wake::port(port)),
                Started::No => wake_limited(egress, now, Wake::port(port), sink),
            }
        }
    }

    fn wake(&mut self, i: usize, _fabric: &Fabric, now: Time, wake: Wake, sink: &mut WheelScheduler<B>) {
        let started = self[i].depart(wake.port as usize, now, sink);
        let egress = &self[i].ports[wake.port as usize];
        match started {
            Started::Yes => sink.wake_at(egress.line.free_at, wake),
            Started::No => wake_limited(egress, now, wake, sink),
        }
    }

    fn sample(&mut self, i: usize, at: Time, samples: &mut Readings) {
        self[i].sample(at, samples);
    }
}

impl<B: Body> EventNodes<B> for Vec<LosslessSwitch<B>> {
    fn arrive(&mut self, i: usize, fabric: &Fabric, arrival: Arrival<B>, sink: &mut WheelScheduler<B>) {
        self[i].arrive(fabric, arrival, sink);
        wake_all(&mut self[i], sink);
    }

    fn wake(&mut self, i: usize, _fabric: &Fabric, now: Time, wake: Wake, sink: &mut WheelScheduler<B>) {
        self[i].depart(wake.port as usize, now, sink);
        wake_all(&mut self[i], sink);
    }

    fn sample(&mut self, i: usize, at: Time, samples: &mut Readings) {
        self[i].sample(at, samples);
    }
}

/// Schedules an event for each port of the switch that has work and a busy link.
fn wake_all<B: Body>(switch: &mut LosslessSwitch<B>, sink: &mut WheelScheduler<B>) {
    while let Some((at, port)) = switch.pop_next() {
        sink.wake_at(at, Wake::port(port as usize));
    }
}

impl<E: Endpoint> EventNodes<E::Body> for Vec<Host<E>> {
    fn arrive(
        &mut self,
        i: usize,
        fabric: &Fabric,
        Arrival { at: now, packet, .. }: Arrival<E::Body>,
        sink: &mut WheelScheduler<E::Body>,
    ) {
        self[i].arrive(fabric, now, packet, sink);
        let next = self[i].next_event();
        sink.wake_at(next.at(), Wake::local(next.kind()));
    }

    fn wake(&mut self, i: usize, fabric: &Fabric, now: Time, wake: Wake, sink: &mut WheelScheduler<E::Body>) {
        let host = &mut self[i];
        // The event may have been rescheduled since; then this one only schedules the new event.
        if host.next_event() == EventKey::new(now, wake.kind) {
            host.run_event(fabric, now, wake.kind, sink);
        }
        let next = host.next_event();
        sink.wake_at(next.at(), Wake::local(next.kind()));
    }

    fn sample(&mut self, i: usize, at: Time, samples: &mut Readings) {
        self[i].sample(at, samples);
    }
}

/// Schedules the next service of a port whose discipline delays packets while the link is idle.
fn wake_limited<B: Body, D: Discipline<Packet<B>>>(
    port: &Port<D>,
    now: Time,
    wake: Wake,
    sink: &mut WheelScheduler<B>,
) {
    if port.line.free_at <= now
        && let Some(service) = port.next_service()
    {
        sink.wake_at(service, wake);
    }
}
