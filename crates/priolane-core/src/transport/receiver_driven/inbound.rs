//! A flow at its receiver: its packets, and which of them have arrived.

use std::collections::VecDeque;

use super::control_message::ControlMessage;
use super::packets::{PacketSet, Packets};
use crate::endpoint::{Event, PayloadStats};
use crate::ids::{FlowId, HostId};
use crate::packet::{Frame, Header, Kind, Packet};
use crate::transport::common::FlowKey;

/// The part of a flow at its receiver that all protocols share.
#[derive(Debug)]
pub(in crate::transport) struct Inbound {
    pub(in crate::transport) src: HostId,
    pub(in crate::transport) packets: Packets,
    pub(in crate::transport) got: PacketSet,
    flow: FlowId,
    entropy: u16,
}

impl Inbound {
    /// Creates the flow of `packet`, of which nothing has arrived.
    pub(in crate::transport) fn new(packet: &Packet<ControlMessage>, frame: &Frame) -> Self {
        let Header { src, flow, entropy, .. } = packet.header;
        let packets = Packets::new(Some(packet.body.size), frame);
        Self { src, packets, got: PacketSet::default(), flow, entropy }
    }

    /// Returns the key of the flow.
    pub(in crate::transport) fn key(&self) -> FlowKey {
        FlowKey::new(self.src, self.flow)
    }

    /// Returns the header of a control packet to the flow's sender.
    pub(in crate::transport) fn header(&self, kind: Kind) -> Header {
        let Self { flow, src: dst, entropy, .. } = *self;
        Header { flow, dst, entropy, kind, ..Header::default() }
    }

    /// Records a data packet and returns true if it is new. `stats` counts it if so.
    #[inline]
    pub(in crate::transport) fn insert(&mut self, header: &Header, stats: &mut PayloadStats) -> bool {
        let n = self.packets.at(header.offset.get());
        n < self.packets.count() && self.got.receive(n, stats)
    }

    /// Reports to the application what becomes readable with `packet`, if anything.
    pub(in crate::transport) fn readable(
        &self,
        packet: &Packet<ControlMessage>,
        events: &mut VecDeque<Event>,
    ) {
        let Self { packets, got, .. } = self;
        let edge = got.first_missing(0);
        if packets.at(packet.header.offset.get()) == edge && edge < packets.count() {
            let Header { src, flow, .. } = packet.header;
            let bytes = packets.bytes(got.first_missing(edge + 1));
            events.push_back(Event::Readable { src, flow, bytes });
        }
    }
}
