//! Clock readings of a host, as carried in packets.

use crate::endpoint::LocalClock;
use crate::units::{Span, Time};

/// Picoseconds in a tick, as a power of two: a stamp of 32 bits wraps after 4.4 s.
const TICK_SHIFT: u32 = 10;

/// A reading of a host's clock in ticks of 1024 ps, wrapping.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stamp(pub u32);

impl Stamp {
    /// The resolution of a reading.
    pub(in crate::transport) const TICK: Span = Span(1 << TICK_SHIFT);

    /// Returns the reading of `clock` at true time `at`.
    #[inline]
    pub fn read(clock: LocalClock, at: Time) -> Self {
        // Wrapping, not saturating as in `LocalClock::read`: differences stay correct just after the start.
        Self((at.0.wrapping_add_signed(clock.offset_ps) >> TICK_SHIFT) as u32)
    }

    /// Returns the ticks from `earlier` to this stamp, if they are less than 2^32 apart.
    #[inline]
    pub(crate) fn ticks_since(self, earlier: Self) -> u32 {
        self.0.wrapping_sub(earlier.0)
    }

    /// Returns the time from `earlier` to this stamp, at least one tick.
    #[inline]
    pub fn since(self, earlier: Self) -> Span {
        Span(u64::from(self.ticks_since(earlier).max(1)) << TICK_SHIFT)
    }

    /// Returns a time in ticks, wrapping.
    #[inline]
    pub(in crate::transport) fn ticks(span: Span) -> u32 {
        (span.0 >> TICK_SHIFT) as u32
    }

    /// Returns a difference of two stamps in picoseconds; negative if the later stamp reads less.
    #[inline]
    pub(in crate::transport) fn difference_ps(ticks: u32) -> i64 {
        i64::from(ticks.cast_signed()) << TICK_SHIFT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_measure_across_the_wrap_and_below_zero() {
        let clock = LocalClock { offset_ps: -5_000_000 };
        let sent = Stamp::read(clock, Time(1_000_000));
        // 10.24 us later: 10,000 ticks of 1024 ps, although the clock first reads a negative time.
        assert_eq!(Stamp::read(clock, Time(11_240_000)).since(sent), Span(10_240_000));
        assert_eq!(Stamp(5).ticks_since(Stamp(u32::MAX - 4)), 10);
        assert_eq!(Stamp(7).since(Stamp(7)), Span(1024));
    }
}
