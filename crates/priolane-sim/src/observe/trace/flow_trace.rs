//! A trace: packets, their hops, and the state of senders.

use priolane_core::ids::{FlowId, LinkId};
use priolane_core::packet::{Header, Marks};
use priolane_core::units::Time;

/// The trace of one flow, or of all flows in a part of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Packets in both directions, in the order in which they were sent.
    pub packets: Vec<TracedPacket>,
    /// Their hops, in the order in which they arrived at ports.
    pub hops: Vec<Hop>,
    /// The senders' state, in order of time: all of a flow's after every packet from its receiver, and only changes
    /// after any other call of the transport.
    pub state: Vec<Reading>,
    /// The time at which the first packet was sent that is missing because the trace was full; `None` if none was.
    pub full: Option<Time>,
}

/// A traced packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TracedPacket {
    /// Its header as it was sent.
    pub header: Header,
    /// In an ACK: SACK blocks above the cumulative ACK, as (start, end) offsets from it; (0, 0) is no block.
    pub blocks: [(u32, u32); 2],
    /// The time at which the transport of the sending host sent the packet.
    pub made: Time,
    /// Whether it is a retransmission.
    pub turn: Transmission,
    /// The time at which the transport of the other host received the packet; `None` if it did not.
    pub delivered: Option<Time>,
}

/// Whether a packet is a retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transmission {
    /// Its payload (or its part of the handshake) was not sent before; or it is an ACK.
    First,
    /// Some of its payload, or a packet of its kind in the handshake, was sent before.
    Again,
}

/// A packet's hop through one port and over its link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hop {
    /// The packet, as an index in [`Trace::packets`].
    pub packet: u32,
    /// The port, named by its link.
    pub link: LinkId,
    /// The queue of its class in the port (at a host, of its level).
    pub queue: u8,
    /// The time at which the packet arrived at the port.
    pub queued: Time,
    /// The backlog that it found there.
    pub ahead: Backlog,
    /// Its marks when it left the port.
    pub marks: Marks,
    /// Whether this port marked it.
    pub marking: Marking,
    /// The way in which the hop ended.
    pub fate: Fate,
    /// The time at which the packet was dropped, evicted or expired; `None` if it was transmitted, or queued when the
    /// run ended.
    pub removed: Option<Time>,
}

/// The backlog of a port over all its queues, without the packet in transmission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets.
    pub packets: u32,
    /// Bytes on the wire.
    pub bytes: u64,
}

/// Whether a port marked a packet (CE).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marking {
    /// Not marked.
    Unmarked,
    /// Marked.
    Marked,
}

/// The way in which a hop of a packet ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The port had no room for it; its header may return to its sender.
    Dropped,
    /// It expired in the port.
    Expired,
    /// It was queued there when the run ended.
    Waiting,
    /// It was transmitted and lost on the link.
    Lost {
        /// Its transmission.
        service: Service,
        /// The cause of the loss.
        by: Loss,
    },
    /// It was transmitted, and in flight when the run ended.
    Sent(Service),
    /// It arrived at the other end of the link.
    Arrived {
        /// Its transmission.
        service: Service,
        /// The time at which the last bit arrived, before any processing by a host.
        at: Time,
    },
}

/// The reason why a link loses a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Random loss.
    Chance,
    /// The link was down.
    Down,
}

/// The transmission of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Service {
    /// The time at which the first bit was sent.
    pub start: Time,
    /// The time at which the link was free again.
    pub end: Time,
}

/// A state variable of a flow's sender at one instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// The flow.
    pub flow: FlowId,
    /// The time at which the value was read.
    pub at: Time,
    /// Its name, ending in its unit, as the transport reports it.
    pub metric: &'static str,
    /// Its value.
    pub value: f64,
}

impl Fate {
    /// Returns the transmission of the packet, if it was transmitted.
    pub fn service(&self) -> Option<Service> {
        match *self {
            Self::Dropped | Self::Expired | Self::Waiting => None,
            Self::Lost { service, .. } | Self::Sent(service) | Self::Arrived { service, .. } => Some(service),
        }
    }

    /// Returns when the packet arrived at the other end of the link, if it did.
    pub fn arrived(&self) -> Option<Time> {
        if let Self::Arrived { at, .. } = *self { Some(at) } else { None }
    }
}
