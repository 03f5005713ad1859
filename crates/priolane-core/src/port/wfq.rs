//! Weighted fair queueing by a self-clocked virtual time (SCFQ: Golestani, INFOCOM 1994), in exact integers.
//!
//! ```text
//! V       finish tag of the packet in service
//! F_k     = max(F_{k-1}, V at arrival) + L_k / w      the queue with the smallest head tag is served; ties: the
//!                                                     smaller queue
//! ```
//!
//! While a queue is backlogged F_{k-1} >= V, and once it is empty F_{k-1} <= V: so only the tag of each *first*
//! packet is kept. It is V + L/w on arrival at an empty queue, and grows by L/w of the next packet at each service.
//! V is the clock, never real time: a queue that had the line alone owes nothing afterwards, one that was idle has
//! saved up nothing (docs/assumptions.md#wfq).
//!
//! Tags count bytes times M / w, where M is the least common multiple of the weights: whole numbers, so nothing is
//! ever rounded. For queues i, j backlogged over any interval, |S_i/w_i - S_j/w_j| <= L_i/w_i + L_j/w_j, with S the
//! bytes served and L the largest packets.

use super::multi_queue::{MultiQueue, Order, Sorting, mapped};
use super::{
    Buffer, Either, KindRules, OfKind, PortContext, PortFactory, PortSetup, QueueWeights, RealTimeWfqSpec,
    SortBy,
};
use crate::ids::{CLASSES, Class};
use crate::keys::{Keys, Misfit, Words};
use crate::packet::QueueItem;
use crate::part::Part;

/// Weighted fair queueing as files state it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys, Part)]
#[keys(group = "wfq", check = Self::check)]
#[part(
    name = "wfq",
    summary = "weighted fair queueing: backlogged queues share the line by weight (self-clocked, in exact integers)",
    source = "Golestani, INFOCOM 1994; Aequitas (SIGCOMM 2022) §4.1",
    provides = [ClassPause]
)]
pub struct WfqKeys {
    /// Number of queues, 1 to 16.
    #[key(required = "queues = 8", group = "queues", range = "[1, 16]", source = "docs/assumptions.md#wfq")]
    pub queues: u8,
    /// Weight of each queue, queue 0 first: whole numbers above 0 with a least common multiple of at most 2^40.
    #[key(required = "weights = [8, 4, 1]", source = "docs/assumptions.md#wfq")]
    pub weights: QueueWeights,
    /// What packets are stamped by.
    #[key(default = WfqClock::Virtual, skip_default, source = "docs/assumptions.md#wfq-compat")]
    pub clock: WfqClock,
}

/// What the packets of weighted fair queues are stamped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum WfqClock {
    /// A virtual time, that of the packet in service.
    Virtual,
    /// Real time, as in the simulator of Aequitas, which is not fair.
    AequitasCompat,
}

impl WfqKeys {
    fn check(&mut self) -> Result<(), Misfit> {
        if self.weights.queues() == self.queues {
            return Ok(());
        }
        let what = format!("{} weights for {} queue(s)", self.weights.queues(), self.queues);
        Err(Misfit::of("weights", what, "one weight per queue, queue 0 first"))
    }
}

impl OfKind for WfqKeys {
    type Spec = Either<WfqSpec, RealTimeWfqSpec>;

    fn discipline(&self, setup: &PortSetup<'_>) -> Self::Spec {
        let (weights, map) = (self.weights, setup.map);
        match self.clock {
            WfqClock::Virtual => Either::First(WfqSpec { weights, map }),
            WfqClock::AequitasCompat => Either::Second(RealTimeWfqSpec { weights, map }),
        }
    }
}

impl KindRules for WfqKeys {
    fn queues(&self) -> u8 {
        self.queues
    }
}

/// Weighted fair queueing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WfqSpec {
    /// The weight of each queue.
    pub weights: QueueWeights,
    /// The queue of each class, or of each level at a host; those beyond the last queue mean the last.
    pub map: [u8; CLASSES],
}

impl PortFactory for WfqSpec {
    type Port<P: QueueItem> = Wfq<P>;

    fn build<P: QueueItem>(&self, context: &PortContext) -> Wfq<P> {
        Wfq::new(&self.weights, self.map, context.sort_by, context.buffer)
    }

    fn queue_of(&self, class: Class) -> u8 {
        mapped(&self.map, self.weights.queues(), class)
    }

    fn is_pausable(&self) -> bool {
        true
    }
}

/// N queues that share the line by weight, without preemption.
pub type Wfq<P> = MultiQueue<P, VirtualClock>;

/// The order of weighted fair queueing.
#[derive(Clone, Debug)]
pub struct VirtualClock {
    /// V.
    now: u64,
    /// By queue, what a byte adds to a tag: M / w, at most 2^40.
    per_byte: [u64; CLASSES],
    /// By queue, the finish tag of its first packet; of no meaning if it is empty.
    first: [u64; CLASSES],
}

/// Tags are moved back before they come near the end of 64 bits: one packet adds less than 2^56.
const REBASE_AT: u64 = 1 << 62;

impl VirtualClock {
    fn new(weights: &QueueWeights) -> Self {
        let multiple = weights.multiple().unwrap_or(1);
        let per_byte = weights.of.map(|weight| (multiple / u64::from(weight)).max(1));
        Self { now: 0, per_byte, first: [0; CLASSES] }
    }

    #[inline]
    fn cost(&self, q: usize, wire: u16) -> u64 {
        u64::from(wire) * self.per_byte[q]
    }

    /// All that counts is how far tags are ahead of V.
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

    /// A paused queue is not served and saves up nothing: it stands as if its first packet had just come.
    fn passed_over(&mut self, q: usize, wire: u16) {
        self.first[q] = self.first[q].max(self.now + self.cost(q, wire));
    }

    /// Every tag is V or of no meaning: the clock starts anew.
    #[inline]
    fn idle(&mut self) {
        self.now = 0;
    }
}

impl<P: QueueItem> Wfq<P> {
    /// One empty queue per weight. `map` gives the queue of each class; entries beyond the last queue mean the last.
    pub fn new(weights: &QueueWeights, map: [u8; CLASSES], sort_by: SortBy, buffer: Buffer) -> Self {
        let sorting = Sorting { queues: weights.queues, map, by: sort_by };
        Self::in_order(sorting, buffer, VirtualClock::new(weights))
    }
}

#[cfg(test)]
mod tests;
