//! The end and the progress of a run, for both engines.

use std::ops::ControlFlow;

use priolane_core::units::Time;

use crate::model::dependencies::FlowDependency;
use crate::model::scenario::{Scenario, Stop};
use crate::observe::outcome::Progress;

/// Callback that receives the progress of a run and may stop it.
pub type OnProgress<'a> = &'a mut dyn FnMut(Progress) -> ControlFlow<()>;

/// Counts completed flows and determines when the run ends.
#[derive(Debug)]
pub(crate) struct StopCondition {
    stop: Stop,
    /// Number of finite flows.
    finite: u32,
    /// Number of finite flows without dependencies.
    awaited: u32,
    /// Counts of this part.
    own: CompletionCount,
    /// Counts of the other parts.
    others: CompletionCount,
}

/// Counts of the flows of some nodes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CompletionCount {
    /// Finite dependent flows whose start is known.
    awaited: u32,
    done: u32,
    last_done: Time,
}

impl CompletionCount {
    /// Returns the combined counts.
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

    /// Records that the start of a finite dependent flow is known. Its last dependency is not counted as done before
    /// that.
    pub(crate) fn dependent_scheduled(&mut self) {
        self.own.awaited += 1;
    }

    /// Records the end of a finite flow at `at`.
    pub(crate) fn flow_done(&mut self, at: Time) {
        self.own.done += 1;
        self.own.last_done = self.own.last_done.max(at);
    }

    /// Returns the counts of this part.
    pub(crate) fn own(&self) -> CompletionCount {
        self.own
    }

    /// Sets the counts of the other parts.
    pub(crate) fn set_others(&mut self, others: CompletionCount) {
        self.others = others;
    }

    /// Returns the end of the run as far as it is known: events before it still happen.
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

    /// Returns the progress of the run at `now`.
    pub(crate) fn progress(&self, now: Time) -> Progress {
        Progress { now, completed: self.own.and(self.others).done, total: self.finite }
    }
}
