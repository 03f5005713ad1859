//! Quantities that determine results: integer picoseconds, bytes, and exact bit rates.
//!
//! None of them is a float, so that all machines agree on every instant of a run.

use std::fmt;
use std::num::NonZeroU64;
use std::ops::{Add, AddAssign, Sub, SubAssign};

/// Picoseconds in one second.
pub const PS_PER_S: u64 = 1_000_000_000_000;

/// An instant, in picoseconds since the start of the run (range: 213 days).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(pub u64);

/// A duration, in picoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(pub u64);

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Bytes(pub u64);

/// An exact link or pacing rate, in whole bits per second (greater than zero). `Option<Rate>` has the size of `Rate`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(NonZeroU64);

/// A limit in packets or bytes, such as a queue capacity, a marking threshold or a window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// At most this many packets.
    Packets(u32),
    /// At most this many bytes on the wire.
    Bytes(u64),
    /// No limit.
    Unlimited,
}

impl Limit {
    /// Returns whether a backlog of `packets` and `bytes` exceeds this limit.
    #[inline]
    pub fn is_exceeded(self, packets: u32, bytes: u64) -> bool {
        match self {
            Self::Packets(limit) => packets > limit,
            Self::Bytes(limit) => bytes > limit,
            Self::Unlimited => false,
        }
    }
}

impl Time {
    /// The start of every run.
    pub const ZERO: Self = Self(0);
    /// The latest instant of a run: 26 days.
    pub const LATEST: Self = Self(26 * 86_400 * PS_PER_S);
    /// Later than any instant of a run; means "never".
    pub const NEVER: Self = Self(u64::MAX);

    /// Returns the duration from `earlier` to this instant; zero if `earlier` is later.
    #[inline]
    pub fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// Returns this instant in seconds. For display and statistics only, never for event times.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }
}

impl Span {
    /// The empty duration.
    pub const ZERO: Self = Self(0);
    /// The duration of the longest run, and the upper bound of all timers.
    pub const LONGEST: Self = Self(Time::LATEST.0);

    /// Returns a duration of whole nanoseconds.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns * 1_000)
    }

    /// Returns a duration of whole microseconds.
    pub const fn from_us(us: u64) -> Self {
        Self(us * 1_000_000)
    }

    /// Returns a duration of whole milliseconds.
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms * 1_000_000_000)
    }

    /// Returns this duration in seconds. For display and statistics only, never for event times.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// Returns this duration multiplied by `n`, saturating.
    #[inline]
    pub fn times(self, n: u64) -> Self {
        Self(self.0.saturating_mul(n))
    }
}

impl Rate {
    /// Returns a rate of `bits_per_second`; `None` for zero.
    pub const fn from_bps(bits_per_second: u64) -> Option<Self> {
        match NonZeroU64::new(bits_per_second) {
            Some(bits_per_second) => Some(Self(bits_per_second)),
            None => None,
        }
    }

    /// Returns a rate of whole gigabits per second; 1 bit per second if `gbps` is 0.
    pub const fn from_gbps(gbps: u64) -> Self {
        match Self::from_bps(gbps * 1_000_000_000) {
            Some(rate) => rate,
            None => Self(NonZeroU64::MIN),
        }
    }

    /// Returns the rate in bits per second.
    pub const fn bps(self) -> u64 {
        self.0.get()
    }

    /// Returns the serialization delay of `bytes` at this rate: `ceil(bits * 10^12 / rate)` picoseconds.
    pub fn serialize(self, bytes: u64) -> Span {
        let bits = u128::from(bytes) * 8 * u128::from(PS_PER_S);
        Span(bits.div_ceil(u128::from(self.bps())).min(u128::from(u64::MAX)) as u64)
    }

    /// Returns the picoseconds per byte if they are a whole number, as for most link rates.
    pub fn whole_ps_per_byte(self) -> Option<u32> {
        let per_byte = 8 * PS_PER_S;
        if per_byte.is_multiple_of(self.bps()) { u32::try_from(per_byte / self.bps()).ok() } else { None }
    }

    /// Returns the bytes that a link of this rate carries in `span`, rounded down.
    pub fn bytes_in(self, span: Span) -> u64 {
        (u128::from(span.0) * u128::from(self.bps()) / (8 * u128::from(PS_PER_S))) as u64
    }
}

/// Returns the rate, in bits per second, of `bytes` in `span`, rounded down; 0 for an empty span.
pub(crate) fn bits_per_second(bytes: u64, span: Span) -> u64 {
    let bits = u128::from(bytes) * 8 * u128::from(PS_PER_S);
    u64::try_from(bits.checked_div(u128::from(span.0)).unwrap_or(0)).unwrap_or(u64::MAX)
}

impl Add<Span> for Time {
    type Output = Self;
    #[inline]
    fn add(self, span: Span) -> Self {
        Self(self.0 + span.0)
    }
}

impl AddAssign<Span> for Time {
    #[inline]
    fn add_assign(&mut self, span: Span) {
        self.0 += span.0;
    }
}

impl Sub<Span> for Time {
    type Output = Self;
    #[inline]
    fn sub(self, span: Span) -> Self {
        Self(self.0 - span.0)
    }
}

impl Add for Span {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Span {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Span {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl SubAssign for Span {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::NEVER { write!(f, "never") } else { write!(f, "{}ps", self.0) }
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ps", self.0)
    }
}

impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}bps", self.bps())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serialization_rounds_up_to_the_picosecond() {
        // 1538 B at 10 Gbps: 12304 bits / 1e10 = 1.2304 us exactly.
        assert_eq!(Rate::from_gbps(10).serialize(1538), Span(1_230_400));
        // 1 B at 15 Gbps: 8 / 15e9 s = 533.33.. ps.
        assert_eq!(Rate::from_gbps(15).serialize(1), Span(534));
        assert_eq!(Rate::from_gbps(15).serialize(3), Span(1600));
    }

    #[test]
    fn whole_picoseconds_per_byte_only_where_exact() {
        assert_eq!(Rate::from_gbps(10).whole_ps_per_byte(), Some(800));
        assert_eq!(Rate::from_gbps(400).whole_ps_per_byte(), Some(20));
        assert_eq!(Rate::from_gbps(15).whole_ps_per_byte(), None);
        assert_eq!(Rate::from_bps(0), None);
    }
}
