//! A flow at its sender: its packets, and what has been sent.

use super::control_message::{ControlMessage, MessageType};
use super::packets::Packets;
use crate::endpoint::{FlowReport, FlowRequest};
use crate::ids::{Class, HostId};
use crate::packet::{Frame, Header, Kind, Marks, Offset, Packet};
use crate::units::{Span, Time, bits_per_second};

/// Whether a packet is sent for the first time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::transport) enum Transmission {
    First,
    Again,
}

/// The part of a flow at its sender that all protocols share.
#[derive(Debug)]
pub(in crate::transport) struct Outgoing {
    pub(in crate::transport) spec: FlowRequest,
    pub(in crate::transport) packets: Packets,
    pub(in crate::transport) timeouts: u32,
    retransmitted: u64,
    retransmits: u32,
    class_first: Option<Class>,
    class_last: Class,
    /// The time at which a reply was requested, if its RTT is to be measured; `Time::NEVER` after the first reply.
    pub(in crate::transport) asked: Time,
}

impl Outgoing {
    pub(in crate::transport) fn new(spec: FlowRequest, frame: &Frame) -> Self {
        Self {
            packets: Packets::new(spec.size, frame),
            timeouts: 0,
            retransmitted: 0,
            retransmits: 0,
            class_first: None,
            class_last: spec.class,
            asked: Time::NEVER,
            spec,
        }
    }

    /// Handles a reply at `now`: returns the RTT if it is the first reply and nothing was retransmitted.
    pub(in crate::transport) fn first_answer(&mut self, now: Time) -> Option<Span> {
        let asked = std::mem::replace(&mut self.asked, Time::NEVER);
        (asked != Time::NEVER && self.timeouts == 0).then(|| now.since(asked))
    }

    /// Returns the header of a control packet to the flow's receiver.
    pub(in crate::transport) fn header(&self, kind: Kind) -> Header {
        let FlowRequest { id, dst, entropy, .. } = self.spec;
        Header { flow: id, dst, entropy, kind, ..Header::default() }
    }

    /// Returns packet `n` of the flow in `class`, to be sent now; the host fills in the source.
    pub(in crate::transport) fn data(
        &mut self,
        n: u64,
        class: Class,
        transmission: Transmission,
        frame: &Frame,
    ) -> Packet<ControlMessage> {
        let payload = self.packets.len(n);
        if transmission == Transmission::Again {
            self.retransmitted += u64::from(payload);
            self.retransmits += 1;
        }
        self.class_first.get_or_insert(class);
        self.class_last = class;
        let FlowRequest { id, dst, entropy, .. } = self.spec;
        let offset = self.packets.offset(n);
        let ends = self.spec.size == Some(offset + u64::from(payload));
        let header = Header {
            src: HostId::default(),
            rank: self.packets.size() - offset,
            flow: id,
            dst,
            offset: Offset::new(offset),
            entropy,
            wire: frame.data_wire(payload),
            payload,
            class,
            host_level: 0,
            marks: if ends { Marks::LAST } else { Marks::none() },
            kind: Kind::Data,
        };
        Packet {
            header,
            body: ControlMessage {
                size: self.packets.size(),
                message_type: MessageType::Data,
                ..ControlMessage::default()
            },
        }
    }

    /// Returns a report of the sender's state at `now`, when `acked` bytes are known to have arrived.
    pub(in crate::transport) fn report(&self, now: Time, acked: u64) -> FlowReport {
        let elapsed = now.since(self.spec.start);
        FlowReport {
            flow: self.spec.id,
            bytes: acked,
            remaining: self.spec.size.map_or(u64::MAX, |size| size - acked),
            rate_bps: bits_per_second(acked, elapsed),
            retransmitted: self.retransmitted,
            retransmits: self.retransmits,
            timeouts: self.timeouts,
            initial_timeouts: 0,
            spurious: 0,
            rtt: Span::ZERO,
            elapsed,
            class_first: self.class_first.unwrap_or(self.class_last),
            class_last: self.class_last,
        }
    }
}
