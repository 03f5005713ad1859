//! The wheel engine: one global set of events, every departure one of them.
//!
//! It shares the nodes with the window engine and nothing of its laziness, which makes it the oracle: both
//! must leave the same outcome, to the bit. It is also the better one where the lookahead is tiny.

use std::ops::ControlFlow;

use priolane_core::ids::NodeId;
use priolane_core::packet::Body;
use priolane_core::units::{Span, Time};

use super::scheduler::{Awaited, Event, Wake, What, WheelScheduler};
use crate::device::event_sink::{Arrival, Kind};
use crate::device::fabric::Fabric;
use crate::device::features::HostMessage;
use crate::device::messages::{DependencySignal, ThresholdUpdate};
use crate::engine::collect::collect;
use crate::engine::network::Network;
use crate::engine::stop::OnProgress;
use crate::observe::completion_log::FlowLog;
use crate::observe::outcome::{Outcome, Readings, RunError};
use crate::observe::trace::{Passage, Tracer};

/// Events between two reports of progress.
const REPORT_EVERY: u64 = 1 << 18;

/// Runs the scenario of `fabric` to its end; `tracer` is told what it observes.
pub(crate) fn run<B: Body>(
    network: &mut Network<B>,
    fabric: &Fabric,
    tracer: &mut Option<Box<Tracer>>,
    progress: OnProgress,
) -> Result<Outcome, RunError> {
    let scenario = fabric.scenario;
    let nodes = fabric.scenario.topology.nodes();
    let log = FlowLog::by_part(scenario, 1).swap_remove(0);
    let mut wire = WheelScheduler::new(scenario, log, tracer.take());
    for node in 0..nodes as u32 {
        wire.node = NodeId(node);
        let (group, i) = network.at(NodeId(node));
        let first = group.first_event(i);
        wire.wake_at(first.at(), Wake::local(first.kind()));
    }
    let mut sampler =
        Sampler { every: scenario.sample_every, next: Time::ZERO, samples: Readings::default() };
    let mut handled = 0u64;
    let mut unhandled = None;
    while let Some(event) = wire.wheel.pop() {
        let stop = wire.stop.stop_at();
        if let Some(updates) = wire.control_plane.run_before(event.at.min(stop)) {
            deliver_thresholds(network, &mut wire, updates);
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
        while let Some(signal) = wire.signals.pop() {
            deliver(network, fabric, &mut wire, &signal);
        }
        if let Some(error) = wire.error.take() {
            return Err(error);
        }
        if handled.is_multiple_of(REPORT_EVERY)
            && progress(wire.stop.progress(stop.min(wire.wheel.now()))) == ControlFlow::Break(())
        {
            return Err(RunError::Interrupted);
        }
    }
    let stop = wire.stop.stop_at();
    sampler.sample_before(stop, network);
    let _ = progress(wire.stop.progress(stop));
    *tracer = wire.tracer.take();
    let logs = vec![std::mem::take(&mut wire.log)];
    collect(&mut [network], fabric, stop, logs, &mut |out| {
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

/// The controller has new thresholds for all hosts.
fn deliver_thresholds<B: Body>(
    network: &mut Network<B>,
    wire: &mut WheelScheduler<B>,
    updates: Vec<ThresholdUpdate>,
) {
    for update in updates {
        for host in 0..wire.hosts {
            wire.node = NodeId(host);
            let (group, i) = network.at(NodeId(host));
            group.on_message(i, HostMessage::Thresholds(&update));
            wire.wake_at(update.at, Wake::local(Kind::Control));
        }
    }
}

/// A signal is on its way to its host.
fn deliver<B: Body>(
    network: &mut Network<B>,
    fabric: &Fabric,
    wire: &mut WheelScheduler<B>,
    signal: &DependencySignal,
) {
    if let Some(start) = network.signal(fabric, signal, wire) {
        wire.node = fabric.scenario.topology.node_of(signal.to);
        wire.wake_at(start, Wake::local(Kind::Open));
    }
}

fn handle<B: Body>(event: Event<B>, network: &mut Network<B>, fabric: &Fabric, wire: &mut WheelScheduler<B>) {
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
