//! Least attained service: the flow that has sent the fewest bytes, then the smaller flow id.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Candidate, HostScheduler};
use crate::ids::FlowId;

/// The flow with the fewest bytes sent.
#[derive(Debug, Default)]
pub struct Las {
    waiting: BinaryHeap<Reverse<(u64, FlowId, u32)>>,
}

impl HostScheduler for Las {
    fn offer(&mut self, candidate: Candidate) {
        self.waiting.push(Reverse((candidate.sent, candidate.flow, candidate.slot)));
    }

    fn next(&mut self) -> Option<u32> {
        self.waiting.pop().map(|Reverse((_, _, slot))| slot)
    }
}
