//! The backlog of a queue, and the decision of its limits on an arriving packet.

use super::{Admission, Buffer, Ramp, Scope};
use crate::packet::{Header, Marks};
use crate::rng::CounterRng;
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

/// A marking threshold in packets and one in bytes, one of which is the largest number. Smaller than a [`Bound`], so that
/// a port with one queue has room for its [`Slope`].
#[derive(Clone, Copy, Debug)]
struct Threshold {
    packets: u32,
    bytes: u32,
}

impl From<Limit> for Threshold {
    fn from(limit: Limit) -> Self {
        let never = Self { packets: u32::MAX, bytes: u32::MAX };
        match limit {
            Limit::Packets(packets) => Self { packets, ..never },
            Limit::Bytes(bytes) => Self { bytes: u32::try_from(bytes).unwrap_or(u32::MAX), ..never },
            Limit::Unlimited => never,
        }
    }
}

impl Threshold {
    /// Returns true if `backlog` plus a packet of `wire` bytes exceeds it.
    #[inline]
    fn is_exceeded_with(self, backlog: Backlog, wire: u16) -> bool {
        (backlog.packets >= self.packets) | (backlog.bytes + u64::from(wire) > u64::from(self.bytes))
    }

    /// Returns how far `backlog` is above it, in its unit.
    fn excess(self, backlog: Backlog) -> u64 {
        match self.packets {
            u32::MAX => backlog.bytes.saturating_sub(self.bytes.into()),
            packets => backlog.packets.saturating_sub(packets).into(),
        }
    }

    /// Returns the size below which a packet at an empty port does not exceed it.
    fn free_below(self) -> u16 {
        let bytes = u64::from(self.bytes);
        Bound { packets: self.packets, bytes }.free_below()
    }
}

/// A [`Ramp`] in the form evaluated for each packet above the threshold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slope {
    /// Backlog from the threshold to certain marks, in packets or bytes; 0 if all packets above the threshold are marked.
    width: u32,
    /// The probability at its end, in millionths.
    most: u32,
}

impl Slope {
    /// Parts of a packet or a byte in which an excess is counted.
    pub(super) const PARTS: u64 = 1 << 16;

    pub(super) fn of(mark_above: Limit, ramp: Option<Ramp>) -> Self {
        let width = match (mark_above, ramp.map(|ramp| ramp.full)) {
            (Limit::Packets(from), Some(Limit::Packets(to))) => to.saturating_sub(from),
            (Limit::Bytes(from), Some(Limit::Bytes(to))) => {
                u32::try_from(to.saturating_sub(from)).unwrap_or(u32::MAX)
            }
            // Backlogs above 4 GB exceed any number of bytes here: nothing marks them.
            (Limit::Unlimited, _) => return Self { width: u32::MAX, most: 0 },
            _ => 0,
        };
        Self { width, most: ramp.map_or(0, |ramp| ramp.most) }
    }

    /// Returns whether all packets above the threshold are marked.
    #[inline]
    pub(super) fn is_step(self) -> bool {
        self.width == 0
    }

    /// Decides on a packet that finds `bytes` of backlog, itself included, where what decides exceeds the threshold by
    /// `excess` of [`Self::PARTS`]. The number drawn is a function of packet and backlog, so that no order in which nodes
    /// are visited changes it (docs/assumptions.md#red).
    #[cold]
    pub(super) fn marks(self, excess: u64, header: &Header, bytes: u64) -> bool {
        let width = u64::from(self.width) * Self::PARTS;
        if excess > width {
            return true;
        }
        let flow = u64::from(header.src.0) << 32 | u64::from(header.flow.0);
        let draw = CounterRng::default().of(flow).of(header.offset.get()).bits(bytes) >> 32;
        let certain = u128::from(width) * 1_000_000;
        u128::from(draw) * certain < (u128::from(self.most) * u128::from(excess)) << 32
    }
}

/// A [`Buffer`] in the form checked for each packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) drop: Bound,
    drop_scope: Scope,
    mark: Threshold,
    mark_scope: Scope,
    slope: Slope,
    /// A packet with fewer bytes that arrives at an empty port is neither dropped nor marked.
    free_below: u16,
}

impl From<Buffer> for Bounds {
    fn from(Buffer { limit, limit_scope, mark_above, mark_scope, ramp }: Buffer) -> Self {
        let (drop, mark) = (Bound::from(limit), Threshold::from(mark_above));
        let free_below = drop.free_below().min(mark.free_below());
        let slope = Slope::of(mark_above, ramp);
        Self { drop, drop_scope: limit_scope, mark, mark_scope, slope, free_below }
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
    #[inline(never)]
    fn decide_alone(&self, header: &Header) -> Admission {
        self.decide(Backlog::default(), Backlog::default(), header)
    }

    /// Decides on a packet, with backlog `dropping` for the buffer limit and `marking` for the marking threshold.
    #[inline(always)]
    pub(super) fn decide(&self, dropping: Backlog, marking: Backlog, header: &Header) -> Admission {
        if dropping.exceeds_with(header.wire, self.drop) {
            return Admission::Dropped;
        }
        // Evaluates both conditions: if only data is ECN-capable, a branch would be unpredictable.
        if header.marks.has(Marks::ECN_CAPABLE) & self.mark.is_exceeded_with(marking, header.wire) {
            return if self.slope.is_step() || self.draws(marking, *header) {
                Admission::Marked
            } else {
                Admission::Queued
            };
        }
        Admission::Queued
    }

    /// Draws whether a packet above the marking threshold is marked.
    // The header by value: a reference would keep the packet in memory on the way that does not come here.
    #[cold]
    #[inline(never)]
    fn draws(&self, marking: Backlog, header: Header) -> bool {
        let with = Backlog { packets: marking.packets + 1, bytes: marking.bytes + u64::from(header.wire) };
        self.slope.marks(self.mark.excess(with).saturating_mul(Slope::PARTS), &header, with.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::FlowId;
    use crate::packet::Offset;

    /// The part of packets that are marked behind `packets` of 1,000 bytes, from 5 to 205 of them with at most 20 %.
    fn marked_part(packets: u32, unit: fn(u32) -> Limit) -> f64 {
        let ramp = Some(Ramp { full: unit(205), most: 200_000 });
        let bounds = Bounds::from(Buffer { mark_above: unit(5), ramp, ..Buffer::UNLIMITED });
        let backlog = Backlog { packets: packets - 1, bytes: u64::from(packets - 1) * 1_000 };
        let header = |i: u64| Header {
            wire: 1_000,
            marks: Marks::ECN_CAPABLE,
            flow: FlowId((i % 7) as u32),
            offset: Offset::new(i * 1_000),
            ..Header::default()
        };
        let is_marked = |&i: &u64| bounds.decide(backlog, backlog, &header(i)) == Admission::Marked;
        (0..40_000).filter(is_marked).count() as f64 / 40_000.0
    }

    /// 40,000 draws at p = 0.1 have a deviation of 0.0015; four of them are tolerated.
    #[test]
    fn marks_grow_in_proportion_to_the_backlog_above_the_threshold() {
        let units: [fn(u32) -> Limit; 2] =
            [Limit::Packets, |packets| Limit::Bytes(u64::from(packets) * 1_000)];
        for unit in units {
            for (packets, expected) in [(5, 0.0), (6, 0.001), (55, 0.05), (105, 0.1), (205, 0.2), (206, 1.0)]
            {
                let found = marked_part(packets, unit);
                assert!((found - expected).abs() < 0.006, "{packets}: {found}, not {expected}");
                assert!(expected > 0.0 || found == 0.0, "{packets}: {found}");
            }
        }
    }

    #[test]
    fn packets_that_cannot_be_marked_never_are() {
        let ramp = Some(Ramp { full: Limit::Packets(2), most: 1_000_000 });
        let bounds = Bounds::from(Buffer { mark_above: Limit::Packets(1), ramp, ..Buffer::UNLIMITED });
        let backlog = Backlog { packets: 9, bytes: 9_000 };
        assert_eq!(bounds.decide(backlog, backlog, &Header::default()), Admission::Queued);
    }

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
