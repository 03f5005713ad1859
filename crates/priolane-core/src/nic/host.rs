//! A transmit queue in the order of the host scheduler.

use super::{HostNic, OtherRows, QueueKeys, TransmitQueue};
use crate::finding::{Finding, NetworkFacts};
use crate::host::Order;
use crate::keys::Keys;
use crate::part::Part;
use crate::port::{CLASS_IS_QUEUE, DisciplineSpec, Ecn, FifoSpec, RankedSpec, SortBy, StrictSpec};
use crate::units::Limit;

/// Parameters of the NIC `host`.
#[derive(Clone, Debug, PartialEq, Keys, Part)]
#[part(
    name = "host",
    summary = "a transmit queue with one strict-priority queue for each level of the host row",
    source = "NOS2 (GLOBECOM 2019) §IV-B",
    provides = [TransmitQueue, HostOrder],
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
        let discipline: DisciplineSpec = match rows.host {
            Order::Mlfq(mlfq) => StrictSpec { queues: mlfq.demotion.levels, map: CLASS_IS_QUEUE }.into(),
            Order::Srpt(_) => RankedSpec.into(),
            _ => FifoSpec.into(),
        };
        let discipline = self.queue.averaging(discipline);
        Some(TransmitQueue { discipline, buffer: self.queue.buffer(rows.rate), sort_by: SortBy::HostLevel })
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
