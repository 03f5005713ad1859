//! A token bucket in exact integers: the generic cell rate algorithm.
//!
//! `tat`, the theoretical arrival time, is when the bucket would be full again. A service may start at
//! `t >= tat - burst`; starting one of `n` bytes at `t` sets `tat = max(tat, t) + n / rate`. The division's remainder is
//! carried along, so that no picosecond drifts over any number of packets.
//!
//! So what starts in a closed window of length w has at most `rate x (w + burst)` bytes without its last packet.

use crate::units::{PS_PER_S, Rate, Span, Time};

/// How long a byte takes: a fraction of picoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct PerByte {
    numerator: u128,
    denominator: u128,
}

impl PerByte {
    /// At `part / whole` of `rate`; neither is zero.
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

    /// What `bytes` take, rounded down.
    pub(super) fn span(self, bytes: u64) -> Span {
        Span((u128::from(bytes) * self.numerator / self.denominator) as u64)
    }
}

/// What a size takes: whole picoseconds, and a remainder over the denominator.
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
    /// Of the size that was charged last: most are like the one before, and a division takes longer than all else.
    step: Step,
}

impl Bucket {
    pub(super) fn new(per_byte: PerByte, burst: Span) -> Self {
        Self { per_byte, burst, tat: Time::ZERO, remainder: 0, step: per_byte.step(0) }
    }

    /// The earliest instant at which a service may start.
    #[inline]
    pub(super) fn eligible(&self) -> Time {
        Time(self.full_at().0.saturating_sub(self.burst.0))
    }

    /// The first whole picosecond at which the bucket is full.
    #[inline]
    fn full_at(&self) -> Time {
        Time(self.tat.0 + u64::from(self.remainder > 0))
    }

    /// A service of `bytes` starts at `t`.
    #[inline]
    pub(super) fn charge(&mut self, t: Time, bytes: u16) {
        // A service at the first whole picosecond after an inexact `tat` is on time: nothing is forgiven, unless there
        // is a burst, for which a backlog never waits until the bucket is full.
        if t > self.full_at() || (t == self.full_at() && self.burst > Span::ZERO) {
            self.tat = t;
            self.remainder = 0;
        }
        if bytes != self.step.bytes {
            self.step = self.per_byte.step(bytes);
        }
        self.tat += self.step.whole;
        // Both are below the denominator.
        self.remainder += self.step.remainder;
        if self.remainder >= self.per_byte.denominator {
            self.remainder -= self.per_byte.denominator;
            self.tat += Span(1);
        }
    }
}
