//! What the window machine writes in its packets: 24 bytes after the header.

use crate::endpoint::LocalClock;
use crate::packet::{Body, Header, Kind, Packet};
use crate::telemetry::{HopReading, Telemetry};
use crate::units::{Span, Time};

/// Picoseconds in a tick, as a power of two: a stamp of 32 bits wraps after 4.4 s.
const TICK_SHIFT: u32 = 10;

/// A reading of a host's clock in ticks of 1024 ps, wrapping.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stamp(pub u32);

impl Stamp {
    /// What `clock` reads at the true instant `at`.
    #[inline]
    pub fn read(clock: LocalClock, at: Time) -> Self {
        // Wrapping, not saturating as `LocalClock::read`: differences stay true just after the start.
        Self((at.0.wrapping_add_signed(clock.offset_ps) >> TICK_SHIFT) as u32)
    }

    /// Ticks from `earlier` to this stamp, if they are less than 2^32 apart.
    #[inline]
    pub fn ticks_since(self, earlier: Self) -> u32 {
        self.0.wrapping_sub(earlier.0)
    }

    /// The time from `earlier` to this stamp, at least one tick.
    #[inline]
    pub fn since(self, earlier: Self) -> Span {
        Span(u64::from(self.ticks_since(earlier).max(1)) << TICK_SHIFT)
    }
}

/// Body of a packet of the window machine, with telemetry of the kind `T`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Segment<T = ()> {
    /// When the packet was sent, by its sender's clock; an ACK or SYN/ACK echoes the stamp of the packet
    /// that it answers (RFC 7323 §3).
    pub stamp: Stamp,
    /// Of an ACK: ticks of 1024 ps from that packet's stamp to its arrival by the receiver's clock. Holds the
    /// difference of the two clocks, so only its changes mean anything where clocks are not in step.
    pub one_way: u32,
    /// Of an ACK: blocks received above the cumulative ACK, as (start, end) offsets from it, the most recent
    /// first (RFC 2018 §4); (0, 0) is none. Of a signal: the bytes that will not come, as offsets from the
    /// header's.
    pub sack: [(u32, u32); 2],
    /// What switches told the packet; of an ACK: told the packet that it answers.
    pub telemetry: T,
}

impl<T> Segment<T> {
    /// [`Self::one_way`] in picoseconds, below zero where the receiver's clock is behind.
    #[inline]
    pub(super) fn one_way_ps(&self) -> i64 {
        i64::from(self.one_way.cast_signed()) << TICK_SHIFT
    }
}

impl<T: Telemetry> Body for Segment<T> {
    const STAMPED: bool = T::STAMPED;

    fn blocks(&self) -> [(u32, u32); 2] {
        self.sack
    }

    #[inline]
    fn stamp(&mut self, header: &Header, reading: HopReading) {
        if header.kind == Kind::Data {
            self.telemetry.take(reading);
        }
    }
}

const _: () = assert!(size_of::<Segment>() == 24);
const _: () = assert!(size_of::<Packet<Segment>>() == 56);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_measure_across_the_wrap_and_below_zero() {
        let clock = LocalClock { offset_ps: -5_000_000 };
        let sent = Stamp::read(clock, Time(1_000_000));
        // 10.24 us later: 10,000 ticks of 1024 ps, although the clock reads less than zero at first.
        assert_eq!(Stamp::read(clock, Time(11_240_000)).since(sent), Span(10_240_000));
        assert_eq!(Stamp(5).ticks_since(Stamp(u32::MAX - 4)), 10);
        assert_eq!(Stamp(7).since(Stamp(7)), Span(1024));
    }
}
