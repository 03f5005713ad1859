//! A token bucket in exact integers: the generic cell rate algorithm.
//!
//! `tat`, the theoretical arrival time, is when the bucket would be full again. A transmission may start at `t >=
//! tat - burst`; starting one of `n` bytes at `t` sets `tat = max(tat, t) + n / rate`. The remainder of the
//! division is kept, so that no rounding error accumulates over any number of packets.
//!
//! Therefore the transmissions that start in a closed window of length w have at most `rate x (w + burst)` bytes,
//! not counting the last packet.

use crate::units::{PS_PER_S, Rate, Span, Time};

/// The time per byte, as a fraction of picoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct PerByte {
    numerator: u128,
    denominator: u128,
}

impl PerByte {
    /// Returns the time per byte at `part / whole` of `rate`; neither is zero.
    pub(super) fn at(rate: Rate, (part, whole): (u32, u32)) -> Self {
        Self {
            numerator: 8 * u128::from(PS_PER_S) * u128::from(whole),
            denominator: u128::from(rate.bps()) * u128::from(part),
        }
    }

    #[inline(never)]
    fn step(self, bytes: u16) -> Step {
        let due = u128::from(bytes) * self.numerator;
        let (whole, remainder) = (Span((due / self.denominator) as u64), due % self.denominator);
        Step { bytes, whole, remainder }
    }

    /// Returns the time for `bytes`, rounded down.
    pub(super) fn span(self, bytes: u64) -> Span {
        Span((u128::from(bytes) * self.numerator / self.denominator) as u64)
    }
}

/// The time for a packet size: whole picoseconds, and a remainder over the denominator.
#[derive(Clone, Copy, Debug)]
struct Step {
    bytes: u16,
    whole: Span,
    remainder: u128,
}

#[derive(Clone, Debug)]
pub(super) struct Bucket {
    per_byte: PerByte,
    burst: Span,
    tat: Time,
    /// Remainder of `tat` below a picosecond, in picoseconds over the denominator.
    remainder: u128,
    /// The step of the last size: most packets have the same size as the one before, and the division dominates the
    /// cost.
    step: Step,
}

impl Bucket {
    pub(super) fn new(per_byte: PerByte, burst: Span) -> Self {
        Self { per_byte, burst, tat: Time::ZERO, remainder: 0, step: per_byte.step(0) }
    }

    /// Returns the earliest time at which a transmission may start.
    #[inline]
    pub(super) fn eligible(&self) -> Time {
        Time(self.full_at().0.saturating_sub(self.burst.0))
    }

    /// Returns the first whole picosecond at which the bucket is full.
    #[inline]
    fn full_at(&self) -> Time {
        Time(self.tat.0 + u64::from(self.remainder > 0))
    }

    /// Charges a transmission of `bytes` that starts at `t`.
    #[inline]
    pub(super) fn charge(&mut self, t: Time, bytes: u16) {
        // A transmission at the first whole picosecond after a fractional `tat` is on time and keeps the remainder.
        // With a burst it does not, because a backlog then never waits until the bucket is full.
        if t > self.full_at() || (t == self.full_at() && self.burst > Span::ZERO) {
            self.tat = t;
            self.remainder = 0;
        }
        if bytes != self.step.bytes {
            self.step = self.per_byte.step(bytes);
        }
        self.tat += self.step.whole;
        // Both are less than the denominator.
        self.remainder += self.step.remainder;
        if self.remainder >= self.per_byte.denominator {
            self.remainder -= self.per_byte.denominator;
            self.tat += Span(1);
        }
    }
}
