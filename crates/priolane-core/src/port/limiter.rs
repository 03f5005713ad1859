//! A rate limiter in front of a discipline: a token bucket decides when a transmission may start.

use super::bucket::{Bucket, PerByte};
use super::{Admission, Discipline, Fifo, PortContext, PortFactory, PortSink};
use crate::packet::{Header, QueueItem};
use crate::units::{Rate, Time};

/// A FIFO queue that serves at most at a given rate, even if the link is faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitedSpec {
    /// The rate limit.
    pub rate: Rate,
    /// Burst size in bytes.
    pub burst: u64,
}

impl PortFactory for LimitedSpec {
    type Port<P: QueueItem> = RateLimited<Fifo<P>>;

    fn build<P: QueueItem>(&self, context: &PortContext) -> RateLimited<Fifo<P>> {
        RateLimited::new(Fifo::new(context.buffer), self.rate, self.burst)
    }

    fn is_limited(&self) -> bool {
        true
    }
}

/// A discipline whose transmissions are limited to a rate, even if the link is faster.
#[derive(Debug)]
pub struct RateLimited<D> {
    inner: D,
    bucket: Bucket,
}

impl<D> RateLimited<D> {
    /// Limits `inner` to `rate`, with a burst of `burst_bytes`.
    pub fn new(inner: D, rate: Rate, burst_bytes: u64) -> Self {
        let burst = rate.serialize(burst_bytes);
        Self { inner, bucket: Bucket::new(PerByte::at(rate, (1, 1)), burst) }
    }
}

impl<P: QueueItem, D: Discipline<P>> Discipline<P> for RateLimited<D> {
    fn enqueue(&mut self, now: Time, item: &P, out: &mut dyn PortSink<P>) -> Admission {
        self.inner.enqueue(now, item, out)
    }

    fn expire(&mut self, now: Time, out: &mut dyn PortSink<P>) {
        self.inner.expire(now, out);
    }

    fn next_eligible_time(&self) -> Option<Time> {
        self.inner.next_eligible_time().map(|inner| inner.max(self.bucket.eligible()))
    }

    fn dequeue(&mut self, t: Time, out: &mut dyn PortSink<P>) -> Option<&P> {
        if self.bucket.eligible() > t {
            return None;
        }
        let item = self.inner.dequeue(t, out)?;
        self.bucket.charge(t, item.header().wire);
        Some(item)
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

    fn packets_before(&self, header: &Header) -> u32 {
        self.inner.packets_before(header)
    }
}
