//! Weighted fair queueing with a self-clocked virtual time (SCFQ: Golestani, INFOCOM 1994), in exact integers.
//!
//! The clock is in `virtual_clock`.

use super::multi_queue::{self, MultiQueue, Sorting, mapped};
use super::virtual_clock::VirtualClock;
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

    fn cost(&self) -> f64 {
        multi_queue::COST
    }

    fn is_pausable(&self) -> bool {
        true
    }
}

/// N queues that share the link by weight, without preemption.
pub type Wfq<P> = MultiQueue<P, VirtualClock>;

impl<P: QueueItem> Wfq<P> {
    /// Creates one empty queue per weight. `map` gives the queue of each class; larger values mean the last queue.
    pub fn new(weights: &QueueWeights, map: [u8; CLASSES], sort_by: SortBy, buffer: Buffer) -> Self {
        let sorting = Sorting { queues: weights.queues, map, by: sort_by };
        Self::in_order(sorting, buffer, VirtualClock::new(weights))
    }
}

#[cfg(test)]
mod tests;
