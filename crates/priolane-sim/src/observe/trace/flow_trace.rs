//! The trace of one flow: its packets, their hops, and the state of its sender.

use priolane_core::ids::LinkId;
use priolane_core::packet::{Header, Marks};
use priolane_core::units::Time;

/// What was seen of one flow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Its packets, both ways, in the order in which they were made.
    pub packets: Vec<TracedPacket>,
    /// Their hops, in the order in which they came to ports.
    pub hops: Vec<Hop>,
    /// The sender's state, in order of time: after every packet from the receiver all of it, after any other
    /// call of the transport what had changed.
    pub state: Vec<Reading>,
}

/// A packet of the flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TracedPacket {
    /// Its header as it was made.
    pub header: Header,
    /// Of an ACK: blocks received above the cumulative ACK, as (start, end) offsets from it; (0, 0) is none.
    pub blocks: [(u32, u32); 2],
    /// When its host's transport made it.
    pub made: Time,
    /// Whether it repeats what was sent before.
    pub turn: Transmission,
    /// When the other host's transport was given it; `None` if it was not.
    pub delivered: Option<Time>,
}

/// Whether a packet repeats what was sent before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transmission {
    /// Its payload (or its part of the handshake) was not sent before; any ACK.
    First,
    /// Some of its payload, or a packet of its kind in the handshake, was sent before.
    Again,
}

/// A packet's way through one port and over the link that leaves it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hop {
    /// The packet, by its place in [`Trace::packets`].
    pub packet: u32,
    /// The port, named by its link.
    pub link: LinkId,
    /// The queue of the port that its class (at a host, its level) goes to.
    pub queue: u8,
    /// When it came to the port.
    pub queued: Time,
    /// What it found waiting there.
    pub ahead: Backlog,
    /// Its marks when it left the port.
    pub marks: Marks,
    /// Whether this port marked it.
    pub marking: Marking,
    /// How far it came.
    pub fate: Fate,
}

/// What waits in a port, all its queues together, the packet on the line not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets.
    pub packets: u32,
    /// Bytes on the wire.
    pub bytes: u64,
}

/// Whether a port set the congestion mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marking {
    /// It did not.
    Unmarked,
    /// It did.
    Marked,
}

/// What became of a packet on a hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The port had no room for it, though its header may go back to its sender.
    Dropped,
    /// It waited too long in the port.
    Expired,
    /// It waited there when the run ended.
    Waiting,
    /// It was sent, and its link lost it.
    Lost {
        /// How it was sent.
        service: Service,
        /// How it was lost.
        by: Loss,
    },
    /// It was sent, and on the link when the run ended.
    Sent(Service),
    /// It arrived at the other end of the link.
    Arrived {
        /// How it was sent.
        service: Service,
        /// When its last bit arrived; a host's processing comes after that.
        at: Time,
    },
}

/// How a link loses a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// By its dice.
    Chance,
    /// It was down.
    Down,
}

/// A packet's time on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Service {
    /// When its first bit was sent.
    pub start: Time,
    /// When the line was free again.
    pub end: Time,
}

/// One thing that the sender of the flow knew at one instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// When.
    pub at: Time,
    /// What: a name that ends in its unit, as the transport calls it.
    pub metric: &'static str,
    /// Its value.
    pub value: f64,
}

impl Fate {
    /// How the packet was sent, if it was.
    pub fn service(&self) -> Option<Service> {
        match *self {
            Self::Dropped | Self::Expired | Self::Waiting => None,
            Self::Lost { service, .. } | Self::Sent(service) | Self::Arrived { service, .. } => Some(service),
        }
    }

    /// When the packet arrived at the other end of the link, if it did.
    pub fn arrived(&self) -> Option<Time> {
        if let Self::Arrived { at, .. } = *self { Some(at) } else { None }
    }
}
