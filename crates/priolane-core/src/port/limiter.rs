//! A rate limit in front of a discipline: the generic cell rate algorithm in exact integers.
//!
//! `tat`, the theoretical arrival time, is when the bucket would be full again. A service may start at
//! `t >= tat - burst`; starting one of `n` bytes at `t` sets `tat = max(tat, t) + 8 n / rate`. The
//! division's remainder is carried along, so that no picosecond drifts over any number of packets.

use super::{Admission, Discipline};
use crate::packet::{Header, Parcel};
use crate::units::{PS_PER_S, Rate, Span, Time};

/// A discipline whose services are limited to a rate, whatever the line could do.
#[derive(Debug)]
pub struct RateLimited<D> {
    inner: D,
    bucket: Bucket,
}

#[derive(Debug)]
struct Bucket {
    rate: Rate,
    burst: Span,
    tat: Time,
    /// Remainder of `tat` below a picosecond, in 1/rate picoseconds.
    remainder: u64,
}

impl Bucket {
    fn eligible(&self) -> Time {
        Time(self.tat.0.saturating_sub(self.burst.0) + u64::from(self.remainder > 0))
    }

    fn charge(&mut self, t: Time, bytes: u16) {
        // A service at the first whole picosecond after an inexact `tat` is on time: nothing is forgiven.
        if t.0 > self.tat.0 + u64::from(self.remainder > 0) {
            self.tat = t;
            self.remainder = 0;
        }
        let due = u128::from(bytes) * 8 * u128::from(PS_PER_S) + u128::from(self.remainder);
        let rate = u128::from(self.rate.bps());
        self.tat += Span((due / rate) as u64);
        self.remainder = (due % rate) as u64;
    }
}

impl<D> RateLimited<D> {
    /// Limits `inner` to `rate`, letting a burst of `burst_bytes` go ahead of it.
    pub fn new(inner: D, rate: Rate, burst_bytes: u64) -> Self {
        let burst = rate.serialize(burst_bytes);
        Self { inner, bucket: Bucket { rate, burst, tat: Time::ZERO, remainder: 0 } }
    }
}

impl<P: Parcel, D: Discipline<P>> Discipline<P> for RateLimited<D> {
    fn enqueue(&mut self, now: Time, parcel: &P) -> Admission {
        self.inner.enqueue(now, parcel)
    }

    fn pop_evicted(&mut self) -> Option<P> {
        self.inner.pop_evicted()
    }

    fn next_start(&self) -> Option<Time> {
        self.inner.next_start().map(|inner| inner.max(self.bucket.eligible()))
    }

    fn start(&mut self, t: Time) -> Option<&P> {
        let parcel = self.inner.start(t)?;
        self.bucket.charge(t, parcel.header().wire);
        Some(parcel)
    }

    fn packets(&self) -> u32 {
        self.inner.packets()
    }

    fn bytes(&self) -> u64 {
        self.inner.bytes()
    }

    #[inline]
    fn bytes_before(&self, header: &Header) -> u64 {
        self.inner.bytes_before(header)
    }
}
