//! Control packets that wait to leave a host, in order.

use crate::chunked_queue::ChunkedQueue;
use crate::endpoint::LocalHost;
use crate::ids::{Class, HostId};
use crate::packet::{Header, Packet};

/// Packets that may wait: all, but on a real host.
pub(in crate::transport) fn room(host: &LocalHost) -> u32 {
    host.real.map_or(u32::MAX, |real| real.outbox)
}

/// The control packets of one host, all of one class and one size.
#[derive(Debug)]
pub(in crate::transport) struct Outbox<B> {
    packets: ChunkedQueue<Packet<B>>,
    host: HostId,
    class: Class,
    wire: u16,
    /// How many may wait.
    room: u32,
}

impl<B: Copy + Default> Outbox<B> {
    /// That of `host`, empty; its packets have `class` and take `wire` bytes on a link.
    pub(in crate::transport) fn new(host: &LocalHost, class: Class, wire: u16) -> Self {
        Self { packets: ChunkedQueue::default(), host: host.id, class, wire, room: room(host) }
    }

    /// The header of a control packet of this host: what depends on the host is filled in.
    #[inline]
    pub(in crate::transport) fn control(&self, header: Header) -> Header {
        Header { src: self.host, class: self.class, wire: self.wire, payload: 0, ..header }
    }

    /// A packet of payload of this host: its source is filled in.
    #[inline]
    pub(in crate::transport) fn data(&self, mut packet: Packet<B>) -> Packet<B> {
        packet.header.src = self.host;
        packet
    }

    /// Queues a control packet, if there is room.
    #[inline]
    pub(in crate::transport) fn push(&mut self, header: Header, body: B) {
        if self.packets.len() >= self.room {
            return;
        }
        let header = self.control(header);
        self.packets.push(&Packet { header, body });
    }

    /// Takes out the packet that leaves next.
    #[inline]
    pub(in crate::transport) fn pop(&mut self) -> Option<Packet<B>> {
        self.packets.pop().copied()
    }
}
