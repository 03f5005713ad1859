//! Control packets (ACK, SYN, SYN/ACK) that wait to leave a host, in order.

use super::body::Segment;
use super::config::{Config, ControlEcn};
use crate::ids::{Class, HostId};
use crate::packet::{Header, Kind, Marks, Packet};
use crate::ring::Ring;
use crate::telemetry::Telemetry;

/// The control packets of one host.
#[derive(Debug)]
pub(super) struct Outbox<T> {
    packets: Ring<Packet<Segment<T>>>,
    /// What every control packet of the host has in common.
    common: Header,
    syn_wire: u16,
}

impl<T: Telemetry> Outbox<T> {
    /// Nothing yet; `ecn` says whether the host's control packets are ECN-capable.
    pub(super) fn new(host: HostId, config: &Config, ecn: ControlEcn) -> Self {
        let marks = if ecn == ControlEcn::Yes { Marks::ECN_CAPABLE } else { Marks::none() };
        let (class, wire) = (config.control_class, config.frame.ack_wire());
        Self {
            packets: Ring::default(),
            common: Header { src: host, class, wire, marks, ..Header::default() },
            syn_wire: config.frame.syn_wire(),
        }
    }

    /// Queues a packet: what depends on the host is filled in here.
    #[inline]
    pub(super) fn push(&mut self, packet: Packet<Segment<T>>) {
        let header = &mut self.packets.push(&packet).header;
        header.src = self.common.src;
        header.class = self.common.class;
        header.wire = match header.kind {
            Kind::Syn | Kind::SynAck => self.syn_wire,
            _ => self.common.wire,
        };
        header.marks = header.marks.with(self.common.marks);
    }

    /// Queues a packet that goes through the network as the data of `class` does: a probe.
    pub(super) fn push_as_data(&mut self, packet: Packet<Segment<T>>, class: Class) {
        let header = &mut self.packets.push(&packet).header;
        header.src = self.common.src;
        header.class = class;
        header.wire = self.common.wire;
    }

    /// Takes out the packet that leaves next.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<&Packet<Segment<T>>> {
        self.packets.pop()
    }
}
