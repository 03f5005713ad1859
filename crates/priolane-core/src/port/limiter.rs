//! A rate limit in front of a discipline: no service starts before its token bucket lets it.

use super::bucket::{Bucket, PerByte};
use super::{Admission, Discipline, PortSink};
use crate::packet::{Header, Parcel};
use crate::units::{Rate, Time};

/// A discipline whose services are limited to a rate, whatever the line could do.
#[derive(Debug)]
pub struct RateLimited<D> {
    inner: D,
    bucket: Bucket,
}

impl<D> RateLimited<D> {
    /// Limits `inner` to `rate`, letting a burst of `burst_bytes` go ahead of it.
    pub fn new(inner: D, rate: Rate, burst_bytes: u64) -> Self {
        let burst = rate.serialize(burst_bytes);
        Self { inner, bucket: Bucket::new(PerByte::at(rate, (1, 1)), burst) }
    }
}

impl<P: Parcel, D: Discipline<P>> Discipline<P> for RateLimited<D> {
    fn enqueue(&mut self, now: Time, parcel: &P, out: &mut dyn PortSink<P>) -> Admission {
        self.inner.enqueue(now, parcel, out)
    }

    fn expire(&mut self, now: Time, out: &mut dyn PortSink<P>) {
        self.inner.expire(now, out);
    }

    fn next_start(&self) -> Option<Time> {
        self.inner.next_start().map(|inner| inner.max(self.bucket.eligible()))
    }

    fn start(&mut self, t: Time, out: &mut dyn PortSink<P>) -> Option<&P> {
        if self.bucket.eligible() > t {
            return None;
        }
        let parcel = self.inner.start(t, out)?;
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
    fn payload_bytes(&self) -> u64 {
        self.inner.payload_bytes()
    }

    fn bytes_before(&self, header: &Header) -> u64 {
        self.inner.bytes_before(header)
    }
}
