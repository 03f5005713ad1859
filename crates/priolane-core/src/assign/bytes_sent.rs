//! Classes by bytes sent: a flow is demoted as it sends (PIAS, NOS2).

use super::control;
use super::demotion_thresholds::{Count, DemotionThresholds};
use super::thresholds::Demotion;
use crate::keys::{InTable, Keys};
use crate::part::Part;

/// Parameters of the policy `bytes_sent`.
#[derive(Clone, Debug, PartialEq, Keys, Part)]
#[keys(group = "bytes_sent")]
#[part(
    name = "bytes_sent",
    summary = "a flow is demoted level by level as it sends: needs no knowledge of sizes",
    source = "PIAS (NSDI 2015) §3, NOS2 (GLOBECOM 2019) §III-B"
)]
pub struct BytesSent {
    /// The levels, and where one ends and the next begins.
    #[keys(flatten)]
    pub demotion: Demotion,
    /// What bytes sent counts.
    #[key(default = Count::StreamOffset, source = "PIAS-NS2; docs/assumptions.md#bytes-sent")]
    pub count: Count,
    /// How these thresholds, and those inside hosts, follow the workload; without it they stay as they are.
    #[key(optional, form = InTable, source = "NOS2 (GLOBECOM 2019) §IV; docs/assumptions.md#controller")]
    pub controller: Option<control::Config>,
}

impl BytesSent {
    /// The classes of a flow by bytes sent.
    pub fn ladder(&self) -> DemotionThresholds {
        self.demotion.ladder(self.count)
    }
}
