//! Changes to running flows and to settings, made by applications, admission policies and controllers.

use crate::ids::{Class, FlowId, HostId};
use crate::units::Rate;

/// A change at an endpoint.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Command<'a> {
    /// Changes one flow that this endpoint sends; unknown and finished flows are ignored.
    Flow(FlowId, Control),
    /// Sets new demotion thresholds for all flows of the host, running flows included. Transports without thresholds
    /// ignore it.
    Thresholds(&'a Thresholds),
    /// Another machine has taken the place of this host, for example after a restart. The endpoint silently drops every flow
    /// to and from the old one, its queued packets, its path estimates and its ended flows. No event reports it.
    ForgetHost(HostId),
    /// The endpoint silently drops a flow that is being received or was received here, as if none of its packets had
    /// arrived. The next packet opens the flow again.
    ForgetReceived {
        /// Its sender.
        src: HostId,
        /// The flow, as its sender calls it.
        flow: FlowId,
    },
    /// A flow will not be received, because its sender or the driver gave it up. The endpoint drops its state without an
    /// event. A packet of the flow that arrives later opens no flow, and is reported as
    /// [`Event::Rejected`](super::Event::Rejected) on a real host.
    EndReceived {
        /// Its sender.
        src: HostId,
        /// The flow, as its sender calls it.
        flow: FlowId,
    },
    /// The driver had no room for data of a flow that arrived. The data counts as lost, but the flow is not idle.
    NoRoom {
        /// Its sender.
        src: HostId,
        /// The flow, as its sender calls it.
        flow: FlowId,
    },
}

/// A change to a running flow, made by an application, an admission policy or a controller.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Control {
    /// Sets the flow's class from now on, 0 first.
    Class(Class),
    /// Sets the flow's class once it has no packet in flight, so that it overtakes none of its own packets; until then
    /// it sends nothing new (PASE, SIGCOMM 2014). A later `Class` or `Promote` replaces it.
    Promote(Class),
    /// Sets the flow's minimum rate and weight from now on (PACCP).
    Weights {
        /// Minimum rate; `None` for no minimum.
        theta: Option<Rate>,
        /// Share of the remaining capacity, relative to 1 for a best-effort flow, in thousandths.
        w_milli: u32,
    },
    /// Stops the flow and deletes its state; it never completes.
    Abort,
}

/// Selects one of a host's sets of demotion thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThresholdSet {
    /// Thresholds of the classes, by which ports sort.
    Class,
    /// Thresholds of the priority levels inside the host.
    HostLevel,
}

/// New demotion thresholds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// The set that they replace.
    pub of: ThresholdSet,
    /// Thresholds in bytes, non-decreasing.
    pub bytes: Vec<u64>,
}
