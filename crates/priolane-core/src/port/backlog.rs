//! How much a queue holds, and what its limits say about one more packet.

use super::{Admission, Buffer, Limit, Scope};
use crate::packet::{Header, Marks};

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

    /// What is left of this backlog without `part`.
    pub(super) fn without(self, part: Self) -> Self {
        Self { packets: self.packets - part.packets, bytes: self.bytes - part.bytes }
    }

    /// Whether this backlog and a packet of `wire` bytes are above `limit`.
    #[inline]
    pub(super) fn exceeds_with(self, wire: u16, limit: Limit) -> bool {
        limit.exceeded(self.packets + 1, self.bytes + u64::from(wire))
    }
}

/// Decides over a packet that finds `queue` and `port` queued.
#[inline]
pub(super) fn admit(buffer: &Buffer, port: Backlog, queue: Backlog, header: &Header) -> Admission {
    let of = |scope| if scope == Scope::Port { port } else { queue };
    if of(buffer.limit_scope).exceeds_with(header.wire, buffer.limit) {
        return Admission::Dropped;
    }
    if header.marks.has(Marks::ECN_CAPABLE)
        && of(buffer.mark_scope).exceeds_with(header.wire, buffer.mark_above)
    {
        return Admission::Marked;
    }
    Admission::Queued
}

/// Decides over a packet that finds nothing queued.
#[inline]
pub(super) fn admit_alone(buffer: &Buffer, header: &Header) -> Admission {
    admit(buffer, Backlog::default(), Backlog::default(), header)
}
