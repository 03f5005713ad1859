//! The wheel engine's interface to nodes: one global event queue.

use std::cmp::Ordering;

use priolane_core::ids::{FlowId, NodeId};
use priolane_core::packet::{Body, Packet};
use priolane_core::units::Time;

use super::timing_wheel::{Timestamped, TimingWheel};
use crate::device::event_sink::{ControlSink, EventSink, Ingress, Kind, Service};
use crate::device::messages::{DependencySignal, ScheduledReport};
use crate::device::tie_order::TieOrder;
use crate::engine::control_plane::ControlPlane;
use crate::engine::stop::StopCondition;
use crate::model::scenario::Scenario;
use crate::observe::completion_log::FlowLog;
use crate::observe::outcome::RunError;
use crate::observe::trace::{Passage, TraceEvent, Tracer};

/// An instant requested by a port, or by a host itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wake {
    pub(crate) kind: Kind,
    pub(crate) port: u32,
}

impl Wake {
    /// Requests an instant for the host itself.
    pub(crate) fn local(kind: Kind) -> Self {
        Self { kind, port: 0 }
    }

    /// Requests a departure at a switch port.
    pub(crate) fn port(port: usize) -> Self {
        Self { kind: Kind::Departure, port: port as u32 }
    }
}

#[derive(Debug)]
pub(super) enum What<B> {
    Arrive(Packet<B>),
    Wake,
}

/// An event, ordered by (time, kind, node, place, entity, counter).
#[derive(Debug)]
pub(super) struct Event<B> {
    pub(super) at: Time,
    pub(super) kind: Kind,
    pub(super) node: NodeId,
    /// The place of an arrival among those of its instant.
    pub(super) place: u64,
    /// The ingress of an arrival, or the port of a departure.
    pub(super) entity: u32,
    pub(super) counter: u64,
    pub(super) what: What<B>,
}

impl<B> Event<B> {
    fn key(&self) -> (Time, Kind, NodeId, u64, u32, u64) {
        (self.at, self.kind, self.node, self.place, self.entity, self.counter)
    }
}

impl<B> PartialEq for Event<B> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<B> Eq for Event<B> {}

impl<B> PartialOrd for Event<B> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<B> Ord for Event<B> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl<B> Timestamped for Event<B> {
    fn at(&self) -> Time {
        self.at
    }
}

/// The wheel engine's interface to nodes.
#[derive(Debug)]
pub(crate) struct WheelScheduler<B> {
    pub(super) wheel: TimingWheel<Event<B>>,
    pub(super) counter: u64,
    /// The node whose event is being handled.
    pub(super) node: NodeId,
    pub(super) hosts: u32,
    /// The scheduled event of each host, which has only one at a time.
    pub(super) awaited: Vec<(Time, Kind)>,
    pub(super) control_plane: ControlPlane,
    /// Signals sent by the current event.
    pub(super) signals: Vec<DependencySignal>,
    pub(super) stop: StopCondition,
    pub(super) log: FlowLog,
    pub(super) error: Option<RunError>,
    pub(super) tracer: Option<Box<Tracer>>,
    ties: TieOrder,
}

/// The place where an event happens.
struct Location {
    node: NodeId,
    entity: u32,
    place: u64,
}

impl<B: Body> EventSink<B> for WheelScheduler<B> {
    const SERVICE: Service = Service::Eager;

    fn emit(&mut self, to: Ingress, at: Time, packet: &Packet<B>, stamp: impl FnOnce(&mut Packet<B>)) {
        let mut packet = *packet;
        stamp(&mut packet);
        let (node, entity) = (to.node(), to.rank());
        let place = self.ties.place((at, node), entity, packet.header.class);
        self.push(at, Kind::Arrival, Location { node, entity, place }, What::Arrive(packet));
        if let Some(tracer) = &mut self.tracer {
            tracer.emitted(Passage(self.counter));
        }
    }

    #[inline]
    fn observe<'s>(&mut self, seen: impl FnOnce() -> TraceEvent<'s, B>) {
        if let Some(tracer) = &mut self.tracer {
            tracer.see(seen());
        }
    }
}

impl<B: Body> ControlSink for WheelScheduler<B> {
    fn flow_log(&mut self) -> &mut FlowLog {
        &mut self.log
    }

    fn send_report(&mut self, report: ScheduledReport) {
        self.control_plane.post(report);
    }

    fn send_signal(&mut self, signal: DependencySignal) {
        self.signals.push(signal);
    }

    fn dependent_scheduled(&mut self, flow: FlowId, start: Time) {
        self.stop.dependent_scheduled(flow, start);
    }

    fn flow_done(&mut self, flow: FlowId, at: Time) {
        self.stop.flow_done(flow, at);
    }

    fn violated(&mut self, error: RunError) {
        self.error.get_or_insert(error);
    }
}

impl<B: Body> WheelScheduler<B> {
    /// Creates a scheduler without events at time zero; `log` records flows.
    pub(super) fn new(scenario: &Scenario, log: FlowLog, tracer: Option<Box<Tracer>>) -> Self {
        let tick_log2 = (scenario.lookahead().0 / 64).max(2).ilog2();
        Self {
            wheel: TimingWheel::new(tick_log2),
            counter: 0,
            node: NodeId(0),
            hosts: scenario.topology.hosts,
            awaited: vec![(Time::NEVER, Kind::Timer); scenario.topology.hosts as usize],
            control_plane: ControlPlane::new(scenario),
            signals: Vec::new(),
            stop: StopCondition::new(scenario),
            log,
            error: None,
            tracer,
            ties: TieOrder::new(scenario.seed),
        }
    }

    fn push(&mut self, at: Time, kind: Kind, location: Location, what: What<B>) {
        let Location { node, entity, place } = location;
        self.counter += 1;
        self.wheel.push(Event { at, kind, node, place, entity, counter: self.counter, what });
    }

    /// Schedules an event of the current node at `at`.
    pub(crate) fn wake_at(&mut self, at: Time, wake: Wake) {
        if at == Time::NEVER {
            return;
        }
        if self.node.0 < self.hosts {
            let awaited = &mut self.awaited[self.node.index()];
            if (at, wake.kind) >= *awaited {
                return;
            }
            *awaited = (at, wake.kind);
        }
        let location = Location { node: self.node, entity: wake.port, place: 0 };
        self.push(at, wake.kind, location, What::Wake);
    }

    /// Returns whether an event of a host is still current, and clears it.
    pub(super) fn is_awaited(&mut self, event: &Event<B>) -> Awaited {
        if event.node.0 >= self.hosts {
            return Awaited::Yes;
        }
        let awaited = &mut self.awaited[event.node.index()];
        if (event.at, event.kind) != *awaited {
            return Awaited::No;
        }
        *awaited = (Time::NEVER, Kind::Timer);
        Awaited::Yes
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Awaited {
    Yes,
    No,
}
