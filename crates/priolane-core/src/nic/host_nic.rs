//! The interface of a NIC to a scheme.

use std::fmt::Debug;

use super::queue::QueueKeys;
use crate::host::Order;
use crate::packet::Frame;
use crate::port::{Buffer, BufferSpec, ClassMap, DisciplineSpec, Ecn, PortKeys, SortBy};
use crate::units::{Limit, Rate};

/// A kind of NIC with its parameters.
pub trait HostNic: Debug {
    /// Returns the transmit queue in a scheme with these rows. Default: none; the link then polls the host's
    /// scheduler.
    fn transmit_queue(&self, _: &OtherRows<'_>) -> Option<TransmitQueue> {
        None
    }

    /// Returns capacity and marking of the transmit queue, if they are keys of this NIC. Default: `None`.
    fn queue(&self) -> Option<&QueueKeys> {
        None
    }

    /// As [`Self::queue`], for changes. Default: `None`.
    fn queue_mut(&mut self) -> Option<&mut QueueKeys> {
        None
    }

    /// Returns the port that this NIC configures. Default: none.
    fn port(&self) -> Option<OwnPort<'_>> {
        None
    }

    /// Returns the keys of the port that this NIC configures, for changes. Default: none.
    fn port_mut(&mut self) -> Option<&mut PortKeys> {
        None
    }

    /// Returns the marking thresholds of the transmit queue, if it marks. Default: it does not.
    fn ecn_mut(&mut self) -> Option<&mut Ecn> {
        None
    }

    /// Returns the limit of one flow's packets in the transmit queue. Default: no limit.
    fn per_flow_limit(&self) -> Limit {
        Limit::Unlimited
    }
}

/// A port configured by a NIC.
#[derive(Clone, Copy, Debug)]
pub struct OwnPort<'a> {
    /// Its keys.
    pub keys: &'a PortKeys,
    /// The map from classes to queues; `None` for the map of switch ports.
    pub map: Option<&'a ClassMap>,
}

/// A transmit queue of a host.
#[derive(Clone, Debug, PartialEq)]
pub struct TransmitQueue {
    /// Its queueing discipline.
    pub discipline: DisciplineSpec,
    /// Its capacity and marking.
    pub buffer: Buffer,
    /// The packet field that selects the queue.
    pub sort_by: SortBy,
}

/// The settings that a transmit queue depends on, besides its own keys.
#[derive(Clone, Copy)]
pub struct OtherRows<'a> {
    /// The send order of the host.
    pub host: &'a Order,
    /// Returns the discipline of switch ports with a given buffer.
    pub ports: &'a dyn Fn(&BufferSpec) -> DisciplineSpec,
    /// The buffer of switch ports.
    pub buffer: &'a BufferSpec,
    /// The map from classes to queues at switch ports.
    pub map: &'a ClassMap,
    /// Packet sizes.
    pub frame: &'a Frame,
    /// The rate of the host's link.
    pub rate: Rate,
}

impl Debug for OtherRows<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OtherRows").field("host", self.host).field("rate", &self.rate).finish_non_exhaustive()
    }
}
