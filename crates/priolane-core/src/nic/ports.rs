//! A transmit queue with the discipline of the switch ports.

use super::{HostNic, OtherRows, QueueKeys, TransmitQueue};
use crate::finding::{Finding, NetworkFacts};
use crate::keys::Keys;
use crate::part::Part;
use crate::port::{BufferSpec, Ecn, SortBy};
use crate::units::Limit;

/// Parameters of the NIC `ports`.
#[derive(Clone, Debug, PartialEq, Keys, Part)]
#[part(
    name = "ports",
    summary = "a transmit queue of the same kind as the switch ports, with its own limit",
    source = "docs/assumptions.md#nic-ports",
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
        // The eviction rules of a switch's buffer do not apply to the host's.
        let discipline = self.queue.averaging((rows.ports)(&BufferSpec::of(self.queue.limit)));
        Some(TransmitQueue { discipline, buffer: self.queue.buffer(rows.rate), sort_by: SortBy::Class })
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
