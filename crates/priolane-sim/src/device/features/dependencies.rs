//! Dependent work: a host signals deliveries to the hosts of dependent flows and steps, and starts work when it has
//! received all signals.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use priolane_core::ids::{FlowId, HostId};
use priolane_core::units::{Span, Time};
use rustc_hash::FxHashMap;

use super::host_feature::{
    AbortedFlow, Deadline, FeatureContext, FlowEvent, HostFeature, HostMessage, OnScheduled,
};
use crate::device::messages::DependencySignal;
use crate::model::dependencies::{Predecessor, StepId, Work};
use crate::model::scenario::Scenario;

/// The dependencies of the flows that start or end at one host, and of its steps.
#[derive(Debug)]
pub(super) struct DependencyTracker {
    host: HostId,
    /// Flows that end here and steps of this host with their dependents, in order.
    dependents: Vec<(Work, Dependent)>,
    /// Work of this host that still waits for signals.
    pending: FxHashMap<Work, Pending>,
    /// Flows that start here at a known instant.
    ready: BinaryHeap<Reverse<(Time, FlowId)>>,
    /// Signals within this host that are not processed yet; empty between calls.
    within: Vec<(Work, Time)>,
}

/// Work that depends on a flow that ends here or on a step of this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Dependent {
    work: Work,
    host: HostId,
    delay: Span,
}

/// Work that waits for signals.
#[derive(Clone, Copy, Debug)]
struct Pending {
    /// Number of missing signals.
    signals: u32,
    /// The earliest start known so far.
    release: Time,
    /// The work starts before this instant or never.
    until: Time,
    /// Duration of a step; zero for a flow.
    takes: Span,
}

impl DependencyTracker {
    /// Creates the trackers of all hosts; empty if there are no dependencies.
    pub(super) fn by_host(scenario: &Scenario) -> Vec<Self> {
        if scenario.waits.is_empty() && scenario.steps.is_empty() {
            return Vec::new();
        }
        let tracker = |host: u32| Self {
            host: HostId(host as u16),
            dependents: Vec::new(),
            pending: FxHashMap::default(),
            ready: BinaryHeap::new(),
            within: Vec::new(),
        };
        let mut trackers: Vec<Self> = (0..scenario.topology.hosts).map(tracker).collect();
        for wait in &scenario.waits {
            let spec = scenario.flows.at(wait.flow.index());
            let until = wait.until.unwrap_or(Time::NEVER);
            let pending = Pending { signals: 0, release: spec.start, until, takes: Span::ZERO };
            Self::add(&mut trackers, scenario, Work::Flow(wait.flow), spec.src, pending, &wait.after);
        }
        for (step, number) in scenario.steps.iter().zip(0..).filter(|(step, _)| !step.after.is_empty()) {
            let until = Time::NEVER;
            let pending = Pending { signals: 0, release: step.start, until, takes: step.takes };
            Self::add(&mut trackers, scenario, Work::Step(StepId(number)), step.host, pending, &step.after);
        }
        trackers.iter_mut().for_each(|tracker| tracker.dependents.sort_unstable());
        trackers
    }

    /// Adds work of `host` to the trackers of that host and of the hosts where its predecessors end.
    fn add(
        trackers: &mut [Self],
        scenario: &Scenario,
        work: Work,
        host: HostId,
        pending: Pending,
        after: &[Predecessor],
    ) {
        let signals = after.len() as u32;
        trackers[host.index()].pending.insert(work, Pending { signals, ..pending });
        for &Predecessor { work: first, delay } in after {
            let end = match first {
                Work::Flow(flow) => scenario.flows.at(flow.index()).dst,
                Work::Step(_) => host,
            };
            trackers[end.index()].dependents.push((first, Dependent { work, host, delay }));
        }
    }

    /// Processes the signals within this host, and those that they cause. Calls `scheduled` with each dependent flow whose
    /// start is now known.
    fn settle(&mut self, scheduled: OnScheduled) {
        while let Some((work, at)) = self.within.pop() {
            let Some(pending) = self.pending.get_mut(&work) else { continue };
            pending.signals -= 1;
            pending.release = pending.release.max(at);
            let Pending { signals, release, until, takes } = *pending;
            if signals > 0 {
                continue;
            }
            self.pending.remove(&work);
            match work {
                Work::Flow(flow) if release < until => {
                    self.ready.push(Reverse((release, flow)));
                    scheduled(flow, release);
                }
                Work::Flow(_) => {}
                Work::Step(_) => {
                    let end = later(release, takes);
                    for i in self.dependents_of(work) {
                        // A step has dependents in its own host only.
                        let Dependent { work, delay, .. } = self.dependents[i].1;
                        self.within.push((work, later(end, delay)));
                    }
                }
            }
        }
    }

    /// Returns the indices of the dependents of `work`.
    fn dependents_of(&self, work: Work) -> std::ops::Range<usize> {
        let from = self.dependents.partition_point(|&(first, _)| first < work);
        let count = self.dependents[from..].partition_point(|&(first, _)| first == work);
        from..from + count
    }

    /// Signals the delivery of `flow` to the hosts of its dependents.
    fn signal_dependents(&mut self, flow: FlowId, cx: &mut FeatureContext) {
        for i in self.dependents_of(Work::Flow(flow)) {
            let Dependent { work, host, delay } = self.dependents[i].1;
            if host == self.host {
                self.within.push((work, cx.now + delay));
            } else {
                cx.sink.send_signal(DependencySignal { to: host, work, at: cx.now + delay });
            }
        }
        let (flows, sink) = (cx.flows, &mut cx.sink);
        self.settle(&mut |flow, start| {
            if flows.size(flow.index()).is_some() {
                sink.dependent_scheduled(flow, start);
            }
        });
    }
}

/// Returns `at + span`, or [`Time::NEVER`] if no run lasts as long.
fn later(at: Time, span: Span) -> Time {
    Time(at.0.saturating_add(span.0))
}

impl HostFeature for DependencyTracker {
    fn on_event(&mut self, event: FlowEvent, cx: &mut FeatureContext) {
        if let FlowEvent::Delivered(flow) = event {
            self.signal_dependents(flow, cx);
        }
    }

    fn on_abort(&mut self, flow: FlowId, _cx: &mut FeatureContext) -> AbortedFlow {
        if self.pending.remove(&Work::Flow(flow)).is_some() {
            return AbortedFlow::Dependent;
        }
        self.ready.retain(|&Reverse((_, ready))| ready != flow);
        AbortedFlow::Scheduled
    }

    fn on_message(&mut self, message: HostMessage, scheduled: OnScheduled) {
        if let HostMessage::Signal(signal) = message {
            self.within.push((signal.work, signal.at));
            self.settle(scheduled);
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
