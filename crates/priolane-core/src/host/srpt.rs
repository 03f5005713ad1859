//! Shortest remaining processing time: the flow with the fewest bytes left to send, then the smaller flow id.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Candidate, HostScheduler};
use crate::ids::FlowId;

/// The flow with the fewest bytes left.
#[derive(Debug, Default)]
pub struct Srpt {
    waiting: BinaryHeap<Reverse<(u64, FlowId, u32)>>,
}

impl HostScheduler for Srpt {
    fn offer(&mut self, candidate: Candidate) {
        self.waiting.push(Reverse((candidate.remaining, candidate.flow, candidate.slot)));
    }

    fn next(&mut self) -> Option<u32> {
        self.waiting.pop().map(|Reverse((_, _, slot))| slot)
    }
}
