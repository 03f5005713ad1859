//! What a scheme asks its NIC.

use std::fmt::Debug;

use super::queue::QueueKeys;
use crate::host::Order;
use crate::packet::Frame;
use crate::port::{Buffer, BufferSpec, ClassMap, DisciplineSpec, PortKeys, SortBy};
use crate::units::{Limit, Rate};

/// A kind of NIC with its keys.
pub trait HostNic: Debug {
    /// The transmit queue in a scheme of these rows. Default: there is none, and the line asks the host's scheduler.
    fn transmit_queue(&self, _: &OtherRows<'_>) -> Option<TransmitQueue> {
        None
    }

    /// Room and marking of the transmit queue, where these are keys of the row. Default: they are not.
    fn queue(&self) -> Option<&QueueKeys> {
        None
    }

    /// The port that the row states. Default: it states none.
    fn port(&self) -> Option<OwnPort<'_>> {
        None
    }

    /// Most of one flow that waits in the transmit queue. Default: there is no limit.
    fn per_flow_limit(&self) -> Limit {
        Limit::Unlimited
    }
}

/// A port that a NIC states.
#[derive(Clone, Copy, Debug)]
pub struct OwnPort<'a> {
    /// Its keys.
    pub keys: &'a PortKeys,
    /// The queue of each class; `None` for that at switch ports.
    pub map: Option<&'a ClassMap>,
}

/// A transmit queue of a host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TransmitQueue {
    /// What it serves next.
    pub discipline: DisciplineSpec,
    /// Its room and its marking.
    pub buffer: Buffer,
    /// By what packets are sorted into its queues.
    pub sort_by: SortBy,
}

/// What a transmit queue follows from besides its own keys.
#[derive(Clone, Copy)]
pub struct OtherRows<'a> {
    /// The order of the host.
    pub host: &'a Order,
    /// What switch ports do with a buffer.
    pub ports: &'a dyn Fn(&BufferSpec) -> DisciplineSpec,
    /// The buffer of switch ports.
    pub buffer: &'a BufferSpec,
    /// The queue of each class at switch ports.
    pub map: &'a ClassMap,
    /// Packet sizes.
    pub frame: &'a Frame,
    /// The rate of the host's line.
    pub rate: Rate,
}

impl Debug for OtherRows<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OtherRows").field("host", self.host).field("rate", &self.rate).finish_non_exhaustive()
    }
}
