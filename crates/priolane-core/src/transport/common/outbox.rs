//! A FIFO of control packets that are to leave a host.

use crate::chunked_queue::ChunkedQueue;
use crate::endpoint::LocalHost;
use crate::ids::{Class, HostId};
use crate::packet::{Header, Packet};

/// Returns the capacity of the outbox in packets; unlimited except on a real host.
pub(in crate::transport) fn room(host: &LocalHost) -> u32 {
    host.real.map_or(u32::MAX, |real| real.outbox)
}

/// The queued control packets of a host, all of the same class and size.
#[derive(Debug)]
pub(in crate::transport) struct Outbox<B> {
    packets: ChunkedQueue<Packet<B>>,
    host: HostId,
    class: Class,
    wire: u16,
    /// Capacity in packets.
    room: u32,
}

impl<B: Copy + Default> Outbox<B> {
    /// Creates an empty outbox for `host`; its packets have `class` and occupy `wire` bytes on a link.
    pub(in crate::transport) fn new(host: &LocalHost, class: Class, wire: u16) -> Self {
        Self { packets: ChunkedQueue::default(), host: host.id, class, wire, room: room(host) }
    }

    /// Returns `header` as a control packet header of this host, with the host's fields filled in.
    #[inline]
    pub(in crate::transport) fn control(&self, header: Header) -> Header {
        Header { src: self.host, class: self.class, wire: self.wire, payload: 0, ..header }
    }

    /// Returns `packet` with the source of this host filled in.
    #[inline]
    pub(in crate::transport) fn data(&self, mut packet: Packet<B>) -> Packet<B> {
        packet.header.src = self.host;
        packet
    }

    /// Queues a control packet; drops it if the outbox is full.
    #[inline]
    pub(in crate::transport) fn push(&mut self, header: Header, body: B) {
        if self.packets.len() >= self.room {
            return;
        }
        let header = self.control(header);
        self.packets.push(&Packet { header, body });
    }

    /// Drops the packets queued for a host.
    pub(in crate::transport) fn forget(&mut self, host: HostId) {
        self.packets.retain(|packet| packet.header.dst != host);
    }

    /// Dequeues the next packet.
    #[inline]
    pub(in crate::transport) fn pop(&mut self) -> Option<Packet<B>> {
        self.packets.pop().copied()
    }
}
