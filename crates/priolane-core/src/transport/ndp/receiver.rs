//! A flow at its receiver: what is missing, and how many pulls it needs.

use crate::endpoint::PayloadStats;
use crate::ids::Class;
use crate::packet::{Frame, Header, Kind, Marks, Packet};
use crate::transport::common::FlowTimer;
use crate::transport::receiver_driven::{ControlMessage, Inbound, MessageType, has_inbound};

/// A flow that this host receives.
#[derive(Debug)]
pub(super) struct ReceiverFlow {
    /// Number of missing packets.
    pub(super) left: u64,
    /// The class within which it takes turns, and its turn while pulls are pending.
    pub(super) class: Class,
    pub(super) turn: u64,
    /// Number of pulls sent, and of pulls pending.
    pub(super) pulls: u32,
    pub(super) owed: u32,
    alarm: FlowTimer,
    inbound: Inbound,
    /// Number of pulls needed as far as known: packets beyond the first window, trimmed packets and some returned
    /// packets.
    needed: u64,
    /// Packets returned to their sender that need pulls, according to the sender.
    returned: u32,
}

has_inbound!(ReceiverFlow);

impl ReceiverFlow {
    /// Creates the flow of `packet`, which takes turns with others of `class`.
    pub(super) fn new(packet: &Packet<ControlMessage>, frame: &Frame, class: Class) -> Self {
        let inbound = Inbound::new(packet, frame);
        let count = inbound.packets.count();
        Self {
            left: count,
            class,
            turn: 0,
            pulls: 0,
            owed: 0,
            alarm: FlowTimer::OFF,
            inbound,
            needed: count - u64::from(packet.body.window).min(count),
            returned: 0,
        }
    }

    /// Records a packet of the flow, possibly trimmed, and returns the type of the reply. `stats` counts new data.
    pub(super) fn arrived(
        &mut self,
        packet: &Packet<ControlMessage>,
        stats: &mut PayloadStats,
    ) -> MessageType {
        self.needed += u64::from(packet.body.count.saturating_sub(self.returned));
        self.returned = self.returned.max(packet.body.count);
        if !packet.header.marks.has(Marks::TRIMMED) {
            self.left -= u64::from(self.inbound.insert(&packet.header, stats));
            return MessageType::Ack;
        }
        let Inbound { packets, got, .. } = &self.inbound;
        let n = packets.at(packet.header.offset.get());
        if n >= packets.count() || got.has(n) {
            return MessageType::Ack;
        }
        self.needed += 1;
        MessageType::Nack
    }

    /// Returns true if one more pull is needed.
    pub(super) fn wants_pull(&self) -> bool {
        self.left > 0 && u64::from(self.pulls) + u64::from(self.owed) < self.needed
    }

    /// Returns the pull to send now.
    pub(super) fn pull(&mut self) -> (Header, ControlMessage) {
        self.pulls = self.pulls.wrapping_add(1);
        self.owed = self.owed.saturating_sub(1);
        (
            self.inbound.header(Kind::Credit),
            ControlMessage {
                count: self.pulls,
                message_type: MessageType::Pull,
                ..ControlMessage::default()
            },
        )
    }
}
