//! Least attained service: the flow that has sent the fewest bytes goes first; ties go to the smaller flow id.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::order::HostOrder;
use super::scheduler::{Candidate, HostScheduler};
use crate::ids::FlowId;
use crate::keys::Keys;
use crate::part::Part;

/// Parameters of the order `las`: none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys, Part)]
#[part(
    name = "las",
    summary = "the flow with the fewest bytes sent sends first (least attained service)",
    source = "Kleinrock, Queueing Systems 2 (1976) §4.6",
    requires = [PacketPull],
    deploy = [KernelModule]
)]
pub struct Config;

impl HostOrder for Config {}

/// Serves the flow with the fewest bytes sent.
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

    fn held(&self) -> usize {
        self.waiting.len()
    }

    fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    fn pass(&mut self, _candidate: Candidate) {}
}
