//! Control packets that wait to leave a host, in order.

use crate::ids::{Class, HostId};
use crate::packet::{Header, Packet};
use crate::ring::Ring;

/// The control packets of one host, all of one class and one size.
#[derive(Debug)]
pub(in crate::transport) struct Outbox<B> {
    packets: Ring<Packet<B>>,
    host: HostId,
    class: Class,
    wire: u16,
}

impl<B: Copy + Default> Outbox<B> {
    /// That of `host`, empty; its packets have `class` and take `wire` bytes on a link.
    pub(in crate::transport) fn new(host: HostId, class: Class, wire: u16) -> Self {
        Self { packets: Ring::default(), host, class, wire }
    }

    /// The header of a control packet of this host: what depends on the host is filled in.
    #[inline]
    pub(in crate::transport) fn control(&self, header: Header) -> Header {
        Header { src: self.host, class: self.class, wire: self.wire, payload: 0, ..header }
    }

    /// Queues a control packet.
    #[inline]
    pub(in crate::transport) fn push(&mut self, header: Header, body: B) {
        let header = self.control(header);
        self.packets.push(&Packet { header, body });
    }

    /// Takes out the packet that leaves next.
    #[inline]
    pub(in crate::transport) fn pop(&mut self) -> Option<Packet<B>> {
        self.packets.pop().copied()
    }
}
