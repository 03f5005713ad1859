//! The end and the progress of a run, for both engines.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use priolane_core::ids::FlowId;
use priolane_core::units::Time;

use crate::model::dependencies::FlowDependency;
use crate::model::scenario::{Awaited, Scenario, Stop};
use crate::observe::outcome::Progress;

/// Callback that receives the progress of a run and may stop it.
pub type OnProgress<'a> = &'a mut dyn FnMut(Progress) -> ControlFlow<()>;

/// Counts completed flows and determines when the run ends.
#[derive(Debug)]
pub(crate) struct StopCondition {
    stop: Stop,
    /// The flows of a limited set that are awaited: those of which the start is known.
    set: Option<FlowSet>,
    /// Number of flows that the progress of the run is relative to: finite ones that are awaited or may become so.
    total: u32,
    /// Number of awaited flows without dependencies.
    awaited: u32,
    /// Counts of this part.
    own: CompletionCount,
    /// Counts of the other parts.
    others: CompletionCount,
}

/// Counts of the flows of some nodes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CompletionCount {
    /// Awaited dependent flows.
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
        let (set, awaited) = match scenario.stop {
            Stop::WhenDone { awaits: Awaited::StartedIn { from, until }, .. } => {
                let set = FlowSet::of_independent(scenario, from, until);
                let count = set.len();
                (Some(set), count)
            }
            Stop::WhenDone { awaits: Awaited::Finite, .. } | Stop::At(_) => (None, finite - waiting),
        };
        Self {
            stop: scenario.stop,
            total: awaited + waiting,
            set,
            awaited,
            own: CompletionCount::default(),
            others: CompletionCount::default(),
        }
    }

    /// Records that a finite dependent flow will start at `start`. Its last dependency is not counted as done before
    /// that.
    pub(crate) fn dependent_scheduled(&mut self, flow: FlowId, start: Time) {
        if self.set.as_mut().is_none_or(|set| set.add(flow, start)) {
            self.own.awaited += 1;
        }
    }

    /// Records the end of a finite flow at `at`.
    pub(crate) fn flow_done(&mut self, flow: FlowId, at: Time) {
        if self.set.as_ref().is_some_and(|set| !set.has(flow)) {
            return;
        }
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
            Stop::WhenDone { grace, not_before, limit, .. } if done == awaited && awaited > 0 => {
                limit.min(not_before.max(last_done + grace))
            }
            // No flow starts in the window.
            Stop::WhenDone { not_before, limit, .. } if self.set.is_some() && done == awaited => {
                limit.min(not_before)
            }
            Stop::WhenDone { limit, .. } => limit,
        }
    }

    /// Returns the progress of the run at `now`.
    pub(crate) fn progress(&self, now: Time) -> Progress {
        Progress { now, completed: self.own.and(self.others).done, total: self.total }
    }
}

/// The flows of a run that start in `[from, until)`, a bit per flow.
#[derive(Debug)]
struct FlowSet {
    from: Time,
    until: Time,
    bits: Vec<u64>,
}

impl FlowSet {
    /// Returns the finite flows without dependencies that start in `[from, until)`.
    fn of_independent(scenario: &Scenario, from: Time, until: Time) -> Self {
        let mut set = Self { from, until, bits: vec![0; scenario.flows.len().div_ceil(64)] };
        let waiting: BTreeSet<FlowId> = scenario.waits.iter().map(|wait| wait.flow).collect();
        for flow in &scenario.flows {
            if flow.size.is_some() && !waiting.contains(&flow.id) {
                set.add(flow.id, flow.start);
            }
        }
        set
    }

    /// Adds a flow that starts at `start`, and returns whether that is in the window.
    fn add(&mut self, flow: FlowId, start: Time) -> bool {
        let inside = (self.from..self.until).contains(&start);
        if inside {
            self.bits[flow.index() / 64] |= 1 << (flow.index() % 64);
        }
        inside
    }

    fn has(&self, flow: FlowId) -> bool {
        self.bits[flow.index() / 64] >> (flow.index() % 64) & 1 == 1
    }

    fn len(&self) -> u32 {
        self.bits.iter().map(|bits| bits.count_ones()).sum()
    }
}
