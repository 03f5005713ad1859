//! Control messages between hosts, and between hosts and the threshold controller.

use std::sync::Arc;

use priolane_core::assign::control::SizeReport;
use priolane_core::endpoint::Thresholds;
use priolane_core::ids::HostId;
use priolane_core::units::Time;

use crate::model::dependencies::Work;

/// Signal that a flow was delivered, sent to the host of dependent work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DependencySignal {
    pub(crate) to: HostId,
    /// The dependent work.
    pub(crate) work: Work,
    /// The time at which the message arrives.
    pub(crate) at: Time,
}

/// A report in flight to the threshold controller.
#[derive(Clone, Debug)]
pub(crate) struct ScheduledReport {
    /// The time at which the message arrives.
    pub(crate) arrives: Time,
    pub(crate) report: SizeReport,
}

/// New thresholds in flight to all hosts.
#[derive(Debug)]
pub(crate) struct ThresholdUpdate {
    /// The time at which hosts apply the message.
    pub(crate) at: Time,
    pub(crate) thresholds: Arc<Thresholds>,
}
