//! Keys that several kinds of transmit queue have.

use crate::keys::{InTable, Keys, Misfit};
use crate::port::{Buffer, Ecn};
use crate::units::{Limit, Rate};

/// Room and marking of a transmit queue.
#[derive(Clone, Debug, PartialEq, Keys)]
#[keys(group = "nic")]
pub struct QueueKeys {
    /// Room of the transmit queue.
    #[key(default = Limit::Unlimited, source = "docs/assumptions.md#nic-queue")]
    pub limit: Limit,
    /// Marking thresholds of the transmit queue, or false.
    #[key(none = false, form = InTable, unit = "pkt or B", source = "docs/assumptions.md#nic-queue")]
    pub ecn: Option<Ecn>,
    /// Room of one flow.
    #[keys(flatten)]
    pub flow: FlowRoom,
}

impl QueueKeys {
    /// The buffer of the transmit queue in front of a line of this rate.
    pub(super) fn buffer(&self, rate: Rate) -> Buffer {
        let buffer = Buffer { limit: self.limit, ..Buffer::UNLIMITED };
        self.ecn.as_ref().map_or(buffer, |ecn| ecn.marking(rate, buffer))
    }
}

/// Room of one flow in a transmit queue.
#[derive(Clone, Debug, PartialEq, Keys)]
#[keys(group = "nic", check = Self::check)]
pub struct FlowRoom {
    /// Most of one flow that waits in the transmit queue; the transport keeps the rest.
    #[key(default = Limit::Unlimited, skip_default, source = "Linux's TCP small queues")]
    pub per_flow_limit: Limit,
}

impl FlowRoom {
    fn check(&mut self) -> Result<(), Misfit> {
        match self.per_flow_limit {
            Limit::Packets(0) | Limit::Bytes(0) => {
                Err(Misfit::of("per_flow_limit", "no flow could send", "at least \"1pkt\""))
            }
            _ => Ok(()),
        }
    }
}
