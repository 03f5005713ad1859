//! Changes in mid-life, from applications, admission policies and controllers.

use crate::ids::{Class, FlowId};
use crate::units::Rate;

/// A change that takes effect at an endpoint.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Command<'a> {
    /// A change of one flow that this endpoint sends; unknown and finished flows are ignored.
    Flow(FlowId, Control),
    /// New demotion thresholds for all flows of the host, those under way included. Transports without a ladder of
    /// thresholds ignore it.
    Thresholds(&'a Thresholds),
}

/// A change of a flow in mid-life, from an application, an admission policy or a controller.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Control {
    /// The flow's class from now on, 0 first.
    Class(Class),
    /// The flow's class from the moment on at which nothing of it is on its way, so that it overtakes none of its own
    /// packets; until then it sends nothing new (PASE, SIGCOMM 2014). A later `Class` or `Promote` replaces it.
    Promote(Class),
    /// The flow's minimum rate and weight from now on (PACCP).
    Weights {
        /// Minimum rate; `None` asks for none.
        theta: Option<Rate>,
        /// Share of what is left, relative to a best-effort flow's 1, in thousandths.
        w_milli: u32,
    },
    /// Stop the flow and forget it; it never completes.
    Abort,
}

/// Which of a host's ladders of demotion thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThresholdSet {
    /// The ladder of classes, which ports sort by.
    Class,
    /// The ladder of levels inside the host.
    HostLevel,
}

/// New thresholds of a ladder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// The ladder.
    pub of: ThresholdSet,
    /// In bytes, non-decreasing.
    pub bytes: Vec<u64>,
}
