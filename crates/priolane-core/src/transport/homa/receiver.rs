//! A message at its receiver: what is missing, and what has been granted.

use crate::endpoint::PayloadStats;
use crate::ids::Class;
use crate::packet::{Frame, Header, Kind, Offset, Packet};
use crate::transport::common::FlowTimer;
use crate::transport::receiver_driven::{ControlMessage, Inbound, MessageType, OrderKey, has_inbound};

/// A message that this host receives, in units of packets.
#[derive(Debug)]
pub(super) struct ReceiverFlow {
    pub(super) inbound: Inbound,
    pub(super) alarm: FlowTimer,
    /// Its position in the host's grant order; `None` if it needs no grants.
    pub(super) grant_position: Option<OrderKey>,
    order: u64,
    received: u64,
    /// The first packet not granted.
    granted: u64,
    /// RTTbytes, in packets: how much may be granted beyond what has arrived.
    window: u64,
}

has_inbound!(ReceiverFlow);

impl ReceiverFlow {
    /// Creates the message of `packet`, the `order`-th of its host. Packets that its sender sends unscheduled count
    /// as granted.
    pub(super) fn new(packet: &Packet<ControlMessage>, frame: &Frame, order: u64) -> Self {
        let inbound = Inbound::new(packet, frame);
        let window = u64::from(packet.body.window.max(1));
        Self {
            alarm: FlowTimer::OFF,
            grant_position: None,
            order,
            received: 0,
            granted: window.min(inbound.packets.count()),
            inbound,
            window,
        }
    }

    /// Returns the number of missing packets.
    pub(super) fn left(&self) -> u64 {
        self.inbound.packets.count() - self.received
    }

    /// Returns its position in the grant order.
    pub(super) fn place(&self, slot: u32) -> OrderKey {
        (self.left(), self.order, slot)
    }

    /// Records a packet of the message and returns true if it is new. `stats` counts it if so.
    pub(super) fn arrived(&mut self, packet: &Packet<ControlMessage>, stats: &mut PayloadStats) -> bool {
        let new = self.inbound.insert(&packet.header, stats);
        self.received += u64::from(new);
        new
    }

    /// Returns true if part of the message is not granted.
    pub(super) fn wants_grants(&self) -> bool {
        self.granted < self.inbound.packets.count()
    }

    /// Returns the number of packets that may be sent.
    pub(super) fn granted(&self) -> u64 {
        self.granted
    }

    /// Returns a grant of RTTbytes beyond what has arrived, if that exceeds the last grant.
    pub(super) fn grant(&mut self, class: Class) -> Option<(Header, ControlMessage)> {
        let up_to = (self.received + self.window).min(self.inbound.packets.count());
        if up_to <= self.granted {
            return None;
        }
        self.granted = up_to;
        debug_assert!(self.granted - self.received <= self.window, "no more than RTTbytes are on their way");
        let offset = Offset::new(self.inbound.packets.bytes(up_to));
        let header = Header { offset, ..self.inbound.header(Kind::Credit) };
        Some((
            header,
            ControlMessage { class, message_type: MessageType::Grant, ..ControlMessage::default() },
        ))
    }

    /// Returns a RESEND for the first gap in the granted packets, if there is any.
    pub(super) fn resend(&self) -> Option<(Header, ControlMessage)> {
        let first = self.inbound.got.first_missing(0);
        if first >= self.granted {
            return None;
        }
        let end = (first..self.granted).find(|&n| self.inbound.got.has(n)).unwrap_or(self.granted);
        let header = Header {
            offset: Offset::new(self.inbound.packets.offset(first)),
            ..self.inbound.header(Kind::Signal)
        };
        Some((
            header,
            ControlMessage {
                size: self.inbound.packets.bytes(end),
                message_type: MessageType::Resend,
                ..ControlMessage::default()
            },
        ))
    }
}
