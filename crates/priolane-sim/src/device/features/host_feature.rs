//! A host feature off the packet path, such as admission control or adaptive thresholds.
//!
//! ```text
//! on_open      a flow is about to start: class and weights may change, or the flow is delayed
//! on_event     a flow was delivered, reported on, or completed
//! on_abort     a flow was aborted
//! on_message   a control message for this host was sent
//! on_timer     the instant of next_deadline has come
//! finish       the run is over
//! ```
//!
//! Features see flows, never packets: their cost does not grow with the number of packets.

use std::fmt::Debug;
use std::sync::Arc;

use priolane_core::endpoint::{Control, FlowReport, FlowSpec, Thresholds};
use priolane_core::flows::FlowList;
use priolane_core::ids::FlowId;
use priolane_core::units::Time;

use crate::device::event_sink::{ControlSink, EventKey, Kind};
use crate::device::messages::{DependencySignal, ThresholdUpdate};
use crate::observe::collector::Collector;

/// Context of each call of a feature.
pub(crate) struct FeatureContext<'a> {
    pub(crate) now: Time,
    /// The flows of the run.
    pub(crate) flows: &'a FlowList,
    pub(crate) sink: &'a mut dyn ControlSink,
    /// Commands for the transport after the call, in this order.
    pub(crate) commands: Vec<TransportCommand>,
}

/// A call to the host's transport that a feature requests.
#[derive(Debug)]
pub(crate) enum TransportCommand {
    /// A control message for one flow.
    Control(FlowId, Control),
    /// New thresholds for all flows.
    Thresholds(Arc<Thresholds>),
}

/// An event of a flow at its sender or receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FlowEvent<'a> {
    /// Its last byte arrived at this host.
    Delivered(FlowId),
    /// A monitor interval ended at this host, its sender.
    Report(&'a FlowReport),
    /// This host, its sender, knows that it is fully delivered.
    Completed(&'a FlowReport),
}

/// Receives dependent flows and their starts, once these are known.
pub(crate) type OnScheduled<'a> = &'a mut dyn FnMut(FlowId, Time);

/// A control message to a host.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HostMessage<'a> {
    /// A flow with dependents was delivered.
    Signal(&'a DependencySignal),
    /// The threshold controller has new thresholds.
    Thresholds(&'a ThresholdUpdate),
}

/// Whether a flow starts now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StartDecision {
    Now,
    /// The feature opens it later, at its own deadline.
    Later,
}

/// The state of an aborted flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum AbortedFlow {
    /// It had started, or its start was known.
    Scheduled,
    /// It still had open dependencies: the run does not wait for its end.
    Dependent,
}

/// The next deadline of a feature: a timer, or the start of a flow. Ordered by time; at equal times timers precede
/// starts, and starts are ordered by flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Deadline {
    pub(crate) due: EventKey,
    /// The flow that starts; any value for a timer.
    pub(crate) flow: FlowId,
}

impl Deadline {
    pub(crate) const NEVER: Self = Self { due: EventKey::NEVER, flow: FlowId(u32::MAX) };

    /// Creates the deadline of a timer.
    pub(crate) fn timer(at: Time) -> Self {
        Self { due: EventKey::new(at, Kind::Control), flow: FlowId(0) }
    }

    /// Creates the deadline of the start of a flow.
    pub(crate) fn start((at, flow): (Time, FlowId)) -> Self {
        Self { due: EventKey::new(at, Kind::Open), flow }
    }

    /// Returns whether it is the start of a flow.
    pub(crate) fn is_start(self) -> bool {
        self.due != EventKey::NEVER && self.due.kind() == Kind::Open
    }
}

/// A host feature off the packet path. Default implementations do nothing.
pub(crate) trait HostFeature: Debug + Send {
    /// Handles `flow`, which is about to start at `cx.now`, its `start`; may change class and weights.
    fn on_open(&mut self, flow: &mut FlowSpec, cx: &mut FeatureContext) -> StartDecision {
        let _ = (flow, cx);
        StartDecision::Now
    }

    /// Handles an event of a flow of this host.
    fn on_event(&mut self, event: FlowEvent, cx: &mut FeatureContext) {
        let _ = (event, cx);
    }

    /// Handles the abort of a flow of this host, possibly after its end.
    fn on_abort(&mut self, flow: FlowId, cx: &mut FeatureContext) -> AbortedFlow {
        let _ = (flow, cx);
        AbortedFlow::Scheduled
    }

    /// Handles a message in flight to this host, and calls `scheduled` with each dependent flow whose start is now known.
    fn on_message(&mut self, message: HostMessage, scheduled: OnScheduled) {
        let _ = (message, scheduled);
    }

    /// Returns when to call [`Self::on_timer`].
    fn next_deadline(&self) -> Deadline {
        Deadline::NEVER
    }

    /// Handles the deadline. If it was the start of a flow, the host then starts that flow.
    fn on_timer(&mut self, cx: &mut FeatureContext) {
        let _ = cx;
    }

    /// Reports results, other than those of flows, at the end of the run.
    fn finish(&self, out: &mut Collector) {
        let _ = out;
    }
}
