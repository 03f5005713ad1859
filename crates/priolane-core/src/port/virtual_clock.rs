//! The order of weighted fair queueing: a virtual time by which queues clock themselves (SCFQ: Golestani, INFOCOM 1994).
//!
//! ```text
//! V       finish tag of the packet in service
//! F_k     = max(F_{k-1}, V at arrival) + L_k / w      serve the queue with the smallest head tag; ties: the
//!                                                     smaller queue
//! ```
//!
//! While a queue is backlogged F_{k-1} >= V, and once it is empty F_{k-1} <= V, so only the tag of each *first*
//! packet is stored. It is V + L/w on arrival at an empty queue, and grows by L/w of the next packet at each
//! service. The clock is V, never real time: a queue that had the link alone has no debt afterwards, and one that
//! was idle has no credit (docs/assumptions.md#wfq).
//!
//! Tags count bytes times M / w, where M is the least common multiple of the weights. They are integers, so nothing
//! is rounded. For queues i, j backlogged over any interval, |S_i/w_i - S_j/w_j| <= L_i/w_i + L_j/w_j, with S the
//! bytes served and L the largest packets.

use super::QueueWeights;
use super::multi_queue::Order;
use crate::ids::CLASSES;

/// The order of weighted fair queueing.
#[derive(Clone, Debug)]
pub struct VirtualClock {
    /// V.
    now: u64,
    /// By queue, the increase of a tag per byte: M / w, at most 2^40.
    per_byte: [u64; CLASSES],
    /// By queue, the finish tag of its first packet; undefined if it is empty.
    first: [u64; CLASSES],
}

/// Tags are rebased before they approach 64 bits: one packet adds less than 2^56.
const REBASE_AT: u64 = 1 << 62;

impl VirtualClock {
    pub(super) fn new(weights: &QueueWeights) -> Self {
        let multiple = weights.multiple().unwrap_or(1);
        let per_byte = weights.of.map(|weight| (multiple / u64::from(weight)).max(1));
        Self { now: 0, per_byte, first: [0; CLASSES] }
    }

    #[inline]
    fn cost(&self, q: usize, wire: u16) -> u64 {
        u64::from(wire) * self.per_byte[q]
    }

    /// Subtracts V from all tags: only their difference to V matters.
    #[cold]
    fn rebase(&mut self) {
        let now = std::mem::take(&mut self.now);
        self.first.iter_mut().for_each(|tag| *tag = tag.saturating_sub(now));
    }
}

impl Order for VirtualClock {
    #[inline]
    fn begin(&mut self, q: usize, wire: u16) {
        self.first[q] = self.now + self.cost(q, wire);
    }

    #[inline]
    fn pick(&mut self, occupied: u32) -> usize {
        let mut best = occupied.trailing_zeros() as usize % CLASSES;
        let mut tag = self.first[best];
        let mut rest = occupied & occupied.wrapping_sub(1);
        while rest != 0 {
            let q = rest.trailing_zeros() as usize % CLASSES;
            if self.first[q] < tag {
                (best, tag) = (q, self.first[q]);
            }
            rest &= rest - 1;
        }
        self.now = tag;
        if tag >= REBASE_AT {
            self.rebase();
        }
        best
    }

    #[inline]
    fn served(&mut self, q: usize, next: Option<u16>) {
        if let Some(wire) = next {
            self.first[q] = self.now + self.cost(q, wire);
        }
    }

    /// A paused queue gets no credit: its first packet is treated as if it had just arrived.
    fn passed_over(&mut self, q: usize, wire: u16) {
        self.first[q] = self.first[q].max(self.now + self.cost(q, wire));
    }

    /// No queue has a valid tag, so the clock restarts at 0.
    #[inline]
    fn idle(&mut self) {
        self.now = 0;
    }
}
