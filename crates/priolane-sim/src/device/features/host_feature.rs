//! A part of a host beside the packet path, such as admission control or thresholds that follow the workload.
//!
//! ```text
//! on_open      a flow is about to start: class and weights may change, or the flow waits
//! on_event     a flow was delivered, reported on, or completed
//! on_abort     a flow was aborted
//! on_message   a control message for this host was sent
//! on_timer     the instant of next_deadline has come
//! finish       the run is over
//! ```
//!
//! Features see flows, never packets: what they cost does not grow with packets.

use std::fmt::Debug;
use std::sync::Arc;

use priolane_core::endpoint::{Control, FlowReport, FlowSpec, Thresholds};
use priolane_core::flows::FlowList;
use priolane_core::ids::FlowId;
use priolane_core::units::Time;

use crate::device::event_sink::{ControlSink, EventKey, Kind};
use crate::device::messages::{DependencySignal, ThresholdUpdate};
use crate::observe::collector::Collector;

/// What a feature is given with each call, and what it may ask for.
pub(crate) struct FeatureContext<'a> {
    pub(crate) now: Time,
    /// The flows of the run.
    pub(crate) flows: &'a FlowList,
    pub(crate) sink: &'a mut dyn ControlSink,
    /// What the transport is to be told after the call, in this order.
    pub(crate) commands: Vec<TransportCommand>,
}

/// A call that a feature asks for at the host's transport.
#[derive(Debug)]
pub(crate) enum TransportCommand {
    /// A control message for one flow.
    Control(FlowId, Control),
    /// New thresholds for all flows.
    Thresholds(Arc<Thresholds>),
}

/// Something that happened to a flow at its sender or receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FlowEvent<'a> {
    /// Its last byte arrived at this host.
    Delivered(FlowId),
    /// A monitor interval of it ended at this, its sender.
    Report(&'a FlowReport),
    /// Its sender, this host, knows all of it delivered.
    Completed(&'a FlowReport),
}

/// A control message to a host.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HostMessage<'a> {
    /// A flow on which others depend was delivered.
    Signal(&'a DependencySignal),
    /// The threshold controller has new thresholds.
    Thresholds(&'a ThresholdUpdate),
}

/// Whether a flow starts now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StartDecision {
    Now,
    /// The feature opens it later, at a deadline of its own.
    Later,
}

/// How far an aborted flow had come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Aborted {
    /// It had started, or its start was known.
    Scheduled,
    /// It depended on other flows still: the run does not wait for its end.
    Dependent,
}

/// The next instant of a feature: of a timer, or of a flow that it starts. In order of time; at equal times flows start
/// after timers, in order of flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Deadline {
    pub(crate) due: EventKey,
    /// The flow that starts; any for a timer.
    pub(crate) flow: FlowId,
}

impl Deadline {
    pub(crate) const NEVER: Self = Self { due: EventKey::NEVER, flow: FlowId(u32::MAX) };

    /// A timer.
    pub(crate) fn timer(at: Time) -> Self {
        Self { due: EventKey::new(at, Kind::Control), flow: FlowId(0) }
    }

    /// The start of a flow.
    pub(crate) fn start((at, flow): (Time, FlowId)) -> Self {
        Self { due: EventKey::new(at, Kind::Open), flow }
    }

    /// Whether a flow starts.
    pub(crate) fn is_start(self) -> bool {
        self.due != EventKey::NEVER && self.due.kind() == Kind::Open
    }
}

/// A part of a host beside the packet path. Methods without an implementation do nothing.
pub(crate) trait HostFeature: Debug + Send {
    /// `flow` is about to start at `cx.now`, its `start`; class and weights may be changed.
    fn on_open(&mut self, flow: &mut FlowSpec, cx: &mut FeatureContext) -> StartDecision {
        let _ = (flow, cx);
        StartDecision::Now
    }

    /// Something happened to a flow of this host.
    fn on_event(&mut self, event: FlowEvent, cx: &mut FeatureContext) {
        let _ = (event, cx);
    }

    /// A flow of this host was aborted, possibly after its end.
    fn on_abort(&mut self, flow: FlowId, cx: &mut FeatureContext) -> Aborted {
        let _ = (flow, cx);
        Aborted::Scheduled
    }

    /// A message is on its way to this host; the start of the flow that depended on it, if it is known now.
    fn on_message(&mut self, message: HostMessage) -> Option<Time> {
        let _ = message;
        None
    }

    /// When [`Self::on_timer`] is to be called.
    fn next_deadline(&self) -> Deadline {
        Deadline::NEVER
    }

    /// The instant of the deadline has come. If it was the start of a flow, the host starts that flow.
    fn on_timer(&mut self, cx: &mut FeatureContext) {
        let _ = cx;
    }

    /// The run is over: hands over results besides those of flows.
    fn finish(&self, out: &mut Collector) {
        let _ = out;
    }
}
