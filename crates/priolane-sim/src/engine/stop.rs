//! When a run ends, and how far it is: the same for both engines.

use std::ops::ControlFlow;

use priolane_core::units::Time;

use crate::model::dependencies::FlowDependency;
use crate::model::scenario::{Scenario, Stop};
use crate::observe::outcome::Progress;

/// Who is told how a run goes, and may end it.
pub type OnProgress<'a> = &'a mut dyn FnMut(Progress) -> ControlFlow<()>;

/// CompletionCounts finished flows and knows when the run ends.
#[derive(Debug)]
pub(crate) struct StopCondition {
    stop: Stop,
    /// Finite flows.
    finite: u32,
    /// Finite flows that wait for no other.
    awaited: u32,
    /// What the nodes of this part told.
    own: CompletionCount,
    /// What those of other parts told.
    others: CompletionCount,
}

/// Flows of some nodes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CompletionCount {
    /// Finite flows that waited and whose start is known now.
    awaited: u32,
    done: u32,
    last_done: Time,
}

impl CompletionCount {
    /// Both together.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            awaited: self.awaited + other.awaited,
            done: self.done + other.done,
            last_done: self.last_done.max(other.last_done),
        }
    }
}

impl StopCondition {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let finite = scenario.flows.iter().filter(|f| f.size.is_some()).count() as u32;
        let ends = |wait: &&FlowDependency| scenario.flows.size(wait.flow.index()).is_some();
        let waiting = scenario.waits.iter().filter(ends).count() as u32;
        let awaited = finite - waiting;
        Self {
            stop: scenario.stop,
            finite,
            awaited,
            own: CompletionCount::default(),
            others: CompletionCount::default(),
        }
    }

    /// A finite flow that waited will start. The flow that it waited for last is not done before that.
    pub(crate) fn dependent_scheduled(&mut self) {
        self.own.awaited += 1;
    }

    /// A finite flow ended at `at`.
    pub(crate) fn flow_done(&mut self, at: Time) {
        self.own.done += 1;
        self.own.last_done = self.own.last_done.max(at);
    }

    /// What the nodes of this part told so far.
    pub(crate) fn own(&self) -> CompletionCount {
        self.own
    }

    /// What those of other parts told so far.
    pub(crate) fn told(&mut self, others: CompletionCount) {
        self.others = others;
    }

    /// The instant before which everything still happens, as far as is known now.
    pub(crate) fn stop_at(&self) -> Time {
        let CompletionCount { awaited, done, last_done } = self.own.and(self.others);
        let awaited = self.awaited + awaited;
        match self.stop {
            Stop::At(t) => t,
            Stop::WhenDone { grace, not_before, limit } if done == awaited && awaited > 0 => {
                limit.min(not_before.max(last_done + grace))
            }
            Stop::WhenDone { limit, .. } => limit,
        }
    }

    /// How far the run is at `now`.
    pub(crate) fn progress(&self, now: Time) -> Progress {
        Progress { now, completed: self.own.and(self.others).done, total: self.finite }
    }
}
