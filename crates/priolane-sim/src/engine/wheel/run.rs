//! The wheel engine: one global event queue with an event for every departure.
//!
//! It shares the nodes with the window engine, but none of its lazy service. It is therefore the reference: both
//! engines must produce the same outcome, to the bit. It is also faster if the lookahead is tiny.

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

/// Events between two progress reports.
const REPORT_EVERY: u64 = 1 << 18;

/// Runs the scenario of `fabric` to its end; `tracer` receives trace events.
pub(crate) fn run<B: Body>(
    network: &mut Network<B>,
    fabric: &Fabric,
    tracer: &mut Option<Box<Tracer>>,
    progress: OnProgress,
) -> Result<Outcome, RunError> {
    let scenario = fabric.scenario;
    let nodes = fabric.scenario.topology.nodes();
    let log = FlowLog::by_part(scenario, 1).swap_remove(0);
    let mut sink = WheelScheduler::new(scenario, log, tracer.take());
    for node in 0..nodes as u32 {
        sink.node = NodeId(node);
        let (group, i) = network.at(NodeId(node));
        let first = group.first_event(i);
        sink.wake_at(first.at(), Wake::local(first.kind()));
    }
    let mut sampler =
        Sampler { every: scenario.sample_every, next: Time::ZERO, samples: Readings::default() };
    let mut handled = 0u64;
    let mut unhandled = None;
    while let Some(event) = sink.wheel.pop() {
        let stop = sink.stop.stop_at();
        if let Some(updates) = sink.control_plane.run_before(event.at.min(stop)) {
            deliver_thresholds(network, &mut sink, updates);
            sink.wheel.push(event);
            continue;
        }
        sampler.sample_before(event.at.min(stop), network);
        if event.at >= stop {
            unhandled = Some(event);
            break;
        }
        handled += 1;
        handle(event, network, fabric, &mut sink);
        while let Some(signal) = sink.signals.pop() {
            deliver(network, fabric, &mut sink, &signal);
        }
        if let Some(error) = sink.error.take() {
            return Err(error);
        }
        if handled.is_multiple_of(REPORT_EVERY)
            && progress(sink.stop.progress(stop.min(sink.wheel.now()))) == ControlFlow::Break(())
        {
            return Err(RunError::Interrupted);
        }
    }
    let stop = sink.stop.stop_at();
    sampler.sample_before(stop, network);
    let _ = progress(sink.stop.progress(stop));
    *tracer = sink.tracer.take();
    let logs = vec![std::mem::take(&mut sink.log)];
    collect(&mut [network], fabric, stop, logs, &mut |out| {
        for event in sink.wheel.rest().chain(&unhandled) {
            if let What::Arrive(packet) = &event.what {
                out.resident(&packet.header);
            }
        }
        out.outcome().samples = std::mem::take(&mut sampler.samples);
        out.outcome().thresholds = sink.control_plane.history(stop);
        out.outcome().work.events = handled;
    })
}

/// Delivers new thresholds of the controller to all hosts.
fn deliver_thresholds<B: Body>(
    network: &mut Network<B>,
    sink: &mut WheelScheduler<B>,
    updates: Vec<ThresholdUpdate>,
) {
    for update in updates {
        for host in 0..sink.hosts {
            sink.node = NodeId(host);
            let (group, i) = network.at(NodeId(host));
            group.on_message(i, HostMessage::Thresholds(&update), &mut |_, _| ());
            sink.wake_at(update.at, Wake::local(Kind::Control));
        }
    }
}

/// Sends a signal to its host.
fn deliver<B: Body>(
    network: &mut Network<B>,
    fabric: &Fabric,
    sink: &mut WheelScheduler<B>,
    signal: &DependencySignal,
) {
    if let Some(start) = network.signal(fabric, signal, sink) {
        sink.node = fabric.scenario.topology.node_of(signal.to);
        sink.wake_at(start, Wake::local(Kind::Open));
    }
}

fn handle<B: Body>(event: Event<B>, network: &mut Network<B>, fabric: &Fabric, sink: &mut WheelScheduler<B>) {
    sink.node = event.node;
    if let Some(tracer) = &mut sink.tracer {
        let arrived = matches!(event.what, What::Arrive(_)).then_some(Passage(event.counter));
        tracer.begin(event.node, event.at, arrived);
    }
    let (group, i) = network.at(event.node);
    match event.what {
        What::Arrive(packet) => {
            let arrival = Arrival { at: event.at, from: event.entity, packet: &packet };
            group.arrive(i, fabric, arrival, sink);
        }
        What::Wake => {
            if sink.is_awaited(&event) == Awaited::Yes {
                group.wake(i, fabric, event.at, Wake { kind: event.kind, port: event.entity }, sink);
            }
        }
    }
}

/// Samples all queues at the sample instants.
#[derive(Debug)]
struct Sampler {
    every: Option<Span>,
    next: Time,
    samples: Readings,
}

impl Sampler {
    /// Takes all samples before `t`: all events up to them have happened.
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
