//! Weighted fair queueing with a self-clocked virtual time (SCFQ: Golestani, INFOCOM 1994), in exact integers.
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

use super::multi_queue::{MultiQueue, Order, Sorting, mapped};
use super::{
    Buffer, Either, KindRules, OfKind, PortContext, PortFactory, PortSetup, QueueWeights, RealTimeWfqSpec,
    SortBy, StrictFirstSpec,
};
use crate::ids::{CLASSES, Class};
use crate::keys::{KeyConflict, Keys, Words};
use crate::packet::QueueItem;
use crate::part::Part;

/// Weighted fair queueing as files state it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys, Part)]
#[keys(group = "wfq", check = Self::check)]
#[part(
    name = "wfq",
    summary = "weighted fair queueing: backlogged queues share the link by weight (self-clocked, in exact \
               integers)",
    source = "Golestani, INFOCOM 1994; Aequitas (SIGCOMM 2022) §4.1",
    provides = [ClassPause],
    serves = "have {queues} weighted queues",
    example = r#"queues = 8, weights = [8, 4, 2, 1, 1, 1, 1, 1], buffer = { shared = "240pkt" }"#
)]
pub struct WfqKeys {
    /// Number of queues, 1 to 16.
    #[key(required = "queues = 8", group = "queues", range = "[1, 16]", source = "docs/assumptions.md#wfq")]
    pub queues: u8,
    /// Weight of each queue that is not strict, the best first: integers above 0 with a least common multiple of at most
    /// 2^40.
    #[key(required = "weights = [8, 4, 1]", source = "docs/assumptions.md#wfq")]
    pub weights: QueueWeights,
    /// Number of strict queues, the first ones: the weighted queues share what they leave. 0 for weighted queues alone.
    #[key(default = 0, skip_default, range = "[0, 15]", source = "docs/assumptions.md#strict-first")]
    pub strict: u8,
    /// The clock for the finish tags of packets.
    #[key(default = WfqClock::Virtual, skip_default, source = "docs/assumptions.md#wfq-compat")]
    pub clock: WfqClock,
}

/// The clock for the finish tags of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum WfqClock {
    /// Virtual time: the tag of the packet in service.
    Virtual,
    /// Real time, as in the simulator of Aequitas; not fair.
    AequitasCompat,
}

impl WfqKeys {
    fn check(&mut self) -> Result<(), KeyConflict> {
        if self.strict >= self.queues {
            let what = format!("{} of {} queues are strict, so none has a weight", self.strict, self.queues);
            let fix = format!("strict below {}, or kind = \"strict\"", self.queues);
            return Err(KeyConflict::of("strict", what, fix));
        }
        if self.strict > 0 && self.clock == WfqClock::AequitasCompat {
            let what = "the clock of Aequitas' simulator has no strict queues";
            return Err(KeyConflict::of("strict", what, "clock = \"virtual\", or no strict"));
        }
        let weighted = self.queues - self.strict;
        if self.weights.queues() == weighted {
            return Ok(());
        }
        let (kept, fix) = match self.strict {
            0 => ("", "one weight per queue, queue 0 first".to_owned()),
            strict => (" that are not strict", format!("one weight per queue from queue {strict} on")),
        };
        let what = format!("there are {} weights for {weighted} queues{kept}", self.weights.queues());
        Err(KeyConflict::of("weights", what, fix))
    }
}

impl OfKind for WfqKeys {
    type Spec = Either<Either<WfqSpec, StrictFirstSpec>, RealTimeWfqSpec>;

    fn discipline(&self, setup: &PortSetup<'_>) -> Self::Spec {
        let (weights, map) = (self.weights, setup.map);
        match self.clock {
            WfqClock::Virtual if self.strict > 0 => {
                Either::First(Either::Second(StrictFirstSpec { strict: self.strict, weights, map }))
            }
            WfqClock::Virtual => Either::First(Either::First(WfqSpec { weights, map })),
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
    /// The queue of each class, or of each level at a host; larger values mean the last queue.
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

/// N queues that share the link by weight, without preemption.
pub type Wfq<P> = MultiQueue<P, VirtualClock>;

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

impl<P: QueueItem> Wfq<P> {
    /// Creates one empty queue per weight. `map` gives the queue of each class; larger values mean the last queue.
    pub fn new(weights: &QueueWeights, map: [u8; CLASSES], sort_by: SortBy, buffer: Buffer) -> Self {
        let sorting = Sorting { queues: weights.queues, map, by: sort_by };
        Self::in_order(sorting, buffer, VirtualClock::new(weights))
    }
}

#[cfg(test)]
mod tests;
