//! The wheel engine: one global set of events, every departure one of them.
//!
//! It shares the nodes with the window engine and nothing of its laziness, which makes it the oracle: both
//! must leave the same outcome, to the bit. It is also the better one where the lookahead is tiny.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use priolane_core::ids::NodeId;
use priolane_core::packet::{Body, Packet};
use priolane_core::units::{Span, Time};

use super::control_plane::{ControlPlane, Told};
use super::drive::{Ending, OnProgress, collect};
use super::network::Network;
use super::timing_wheel::{Timed, TimingWheel};
use crate::node::estimator::Posted;
use crate::node::fabric::Fabric;
use crate::outcome::{Outcome, Readings, RunError};
use crate::trace::{Passage, Seen, Tracer};
use crate::waits::News;
use crate::wire::{Arrival, Ingress, Kind, Service, Wire};

/// Events between two reports of progress.
const REPORT_EVERY: u64 = 1 << 18;

/// An instant a node asked for: of a port, or of a host itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wake {
    pub(crate) kind: Kind,
    pub(crate) port: u32,
}

impl Wake {
    /// A host's own instant.
    pub(crate) fn local(kind: Kind) -> Self {
        Self { kind, port: 0 }
    }

    /// A departure at a switch port.
    pub(crate) fn port(port: usize) -> Self {
        Self { kind: Kind::Departure, port: port as u32 }
    }
}

#[derive(Debug)]
enum What<B> {
    Arrive(Packet<B>),
    Wake,
}

/// An event, ordered by (instant, kind, node, entity, counter).
#[derive(Debug)]
struct Event<B> {
    at: Time,
    kind: Kind,
    node: NodeId,
    /// The ingress of an arrival, the port of a departure.
    entity: u32,
    counter: u64,
    what: What<B>,
}

impl<B> Event<B> {
    fn key(&self) -> (Time, Kind, NodeId, u32, u64) {
        (self.at, self.kind, self.node, self.entity, self.counter)
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

impl<B> Timed for Event<B> {
    fn at(&self) -> Time {
        self.at
    }
}

/// The wheel engine as nodes see it.
#[derive(Debug)]
pub(crate) struct EagerWire<B> {
    wheel: TimingWheel<Event<B>>,
    counter: u64,
    /// The node whose event is being handled.
    node: NodeId,
    hosts: u32,
    /// The instant each host has an event for, so that it has one at a time.
    awaited: Vec<(Time, Kind)>,
    control_plane: ControlPlane,
    /// News sent by the event that is being handled.
    news: Vec<News>,
    ending: Ending,
    error: Option<RunError>,
    tracer: Option<Box<Tracer>>,
}

impl<B: Body> Wire<B> for EagerWire<B> {
    const SERVICE: Service = Service::Eager;

    fn emit(&mut self, to: Ingress, at: Time, packet: &Packet<B>, stamp: impl FnOnce(&mut Packet<B>)) {
        let mut packet = *packet;
        stamp(&mut packet);
        self.push(at, Kind::Arrival, (to.node(), to.rank()), What::Arrive(packet));
        if let Some(tracer) = &mut self.tracer {
            tracer.emitted(Passage(self.counter));
        }
    }

    #[inline]
    fn observe<'s>(&mut self, seen: impl FnOnce() -> Seen<'s, B>) {
        if let Some(tracer) = &mut self.tracer {
            tracer.see(seen());
        }
    }

    fn post(&mut self, posted: Posted) {
        self.control_plane.post(posted);
    }

    fn notify(&mut self, news: News) {
        self.news.push(news);
    }

    fn flow_awaited(&mut self) {
        self.ending.flow_awaited();
    }

    fn flow_done(&mut self, at: Time) {
        self.ending.flow_done(at);
    }

    fn violated(&mut self, error: RunError) {
        self.error.get_or_insert(error);
    }
}

impl<B: Body> EagerWire<B> {
    fn push(&mut self, at: Time, kind: Kind, (node, entity): (NodeId, u32), what: What<B>) {
        self.counter += 1;
        self.wheel.push(Event { at, kind, node, entity, counter: self.counter, what });
    }

    /// The node being handled wants to be called at `at`.
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
        self.push(at, wake.kind, (self.node, wake.port), What::Wake);
    }

    /// Whether an event of a host is still the one it waits for.
    fn is_awaited(&mut self, event: &Event<B>) -> Awaited {
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
enum Awaited {
    Yes,
    No,
}

/// Runs the scenario of `fabric` to its end; `tracer` is told what it observes.
pub(crate) fn run<B: Body>(
    network: &mut Network<B>,
    fabric: &mut Fabric,
    tracer: &mut Option<Box<Tracer>>,
    progress: OnProgress,
) -> Result<Outcome, RunError> {
    let scenario = fabric.scenario;
    let nodes = fabric.scenario.topology.nodes();
    let tick_log2 = (scenario.lookahead().0 / 64).max(2).ilog2();
    let mut wire = EagerWire {
        wheel: TimingWheel::new(tick_log2),
        counter: 0,
        node: NodeId(0),
        hosts: scenario.topology.hosts,
        awaited: vec![(Time::NEVER, Kind::Timer); scenario.topology.hosts as usize],
        control_plane: ControlPlane::new(scenario),
        news: Vec::new(),
        ending: Ending::new(scenario),
        error: None,
        tracer: tracer.take(),
    };
    for node in 0..nodes as u32 {
        wire.node = NodeId(node);
        let (group, i) = network.at(NodeId(node));
        let first = group.first(i);
        wire.wake_at(first.at(), Wake::local(first.kind()));
    }
    let mut sampler =
        Sampler { every: scenario.sample_every, next: Time::ZERO, samples: Readings::default() };
    let mut handled = 0u64;
    let mut unhandled = None;
    while let Some(event) = wire.wheel.pop() {
        let stop = wire.ending.stop_at();
        if let Some(news) = wire.control_plane.run_before(event.at.min(stop)) {
            tell_hosts(network, &mut wire, news);
            wire.wheel.push(event);
            continue;
        }
        sampler.sample_before(event.at.min(stop), network);
        if event.at >= stop {
            unhandled = Some(event);
            break;
        }
        handled += 1;
        handle(event, network, fabric, &mut wire);
        while let Some(news) = wire.news.pop() {
            spread(network, fabric, &mut wire, &news);
        }
        if let Some(error) = wire.error.take() {
            return Err(error);
        }
        if handled.is_multiple_of(REPORT_EVERY)
            && progress(wire.ending.progress(stop.min(wire.wheel.now()))) == ControlFlow::Break(())
        {
            return Err(RunError::Interrupted);
        }
    }
    let stop = wire.ending.stop_at();
    sampler.sample_before(stop, network);
    let _ = progress(wire.ending.progress(stop));
    *tracer = wire.tracer.take();
    collect(&mut [network], fabric, stop, &mut |out| {
        for event in wire.wheel.rest().chain(&unhandled) {
            if let What::Arrive(packet) = &event.what {
                out.resident(&packet.header);
            }
        }
        out.outcome().samples = std::mem::take(&mut sampler.samples);
        out.outcome().thresholds = wire.control_plane.history(stop);
        out.outcome().work.events = handled;
    })
}

/// The controller has worked: hosts will be told.
fn tell_hosts<B: Body>(network: &mut Network<B>, wire: &mut EagerWire<B>, news: Vec<Told>) {
    for told in news {
        for host in 0..wire.hosts {
            wire.node = NodeId(host);
            let (group, i) = network.at(NodeId(host));
            group.tell(i, &told);
            wire.wake_at(told.at, Wake::local(Kind::Control));
        }
    }
}

/// A host hears news.
fn spread<B: Body>(network: &mut Network<B>, fabric: &Fabric, wire: &mut EagerWire<B>, news: &News) {
    if let Some(start) = network.hear(fabric, news, wire) {
        wire.node = fabric.scenario.topology.node_of(news.to);
        wire.wake_at(start, Wake::local(Kind::Open));
    }
}

fn handle<B: Body>(event: Event<B>, network: &mut Network<B>, fabric: &Fabric, wire: &mut EagerWire<B>) {
    wire.node = event.node;
    if let Some(tracer) = &mut wire.tracer {
        let arrived = matches!(event.what, What::Arrive(_)).then_some(Passage(event.counter));
        tracer.begin(event.node, event.at, arrived);
    }
    let (group, i) = network.at(event.node);
    match event.what {
        What::Arrive(packet) => {
            let arrival = Arrival { at: event.at, from: event.entity, packet: &packet };
            group.arrive(i, fabric, arrival, wire);
        }
        What::Wake => {
            if wire.is_awaited(&event) == Awaited::Yes {
                group.wake(i, fabric, event.at, Wake { kind: event.kind, port: event.entity }, wire);
            }
        }
    }
}

/// Reads all queues at the sample instants.
#[derive(Debug)]
struct Sampler {
    every: Option<Span>,
    next: Time,
    samples: Readings,
}

impl Sampler {
    /// Samples at every instant before `t`: everything up to it has happened.
    fn sample_before<B: Body>(&mut self, t: Time, network: &mut Network<B>) {
        let Some(every) = self.every else { return };
        while self.next < t {
            for node in 0..network.nodes() {
                let at = self.next;
                let (group, i) = network.at(NodeId(node));
                group.sample(i, at, &mut self.samples);
            }
            self.next += every;
        }
    }
}
