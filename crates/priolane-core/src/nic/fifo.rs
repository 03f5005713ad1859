//! A FIFO transmit queue.

use super::{HostNic, OtherRows, QueueKeys, TransmitQueue};
use crate::finding::{Finding, NetworkFacts};
use crate::keys::Keys;
use crate::part::Part;
use crate::port::{Ecn, FifoSpec, SortBy};
use crate::units::Limit;

/// Parameters of the NIC `fifo`.
#[derive(Clone, Debug, PartialEq, Keys, Part)]
#[part(
    name = "fifo",
    summary = "one first-in first-out transmit queue, filled as soon as windows allow",
    source = "docs/assumptions.md#nic-queue",
    provides = [TransmitQueue],
    findings = Self::findings,
    example = r#"limit = "240pkt""#
)]
pub struct Config {
    /// Capacity and marking of the queue.
    #[keys(flatten)]
    pub queue: QueueKeys,
}

impl Config {
    fn findings(&self, network: &NetworkFacts<'_>) -> Vec<Finding> {
        self.queue.findings(network)
    }
}

impl HostNic for Config {
    fn transmit_queue(&self, rows: &OtherRows<'_>) -> Option<TransmitQueue> {
        let buffer = self.queue.buffer(rows.rate);
        let discipline = self.queue.averaging(FifoSpec.into());
        Some(TransmitQueue { discipline, buffer, sort_by: SortBy::HostLevel })
    }

    fn queue(&self) -> Option<&QueueKeys> {
        Some(&self.queue)
    }

    fn queue_mut(&mut self) -> Option<&mut QueueKeys> {
        Some(&mut self.queue)
    }

    fn ecn_mut(&mut self) -> Option<&mut Ecn> {
        self.queue.ecn.as_mut()
    }

    fn per_flow_limit(&self) -> Limit {
        self.queue.flow.per_flow_limit
    }
}
