//! Strict queues before weighted ones, as switches mix them (SONiC: `STRICT` beside `DWRR`; Linux: the strict bands of
//! ets).
//!
//! ```text
//! pick    the first strict queue that holds a packet, or else the weighted queue that `wfq` picks
//! ```
//!
//! The clock of the weighted queues stands while a strict queue is served, so they share by weight what strict queues
//! leave (docs/assumptions.md#strict-first).

use super::multi_queue::{self, MultiQueue, Order, Sorting, mapped};
use super::virtual_clock::VirtualClock;
use super::{PortContext, PortFactory, QueueWeights};
use crate::ids::{CLASSES, Class};
use crate::packet::QueueItem;

/// Strict queues, and weighted ones that share what these leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StrictFirstSpec {
    /// The number of strict queues, at least 1; they are the first.
    pub strict: u8,
    /// The weight of each queue behind them.
    pub weights: QueueWeights,
    /// The queue of each class, or of each level at a host; larger values mean the last queue.
    pub map: [u8; CLASSES],
}

impl StrictFirstSpec {
    fn queues(&self) -> u8 {
        self.strict + self.weights.queues()
    }
}

impl PortFactory for StrictFirstSpec {
    type Port<P: QueueItem> = MultiQueue<P, StrictFirst<VirtualClock>>;

    fn build<P: QueueItem>(&self, context: &PortContext) -> Self::Port<P> {
        let sorting = Sorting { queues: self.queues(), map: self.map, by: context.sort_by };
        let order = StrictFirst { strict: usize::from(self.strict), rest: VirtualClock::new(&self.weights) };
        MultiQueue::in_order(sorting, context.buffer, order)
    }

    fn queue_of(&self, class: Class) -> u8 {
        mapped(&self.map, self.queues(), class)
    }

    fn cost(&self) -> f64 {
        multi_queue::COST
    }

    fn is_pausable(&self) -> bool {
        true
    }

    fn without_qdisc(&self) -> &'static str {
        "strict queues before weighted ones (wfq with strict): a kernel switch has queues of one kind"
    }
}

/// Serves the first `strict` queues in strict order, and the others in the order `O` while these are empty.
#[derive(Clone, Debug)]
pub struct StrictFirst<O> {
    strict: usize,
    /// The order of the other queues, which it counts from 0.
    rest: O,
}

impl<O: Order> Order for StrictFirst<O> {
    #[inline]
    fn begin(&mut self, q: usize, wire: u16) {
        if let Some(q) = q.checked_sub(self.strict) {
            self.rest.begin(q, wire);
        }
    }

    #[inline]
    fn pick(&mut self, occupied: u32) -> usize {
        let first = occupied.trailing_zeros() as usize;
        if first < self.strict { first } else { self.strict + self.rest.pick(occupied >> self.strict) }
    }

    #[inline]
    fn served(&mut self, q: usize, next: Option<u16>) {
        if let Some(q) = q.checked_sub(self.strict) {
            self.rest.served(q, next);
        }
    }

    fn passed_over(&mut self, q: usize, wire: u16) {
        if let Some(q) = q.checked_sub(self.strict) {
            self.rest.passed_over(q, wire);
        }
    }

    #[inline]
    fn idle(&mut self) {
        self.rest.idle();
    }
}

#[cfg(test)]
mod tests;
