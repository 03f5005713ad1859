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
    summary = "demotes a flow level by level as it sends; needs no flow sizes",
    source = "PIAS (NSDI 2015) §3, NOS2 (GLOBECOM 2019) §III-B",
    deploy = [Dscp],
    example = r#"levels = 3, thresholds = { solver = "equal_split", from = "global" }"#
)]
pub struct BytesSent {
    /// The levels and the demotion thresholds between them.
    #[keys(flatten)]
    pub demotion: Demotion,
    /// Definition of bytes sent.
    #[key(default = Count::StreamOffset, source = "PIAS-NS2; docs/assumptions.md#bytes-sent")]
    pub count: Count,
    /// How class and host-level thresholds adapt to the workload; without it they are fixed.
    #[key(optional, form = InTable, source = "NOS2 (GLOBECOM 2019) §IV; docs/assumptions.md#controller")]
    pub controller: Option<control::Config>,
}

impl BytesSent {
    /// Returns the demotion thresholds of classes.
    pub fn ladder(&self) -> DemotionThresholds {
        self.demotion.ladder(self.count)
    }
}
