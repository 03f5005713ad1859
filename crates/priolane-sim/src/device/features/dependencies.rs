//! Flow dependencies: a host signals deliveries to the sources of dependent flows, and starts a flow when it has
//! received all signals.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use priolane_core::ids::{FlowId, HostId};
use priolane_core::units::{Span, Time};
use rustc_hash::FxHashMap;

use super::host_feature::{AbortedFlow, Deadline, FeatureContext, FlowEvent, HostFeature, HostMessage};
use crate::device::messages::DependencySignal;
use crate::model::dependencies::FlowDependency;
use crate::model::scenario::Scenario;

/// The dependencies of the flows that start or end at one host.
#[derive(Debug)]
pub(super) struct DependencyTracker {
    host: HostId,
    /// Flows that end here with their dependents, in order.
    dependents: Vec<(FlowId, Dependent)>,
    /// Flows that start here and still wait for signals.
    pending: FxHashMap<FlowId, Pending>,
    /// Flows that start here at a known instant.
    ready: BinaryHeap<Reverse<(Time, FlowId)>>,
}

/// A flow that depends on one that ends here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Dependent {
    flow: FlowId,
    source: HostId,
    delay: Span,
}

/// A flow that waits for signals.
#[derive(Clone, Copy, Debug)]
struct Pending {
    /// Number of missing signals.
    signals: u32,
    /// The earliest start known so far.
    release: Time,
    /// The flow starts before this instant or never.
    until: Time,
}

impl DependencyTracker {
    /// Creates the trackers of all hosts; empty if there are no dependencies.
    pub(super) fn by_host(scenario: &Scenario) -> Vec<Self> {
        if scenario.waits.is_empty() {
            return Vec::new();
        }
        let tracker = |host: u32| Self {
            host: HostId(host as u16),
            dependents: Vec::new(),
            pending: FxHashMap::default(),
            ready: BinaryHeap::new(),
        };
        let mut trackers: Vec<Self> = (0..scenario.topology.hosts).map(tracker).collect();
        for dependency in &scenario.waits {
            let FlowDependency { flow, delay, .. } = *dependency;
            let spec = scenario.flows.at(flow.index());
            let signals = dependency.after.len() as u32;
            let until = dependency.until.unwrap_or(Time::NEVER);
            let pending = Pending { signals, release: spec.start, until };
            trackers[spec.src.index()].pending.insert(flow, pending);
            for &first in &dependency.after {
                let end = scenario.flows.at(first.index()).dst;
                let dependent = Dependent { flow, source: spec.src, delay };
                trackers[end.index()].dependents.push((first, dependent));
            }
        }
        trackers.iter_mut().for_each(|tracker| tracker.dependents.sort_unstable());
        trackers
    }

    /// Processes a signal in flight to this host. Returns when the dependent flow starts, if that is now known.
    fn on_signal(&mut self, signal: &DependencySignal) -> Option<Time> {
        let pending = self.pending.get_mut(&signal.flow)?;
        pending.signals -= 1;
        pending.release = pending.release.max(signal.at);
        let Pending { signals, release, until } = *pending;
        if signals > 0 {
            return None;
        }
        self.pending.remove(&signal.flow);
        if release >= until {
            return None;
        }
        self.ready.push(Reverse((release, signal.flow)));
        Some(release)
    }

    /// Signals the delivery of `flow` to the sources of its dependents.
    fn signal_dependents(&mut self, flow: FlowId, cx: &mut FeatureContext) {
        let from = self.dependents.partition_point(|&(first, _)| first < flow);
        let to = from + self.dependents[from..].partition_point(|&(first, _)| first == flow);
        for i in from..to {
            let Dependent { flow, source, delay } = self.dependents[i].1;
            let signal = DependencySignal { to: source, flow, at: cx.now + delay };
            if source != self.host {
                cx.sink.send_signal(signal);
            } else if let Some(start) = self.on_signal(&signal)
                && cx.flows.size(flow.index()).is_some()
            {
                cx.sink.dependent_scheduled(flow, start);
            }
        }
    }
}

impl HostFeature for DependencyTracker {
    fn on_event(&mut self, event: FlowEvent, cx: &mut FeatureContext) {
        if let FlowEvent::Delivered(flow) = event {
            self.signal_dependents(flow, cx);
        }
    }

    fn on_abort(&mut self, flow: FlowId, _cx: &mut FeatureContext) -> AbortedFlow {
        if self.pending.remove(&flow).is_some() {
            return AbortedFlow::Dependent;
        }
        self.ready.retain(|&Reverse((_, ready))| ready != flow);
        AbortedFlow::Scheduled
    }

    fn on_message(&mut self, message: HostMessage) -> Option<Time> {
        match message {
            HostMessage::Signal(signal) => self.on_signal(signal),
            HostMessage::Thresholds(_) => None,
        }
    }

    fn next_deadline(&self) -> Deadline {
        self.ready.peek().map_or(Deadline::NEVER, |&Reverse(next)| Deadline::start(next))
    }

    fn on_timer(&mut self, cx: &mut FeatureContext) {
        if let Some(Reverse((at, flow))) = self.ready.pop() {
            cx.sink.flow_log().started(flow, at);
        }
    }
}
