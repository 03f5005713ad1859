//! A flow at its receiver: what is missing, and how many pulls it takes.

use std::collections::VecDeque;

use crate::endpoint::{Event, PayloadStats};
use crate::ids::{Class, FlowId, HostId};
use crate::packet::{Header, Kind, Marks, Packet};
use crate::transport::common::{Alarm, timed_by_alarm};
use crate::transport::receiver_driven::{Note, PacketSet, Packets, Verb, readable};

/// A flow that this host receives.
#[derive(Debug)]
pub(super) struct Inflow {
    /// Packets missing.
    pub(super) left: u64,
    /// The class among whose flows it takes turns, and its turn, where it waits for one.
    pub(super) class: Class,
    pub(super) turn: u64,
    /// Pulls sent, and those that wait.
    pub(super) pulls: u32,
    pub(super) owed: u32,
    alarm: Alarm,
    flow: FlowId,
    from: HostId,
    entropy: u16,
    packets: Packets,
    got: PacketSet,
    /// Pulls that the flow takes as far as is known: packets beyond the first window, trimmed ones and some that went back.
    needed: u64,
    /// Packets that went back to their sender and wait for pulls, as it says.
    returned: u32,
}

timed_by_alarm!(Inflow);

impl Inflow {
    /// The flow of `packet`, in turns with others of `class`.
    pub(super) fn new(packet: &Packet<Note>, packets: Packets, class: Class) -> Self {
        Self {
            left: packets.count(),
            class,
            turn: 0,
            pulls: 0,
            owed: 0,
            alarm: Alarm::OFF,
            flow: packet.header.flow,
            from: packet.header.src,
            entropy: packet.header.entropy,
            packets,
            got: PacketSet::default(),
            needed: packets.count() - u64::from(packet.body.window).min(packets.count()),
            returned: 0,
        }
    }

    /// Whether a packet of payload is one of the flow's, whatever its sender says.
    pub(super) fn has(&self, header: &Header) -> bool {
        self.packets.are_of(header)
    }

    /// Tells the application what it can read once `packet` is here, if that is more.
    pub(super) fn readable(&self, packet: &Packet<Note>, events: &mut VecDeque<Event>) {
        readable(packet, (&self.packets, &self.got), events);
    }

    /// A packet of the flow is here, perhaps trimmed; what the sender is told of it. `stats` counts payload that is new.
    pub(super) fn arrived(&mut self, packet: &Packet<Note>, stats: &mut PayloadStats) -> Verb {
        self.needed += u64::from(packet.body.count.saturating_sub(self.returned));
        self.returned = self.returned.max(packet.body.count);
        let n = self.packets.at(packet.header.offset.get());
        if n >= self.packets.count() {
            return Verb::Ack;
        }
        if !packet.header.marks.has(Marks::TRIMMED) {
            self.left -= u64::from(self.got.receive(n, stats));
            return Verb::Ack;
        }
        if self.got.has(n) {
            return Verb::Ack;
        }
        self.needed += 1;
        Verb::Nack
    }

    /// Whether an arrival calls for one more pull.
    pub(super) fn wants_pull(&self) -> bool {
        self.left > 0 && u64::from(self.pulls) + u64::from(self.owed) < self.needed
    }

    /// The pull that goes now.
    pub(super) fn pull(&mut self) -> (Header, Note) {
        self.pulls = self.pulls.wrapping_add(1);
        self.owed = self.owed.saturating_sub(1);
        let Self { flow, from: dst, entropy, .. } = *self;
        let header = Header { flow, dst, entropy, kind: Kind::Credit, ..Header::default() };
        (header, Note { count: self.pulls, verb: Verb::Pull, ..Note::default() })
    }
}
