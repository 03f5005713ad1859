//! The schedule of a host: flow starts, control messages and timers of features.

use priolane_core::endpoint::{Control, FlowSpec};
use priolane_core::flows::FlowList;
use priolane_core::ids::FlowId;
use priolane_core::units::Time;

use crate::device::event_sink::{EventKey, Kind};
use crate::device::features::{Deadline, FeatureContext, Features, StartDecision};
use crate::model::scenario::ScheduledControl;

/// The scheduled instants of a host.
#[derive(Debug)]
pub(super) struct HostSchedule {
    pub(super) starts: FlowStarts,
    /// Control messages that the experiment schedules, in order of time.
    controls: Vec<ScheduledControl>,
    /// Index of the first message that has not taken effect.
    next_control: usize,
    /// Flows that will be aborted and have not ended yet.
    pending_aborts: Vec<FlowId>,
    pub(super) features: Features,
}

/// Flows that start at their times in the flow list, in order.
#[derive(Debug, Default)]
pub(super) struct FlowStarts {
    /// Indices in the flow list.
    flows: Vec<u32>,
    /// The number of the flows that have started.
    opened: usize,
    /// The time at which the next flow starts, if there is one.
    start: Time,
}

impl FlowStarts {
    /// Reserves capacity for `flows` planned flows.
    pub(super) fn expect(&mut self, flows: usize) {
        self.flows.reserve_exact(flows);
    }

    /// Adds a flow that starts after all others.
    pub(super) fn plan(&mut self, start: Time, flow: u32) {
        if self.opened == self.flows.len() {
            self.start = start;
        }
        self.flows.push(flow);
    }

    /// Returns the next flow, and when it starts.
    fn next(&self) -> Option<(Time, u32)> {
        self.flows.get(self.opened).map(|&flow| (self.start, flow))
    }

    /// Advances to the flow after the next one, which starts.
    fn open(&mut self, list: &FlowList) {
        self.opened += 1;
        self.look_up(list);
    }

    /// Removes a flow that has not started.
    pub(super) fn cancel(&mut self, flow: FlowId, list: &FlowList) {
        if let Some(ahead) = self.flows[self.opened..].iter().position(|&planned| planned == flow.0) {
            self.flows.remove(self.opened + ahead);
            self.look_up(list);
        }
    }

    fn look_up(&mut self, list: &FlowList) {
        if let Some(&next) = self.flows.get(self.opened) {
            self.start = list.start(next as usize);
        }
    }
}

impl HostSchedule {
    /// Creates a schedule without flows and control messages.
    pub(super) fn new(features: Features) -> Self {
        Self {
            starts: FlowStarts::default(),
            controls: Vec::new(),
            next_control: 0,
            pending_aborts: Vec::new(),
            features,
        }
    }

    /// Adds a control message that takes effect after all others.
    pub(super) fn plan_control(&mut self, control: ScheduledControl) {
        self.controls.push(control);
        if control.control == Control::Abort && !self.pending_aborts.contains(&control.flow) {
            self.pending_aborts.push(control.flow);
        }
    }

    /// Returns the next event.
    pub(super) fn next(&self) -> EventKey {
        let control = self.controls.get(self.next_control);
        let control = control.map_or(EventKey::NEVER, |control| EventKey::new(control.at, Kind::Control));
        let start = self.planned_start().due;
        self.features
            .iter()
            .map(|feature| feature.next_deadline().due)
            .fold(control.min(start), EventKey::min)
    }

    /// Removes and returns the next control message if it is due by `now`.
    pub(super) fn take_control(&mut self, now: Time) -> Option<ScheduledControl> {
        let control = self.controls.get(self.next_control).copied().filter(|control| control.at <= now)?;
        self.next_control += 1;
        Some(control)
    }

    /// Marks `flow` as ended. Returns whether it was to be aborted and had not ended before.
    pub(super) fn end(&mut self, flow: FlowId) -> PendingAbort {
        match self.pending_aborts.iter().position(|&pending| pending == flow) {
            Some(i) => {
                self.pending_aborts.swap_remove(i);
                PendingAbort::Yes
            }
            None => PendingAbort::No,
        }
    }

    /// Runs the first feature with a timer at `cx.now`.
    pub(super) fn run_timer(&mut self, cx: &mut FeatureContext) {
        let timer = Deadline::timer(cx.now);
        if let Some(feature) = self.features.iter_mut().find(|feature| feature.next_deadline() <= timer) {
            feature.on_timer(cx);
        }
    }

    /// Returns the flow that starts now, with the class and weights that features assign; `None` if it is delayed.
    pub(super) fn open_next(&mut self, cx: &mut FeatureContext) -> Option<FlowSpec> {
        let Deadline { due, flow } = self.take_start(cx)?;
        let mut flow = FlowSpec { start: due.at(), ..cx.flows.at(flow.index()) };
        for feature in &mut self.features {
            if feature.on_open(&mut flow, cx) == StartDecision::Later {
                return None;
            }
        }
        Some(flow)
    }

    /// Removes and returns the first start, from the flow list or a feature.
    fn take_start(&mut self, cx: &mut FeatureContext) -> Option<Deadline> {
        let planned = self.planned_start();
        let earlier = |feature: &(usize, Deadline)| feature.1.is_start() && feature.1 < planned;
        let deadlines = self.features.iter().map(|feature| feature.next_deadline()).enumerate();
        match deadlines.filter(earlier).min_by_key(|&(_, deadline)| deadline) {
            Some((i, deadline)) => {
                self.features[i].on_timer(cx);
                Some(deadline)
            }
            None if planned == Deadline::NEVER => None,
            None => {
                self.starts.open(cx.flows);
                Some(planned)
            }
        }
    }

    fn planned_start(&self) -> Deadline {
        self.starts.next().map_or(Deadline::NEVER, |(start, flow)| Deadline::start((start, FlowId(flow))))
    }
}

/// Whether a flow was to be aborted and had not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PendingAbort {
    Yes,
    No,
}
