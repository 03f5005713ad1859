//! Keys shared by several kinds of transmit queue.

use crate::finding::{Finding, NetworkFacts};
use crate::keys::{InTable, KeyConflict, Keys};
use crate::port::{Buffer, DerivedLimit, DisciplineSpec, Ecn, in_proportion, unreachable_threshold};
use crate::units::{Limit, Rate};

/// Capacity and marking of a transmit queue.
#[derive(Clone, Debug, PartialEq, Keys)]
#[keys(group = "nic")]
pub struct QueueKeys {
    /// Capacity of the transmit queue.
    #[key(default = Limit::Unlimited, source = "docs/assumptions.md#nic-queue")]
    pub limit: Limit,
    /// The link rate that the capacity is for: the queue of a faster link holds more, in proportion. Without it, all
    /// hold the same.
    #[key(optional, range = "(0, )", source = "docs/assumptions.md#buffers")]
    pub rate: Option<Rate>,
    /// ECN marking thresholds of the transmit queue, or false.
    #[key(none = false, form = InTable, unit = "pkt or B", source = "docs/assumptions.md#nic-queue")]
    pub ecn: Option<Ecn>,
    /// Limit of one flow in the queue.
    #[keys(flatten)]
    pub flow: FlowRoom,
}

impl QueueKeys {
    /// Scales the capacity to links of `rate`, if it states the rate that it is for and that is lower; returns the new
    /// capacity.
    pub fn complete(&mut self, rate: Rate) -> Option<DerivedLimit> {
        let from = self.rate.take().filter(|&from| from < rate && self.limit != Limit::Unlimited)?;
        self.limit = in_proportion(self.limit, from, rate);
        Some(DerivedLimit { rate, limit: self.limit, from })
    }

    /// Returns which of its settings do not go together on a network.
    pub(super) fn findings(&self, network: &NetworkFacts<'_>) -> Vec<Finding> {
        let Some(ecn) = &self.ecn else { return Vec::new() };
        unreachable_threshold(ecn, &|_| self.limit, network.host_rates, network, "hosts")
            .into_iter()
            .collect()
    }

    /// Returns `discipline` with marks by an average of its backlog, if the keys say so.
    pub(super) fn averaging(&self, discipline: DisciplineSpec) -> DisciplineSpec {
        Ecn::averaging(self.ecn.as_ref(), discipline)
    }

    /// Returns the buffer of a transmit queue in front of a link of this rate.
    pub(super) fn buffer(&self, rate: Rate) -> Buffer {
        let buffer = Buffer { limit: self.limit, ..Buffer::UNLIMITED };
        self.ecn.as_ref().map_or(buffer, |ecn| ecn.marking(rate, buffer))
    }
}

/// Limit of one flow in a transmit queue.
#[derive(Clone, Debug, PartialEq, Keys)]
#[keys(group = "nic", check = Self::check)]
pub struct FlowRoom {
    /// Limit of one flow's packets in the transmit queue; the transport holds back the rest.
    #[key(default = Limit::Unlimited, skip_default, source = "Linux's TCP small queues")]
    pub per_flow_limit: Limit,
}

impl FlowRoom {
    fn check(&mut self) -> Result<(), KeyConflict> {
        match self.per_flow_limit {
            Limit::Packets(0) | Limit::Bytes(0) => Err(KeyConflict::of(
                "per_flow_limit",
                "a limit of zero would let no flow send",
                "at least \"1pkt\"",
            )),
            _ => Ok(()),
        }
    }
}
