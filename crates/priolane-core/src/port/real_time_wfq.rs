//! Weighted fair queueing with finish stamps in real time, as in the simulator of Aequitas. It is not fair, and is
//! provided for comparison.
//!
//! ```text
//! start  = max(arrival time, finish stamp of the previous packet of the queue)
//! finish = start + transmission time * sum of weights / w   served: the queue with the smallest stamp at its head;
//!                                                           ties: the smaller queue
//! ```
//!
//! A queue that has the link alone is served sum / w times as fast as its stamps grow. So its stamps run ahead of
//! real time, and when other queues become active it is not served until real time has caught up.
//! [`Wfq`](super::Wfq) uses a virtual clock instead (docs/assumptions.md#wfq-compat).

use std::collections::VecDeque;

use super::multi_queue::{self, MultiQueue, Order, Sorting, mapped};
use super::{Admission, Buffer, Discipline, PortContext, PortFactory, PortSink, QueueWeights, SortBy};
use crate::ids::{CLASSES, Class, ClassSet};
use crate::packet::{Header, QueueItem};
use crate::units::{Rate, Time};

/// Weighted fair queueing with finish stamps in real time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RealTimeWfqSpec {
    /// The weight of each queue.
    pub weights: QueueWeights,
    /// The queue of each class, or of each level at a host; larger values mean the last queue.
    pub map: [u8; CLASSES],
}

impl PortFactory for RealTimeWfqSpec {
    type Port<P: QueueItem> = RealTimeWfq<P>;

    fn build<P: QueueItem>(&self, context: &PortContext) -> RealTimeWfq<P> {
        RealTimeWfq::new(&self.weights, self.map, (context.sort_by, context.rate), context.buffer)
    }

    fn queue_of(&self, class: Class) -> u8 {
        mapped(&self.map, self.weights.queues(), class)
    }

    fn cost(&self) -> f64 {
        multi_queue::COST
    }

    fn is_pausable(&self) -> bool {
        true
    }

    fn without_qdisc(&self) -> &'static str {
        "the fair queueing of another simulator, by its clock: no qdisc does"
    }
}

/// N queues whose packets get finish stamps in real time.
#[derive(Debug)]
pub struct RealTimeWfq<P> {
    queues: MultiQueue<P, Stamps>,
}

/// Computes the finish stamps of a port.
#[derive(Debug)]
struct Stamps {
    rate: Rate,
    /// By queue: the sum of the weights and the queue's weight.
    share: [(u64, u64); CLASSES],
    /// By queue: the finish stamp of the last packet, in picoseconds.
    last: [u64; CLASSES],
    /// By queue: the finish stamp of each queued packet.
    finish: [VecDeque<u64>; CLASSES],
}

impl Stamps {
    fn new(weights: &QueueWeights, rate: Rate) -> Self {
        let sum: u64 = weights.as_slice().iter().map(|&w| u64::from(w)).sum();
        let mut share = [(1, 1); CLASSES];
        for (share, &weight) in share.iter_mut().zip(weights.as_slice()) {
            *share = (sum, u64::from(weight));
        }
        Self { rate, share, last: [0; CLASSES], finish: Default::default() }
    }

    /// Returns the finish stamp of a packet of `wire` bytes that arrives at queue `q` at `now`.
    fn stamp(&mut self, q: usize, now: Time, wire: u16) -> u64 {
        let (sum, weight) = self.share[q];
        let line = u128::from(self.rate.serialize(u64::from(wire)).0);
        let own = u64::try_from(line * u128::from(sum) / u128::from(weight)).unwrap_or(u64::MAX);
        self.last[q] = self.last[q].max(now.0).saturating_add(own);
        self.last[q]
    }
}

impl Order for Stamps {
    /// Does nothing: the stamp was computed on arrival.
    fn begin(&mut self, _q: usize, _wire: u16) {}

    fn pick(&mut self, occupied: u32) -> usize {
        let occupied = (0..CLASSES).filter(|q| occupied & 1 << q != 0);
        let first = |&q: &usize| self.finish[q].front().copied().unwrap_or(u64::MAX);
        occupied.min_by_key(|q| (first(q), *q)).unwrap_or(0)
    }

    fn served(&mut self, q: usize, _next: Option<u16>) {
        self.finish[q].pop_front();
    }
}

impl<P: QueueItem> RealTimeWfq<P> {
    /// Creates one empty queue per weight for a link of `rate`. `map` gives the queue of each class; larger values
    /// mean the last queue.
    pub fn new(
        weights: &QueueWeights,
        map: [u8; CLASSES],
        (sort_by, rate): (SortBy, Rate),
        buffer: Buffer,
    ) -> Self {
        let sorting = Sorting { queues: weights.queues(), map, by: sort_by };
        Self { queues: MultiQueue::in_order(sorting, buffer, Stamps::new(weights, rate)) }
    }
}

impl<P: QueueItem> Discipline<P> for RealTimeWfq<P> {
    fn enqueue(&mut self, now: Time, item: &P, out: &mut dyn PortSink<P>) -> Admission {
        let header = item.header();
        let (q, wire) = (self.queues.queue_of(header), header.wire);
        let admission = self.queues.enqueue(now, item, out);
        if admission != Admission::Dropped {
            let finish = self.queues.order.stamp(q, now, wire);
            self.queues.order.finish[q].push_back(finish);
        }
        admission
    }

    fn try_bypass(&mut self, now: Time, header: &Header) -> Option<Admission> {
        let admission = self.queues.try_bypass(now, header);
        if admission.is_some_and(|admission| admission != Admission::Dropped) {
            self.queues.order.stamp(self.queues.queue_of(header), now, header.wire);
        }
        admission
    }

    fn next_eligible_time(&self) -> Option<Time> {
        self.queues.next_eligible_time()
    }

    fn dequeue(&mut self, t: Time, out: &mut dyn PortSink<P>) -> Option<&P> {
        self.queues.dequeue(t, out)
    }

    fn packets(&self) -> u32 {
        self.queues.packets()
    }

    fn bytes(&self) -> u64 {
        self.queues.bytes()
    }

    fn bytes_before(&self, header: &Header) -> u64 {
        self.queues.bytes_before(header)
    }

    fn packets_before(&self, header: &Header) -> u32 {
        self.queues.packets_before(header)
    }

    fn is_ready(&self, paused: ClassSet) -> bool {
        self.queues.is_ready(paused)
    }

    fn dequeue_unpaused(&mut self, t: Time, paused: ClassSet, out: &mut dyn PortSink<P>) -> Option<&P> {
        self.queues.dequeue_unpaused(t, paused, out)
    }
}

#[cfg(test)]
mod tests;
