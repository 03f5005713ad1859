//! A message at its receiver: what is missing, and what was granted of it.

use std::collections::VecDeque;

use crate::endpoint::{Event, PayloadStats};
use crate::ids::{Class, FlowId, HostId};
use crate::packet::{Header, Kind, Offset, Packet};
use crate::transport::common::{Alarm, timed_by_alarm};
use crate::transport::receiver_driven::{Note, PacketSet, Packets, Place, Verb, readable};

/// A message that this host receives; it is counted in packets.
#[derive(Debug)]
pub(super) struct Inflow {
    pub(super) from: HostId,
    pub(super) alarm: Alarm,
    /// How it wants grants, as the host's order has it.
    pub(super) asks: Option<Place>,
    order: u64,
    flow: FlowId,
    entropy: u16,
    packets: Packets,
    got: PacketSet,
    received: u64,
    /// The first packet that may not be sent.
    granted: u64,
    /// RTTbytes: what may be granted beyond what has arrived.
    window: u64,
}

timed_by_alarm!(Inflow);

impl Inflow {
    /// The message of `packet`, the `order`-th of its host: what its sender sends unasked counts as granted.
    pub(super) fn new(packet: &Packet<Note>, packets: Packets, order: u64) -> Self {
        let window = u64::from(packet.body.window.max(1));
        Self {
            from: packet.header.src,
            alarm: Alarm::OFF,
            asks: None,
            order,
            flow: packet.header.flow,
            entropy: packet.header.entropy,
            packets,
            got: PacketSet::default(),
            received: 0,
            granted: window.min(packets.count()),
            window,
        }
    }

    /// Packets missing.
    pub(super) fn left(&self) -> u64 {
        self.packets.count() - self.received
    }

    /// Where it is in the order of those that want grants.
    pub(super) fn place(&self, slot: u32) -> Place {
        (self.left(), self.order, slot)
    }

    /// Whether a packet of payload is one of the flow's, whatever its sender says.
    pub(super) fn has(&self, header: &Header) -> bool {
        self.packets.are_of(header)
    }

    /// Tells the application what it can read once `packet` is here, if that is more.
    pub(super) fn readable(&self, packet: &Packet<Note>, events: &mut VecDeque<Event>) {
        readable(packet, (&self.packets, &self.got), events);
    }

    /// A packet of the message is here; `stats` counts it if it is new.
    pub(super) fn arrived(&mut self, packet: &Packet<Note>, stats: &mut PayloadStats) {
        let n = self.packets.at(packet.header.offset.get());
        self.received += u64::from(n < self.packets.count() && self.got.receive(n, stats));
    }

    /// Whether some of it was not granted.
    pub(super) fn wants_grants(&self) -> bool {
        self.granted < self.packets.count()
    }

    fn header(&self, kind: Kind) -> Header {
        let Self { flow, from: dst, entropy, .. } = *self;
        Header { flow, dst, entropy, kind, ..Header::default() }
    }

    /// A grant of RTTbytes beyond what has arrived, if that is more than was granted.
    pub(super) fn grant(&mut self, class: Class) -> Option<(Header, Note)> {
        let up_to = (self.received + self.window).min(self.packets.count());
        if up_to <= self.granted {
            return None;
        }
        self.granted = up_to;
        debug_assert!(self.granted - self.received <= self.window, "no more than RTTbytes are on their way");
        let offset = Offset::new(self.packets.bytes(up_to));
        let header = Header { offset, ..self.header(Kind::Credit) };
        Some((header, Note { class, verb: Verb::Grant, ..Note::default() }))
    }

    /// Asks for the first gap in what was granted, if there is any.
    pub(super) fn resend(&self) -> Option<(Header, Note)> {
        let first = self.got.first_missing(0);
        if first >= self.granted {
            return None;
        }
        let end = (first..self.granted).find(|&n| self.got.has(n)).unwrap_or(self.granted);
        let header = Header { offset: Offset::new(self.packets.offset(first)), ..self.header(Kind::Signal) };
        Some((header, Note { size: self.packets.bytes(end), verb: Verb::Resend, ..Note::default() }))
    }
}
