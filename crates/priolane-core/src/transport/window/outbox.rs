//! A FIFO of control packets (ACK, SYN, SYN/ACK) that are to leave a host.

use super::body::Segment;
use super::config::{Config, ControlEcn};
use crate::chunked_queue::ChunkedQueue;
use crate::endpoint::LocalHost;
use crate::ids::{Class, HostId};
use crate::packet::{Header, Kind, Marks, Offset, Packet};
use crate::telemetry::Telemetry;
use crate::transport::common::room;

/// The queued control packets of a host.
#[derive(Debug)]
pub(super) struct Outbox<T> {
    packets: ChunkedQueue<Packet<Segment<T>>>,
    /// The header fields that all control packets of the host share, but for their class.
    common: Header,
    /// The class of all control packets; `None` if each has the class of what it answers.
    class: Option<Class>,
    syn_wire: u16,
    /// Capacity in packets.
    room: u32,
}

impl<T: Telemetry> Outbox<T> {
    /// Creates an empty outbox; `ecn` tells whether the host's control packets are ECN-capable.
    pub(super) fn new(host: &LocalHost, config: &Config, ecn: ControlEcn) -> Self {
        let marks = if ecn == ControlEcn::Yes { Marks::ECN_CAPABLE } else { Marks::none() };
        let wire = config.frame.ack_wire();
        Self {
            packets: ChunkedQueue::default(),
            common: Header { src: host.id, wire, marks, ..Header::default() },
            class: config.control_class.fixed(),
            syn_wire: config.frame.syn_wire(),
            room: room(host),
        }
    }

    /// Queues a packet and fills in the host's header fields; drops it if the outbox is full. A packet of a host whose
    /// control packets have no class of their own keeps its class.
    #[inline]
    pub(super) fn push(&mut self, packet: Packet<Segment<T>>) {
        if self.packets.len() >= self.room {
            return;
        }
        let header = &mut self.packets.push(&packet).header;
        header.src = self.common.src;
        header.class = self.class.unwrap_or(header.class);
        header.wire = match header.kind {
            Kind::Syn | Kind::SynAck => self.syn_wire,
            _ => self.common.wire,
        };
        header.marks = header.marks.with(self.common.marks);
    }

    /// Returns true if no packet is queued.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Queues a packet with all header fields; drops it if the outbox is full.
    #[inline]
    pub(super) fn push_ready(&mut self, packet: &Packet<Segment<T>>) {
        if self.packets.len() < self.room {
            self.packets.push(packet);
        }
    }

    /// Returns the ACK for an in-order packet; `cumulative` is the new cumulative ACK. Pushed by [`Self::push_ready`],
    /// it equals the packet from `receiver::Ack` pushed by [`Self::push`].
    #[inline(always)]
    pub(super) fn ack(
        &self,
        cumulative: u64,
        packet: &Packet<Segment<T>>,
        one_way: u32,
    ) -> Packet<Segment<T>> {
        let echo = if packet.header.marks.has(Marks::CONGESTED) { Marks::ECHO } else { Marks::none() };
        let header = Header {
            flow: packet.header.flow,
            dst: packet.header.src,
            offset: Offset::new(cumulative),
            entropy: packet.header.entropy,
            class: self.class.unwrap_or(packet.header.class),
            marks: echo.with(self.common.marks),
            kind: Kind::Ack,
            ..self.common
        };
        let Segment { stamp, telemetry, .. } = packet.body;
        let body = Segment { stamp, one_way, sack: [(0, 0); 2], telemetry };
        Packet { header, body }
    }

    /// Queues a packet of `class` that is not ECN-capable: a probe, which the network treats like data, or a CNP.
    pub(super) fn push_as_data(&mut self, packet: Packet<Segment<T>>, class: Class) {
        if self.packets.len() >= self.room {
            return;
        }
        let header = &mut self.packets.push(&packet).header;
        header.src = self.common.src;
        header.class = class;
        header.wire = self.common.wire;
    }

    /// Drops the packets queued for a host.
    pub(super) fn forget(&mut self, host: HostId) {
        self.packets.retain(|packet| packet.header.dst != host);
    }

    /// Dequeues the next packet.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<&Packet<Segment<T>>> {
        self.packets.pop()
    }
}
