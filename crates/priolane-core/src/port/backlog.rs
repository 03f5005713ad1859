//! How much a queue holds, and what its limits say about one more packet.

use super::{Admission, Buffer, Limit, Scope};
use crate::packet::{Body, Marks, Packet};

/// Packets and bytes queued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Backlog {
    pub(super) packets: u32,
    pub(super) bytes: u64,
}

impl Backlog {
    #[inline]
    pub(super) fn add(&mut self, wire: u16) {
        self.packets += 1;
        self.bytes += u64::from(wire);
    }

    #[inline]
    pub(super) fn remove(&mut self, wire: u16) {
        self.packets -= 1;
        self.bytes -= u64::from(wire);
    }

    #[inline]
    fn exceeds_with(self, wire: u16, limit: Limit) -> bool {
        limit.exceeded(self.packets + 1, self.bytes + u64::from(wire))
    }
}

/// Decides over a packet that finds `queue` and `port` queued, and marks it where it must.
#[inline]
pub(super) fn admit<B: Body>(
    buffer: &Buffer,
    port: Backlog,
    queue: Backlog,
    packet: &mut Packet<B>,
) -> Admission {
    let of = |scope| if scope == Scope::Port { port } else { queue };
    let wire = packet.header.wire;
    if of(buffer.limit_scope).exceeds_with(wire, buffer.limit) {
        return Admission::Dropped;
    }
    if packet.header.marks.has(Marks::ECN_CAPABLE)
        && of(buffer.mark_scope).exceeds_with(wire, buffer.mark_above)
    {
        packet.header.marks = packet.header.marks.with(Marks::CONGESTED);
        return Admission::Marked;
    }
    Admission::Queued
}
