//! The backlog of a queue, and the decision of its limits on an arriving packet.

use super::{Admission, Buffer, Scope};
use crate::packet::{Header, Marks};
use crate::units::Limit;

/// The backlog in packets and bytes.
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

    /// Returns this backlog minus `part`.
    pub(super) fn without(self, part: Self) -> Self {
        Self { packets: self.packets - part.packets, bytes: self.bytes - part.bytes }
    }

    /// Returns true if this backlog plus a packet of `wire` bytes exceeds `bound`.
    #[inline]
    pub(super) fn exceeds_with(self, wire: u16, bound: Bound) -> bool {
        (self.packets >= bound.packets) | (self.bytes + u64::from(wire) > bound.bytes)
    }
}

/// A limit in packets and one in bytes, one of which never applies, so that the check needs no branch. Packed, so
/// that a port with one queue fits in three cache lines.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub(super) struct Bound {
    packets: u32,
    bytes: u64,
}

impl From<Limit> for Bound {
    fn from(limit: Limit) -> Self {
        let never = Self { packets: u32::MAX, bytes: u64::MAX };
        match limit {
            Limit::Packets(packets) => Self { packets, ..never },
            Limit::Bytes(bytes) => Self { bytes, ..never },
            Limit::Unlimited => never,
        }
    }
}

impl Bound {
    /// Returns the size below which a packet at an empty port does not exceed the limit.
    fn free_below(self) -> u16 {
        let Self { packets, bytes } = self;
        if packets == 0 { 0 } else { u16::try_from(bytes.saturating_add(1)).unwrap_or(u16::MAX) }
    }
}

/// A [`Buffer`] in the form checked for each packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) drop: Bound,
    drop_scope: Scope,
    mark: Bound,
    mark_scope: Scope,
    /// A packet with fewer bytes that arrives at an empty port is neither dropped nor marked.
    free_below: u16,
}

impl From<Buffer> for Bounds {
    fn from(Buffer { limit, limit_scope, mark_above, mark_scope }: Buffer) -> Self {
        let (drop, mark) = (Bound::from(limit), Bound::from(mark_above));
        let free_below = drop.free_below().min(mark.free_below());
        Self { drop, drop_scope: limit_scope, mark, mark_scope, free_below }
    }
}

impl Bounds {
    /// Decides on a packet that arrives at the backlogs `queue` and `port`.
    #[inline]
    pub(super) fn admit(&self, port: Backlog, queue: Backlog, header: &Header) -> Admission {
        let of = |scope| if scope == Scope::Port { port } else { queue };
        self.decide(of(self.drop_scope), of(self.mark_scope), header)
    }

    /// Decides on a packet that arrives at an empty port.
    #[inline]
    pub(super) fn admit_alone(&self, header: &Header) -> Admission {
        if header.wire < self.free_below { Admission::Queued } else { self.decide_alone(header) }
    }

    #[cold]
    fn decide_alone(&self, header: &Header) -> Admission {
        self.decide(Backlog::default(), Backlog::default(), header)
    }

    /// Decides on a packet, with backlog `dropping` for the buffer limit and `marking` for the marking threshold.
    #[inline]
    pub(super) fn decide(&self, dropping: Backlog, marking: Backlog, header: &Header) -> Admission {
        if dropping.exceeds_with(header.wire, self.drop) {
            return Admission::Dropped;
        }
        // Evaluates both conditions: if only data is ECN-capable, a branch would be unpredictable.
        if header.marks.has(Marks::ECN_CAPABLE) & marking.exceeds_with(header.wire, self.mark) {
            return Admission::Marked;
        }
        Admission::Queued
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_packet_is_decided_as_at_an_empty_backlog() {
        let limits =
            [0, 1, 84, 1_538, 65_534, 65_535, 70_000].map(|n| [Limit::Packets(n), Limit::Bytes(n.into())]);
        let limits = || limits.into_iter().flatten().chain([Limit::Unlimited]);
        for (limit, mark_above) in limits().flat_map(|limit| limits().map(move |mark| (limit, mark))) {
            let bounds = Bounds::from(Buffer { limit, mark_above, ..Buffer::UNLIMITED });
            for (wire, marks) in [0, 1, 2, 84, 85, 1_538, 65_534, 65_535]
                .into_iter()
                .flat_map(|wire| [Marks::none(), Marks::ECN_CAPABLE].map(|marks| (wire, marks)))
            {
                let header = Header { wire, marks, ..Header::default() };
                let expected = bounds.decide(Backlog::default(), Backlog::default(), &header);
                assert_eq!(bounds.admit_alone(&header), expected, "{limit:?} {mark_above:?} {wire}");
            }
        }
    }
}
