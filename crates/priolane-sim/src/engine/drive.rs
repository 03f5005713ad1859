//! What both engines do alike: when to stop, when to report, how to collect.

use std::ops::ControlFlow;

use priolane_core::ids::NodeId;
use priolane_core::packet::Body;
use priolane_core::units::Time;

use super::network::Network;
use crate::node::collector::Collector;
use crate::node::fabric::Fabric;
use crate::outcome::{Outcome, Progress, RunError};
use crate::scenario::{Scenario, Stop};
use crate::waits::Wait;

/// Who is told how a run goes, and may end it.
pub type OnProgress<'a> = &'a mut dyn FnMut(Progress) -> ControlFlow<()>;

/// Counts finished flows and knows when the run ends.
#[derive(Debug)]
pub(crate) struct Ending {
    stop: Stop,
    /// Finite flows.
    finite: u32,
    /// Finite flows whose start is known: those that wait are not among them before their news is in.
    awaited: u32,
    pub(crate) done: u32,
    last_done: Time,
}

impl Ending {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let finite = scenario.flows.iter().filter(|f| f.size.is_some()).count() as u32;
        let ends = |wait: &&Wait| scenario.flows[wait.flow.index()].size.is_some();
        let waiting = scenario.waits.iter().filter(ends).count() as u32;
        let awaited = finite - waiting;
        Self { stop: scenario.stop, finite, awaited, done: 0, last_done: Time::ZERO }
    }

    /// A finite flow that waited will start. The flow that it waited for last is not done before that.
    pub(crate) fn flow_awaited(&mut self) {
        self.awaited += 1;
    }

    /// A finite flow ended at `at`.
    pub(crate) fn flow_done(&mut self, at: Time) {
        self.done += 1;
        self.last_done = self.last_done.max(at);
    }

    /// The instant before which everything still happens, as far as is known now.
    pub(crate) fn stop_at(&self) -> Time {
        match self.stop {
            Stop::At(t) => t,
            Stop::WhenDone { grace, not_before, limit } if self.done == self.awaited && self.awaited > 0 => {
                limit.min(not_before.max(self.last_done + grace))
            }
            Stop::WhenDone { limit, .. } => limit,
        }
    }

    /// How far the run is at `now`.
    pub(crate) fn progress(&self, now: Time) -> Progress {
        Progress { now, completed: self.done, total: self.finite }
    }
}

/// Asks the nodes for what they leave and adds what was on links.
pub(crate) fn collect<B: Body>(
    network: &mut Network<B>,
    fabric: &Fabric,
    at: Time,
    engine: &mut dyn FnMut(&mut Collector),
) -> Result<Outcome, RunError> {
    let mut collector = Collector::new(fabric.scenario);
    for node in 0..network.places.len() {
        let (group, i) = network.at(NodeId(node as u32));
        group.finish(i, fabric, at, &mut collector);
    }
    engine(&mut collector);
    let mut outcome = collector.into_outcome();
    outcome.stopped_at = at;
    outcome.ledger.check(at)?;
    Ok(outcome)
}
