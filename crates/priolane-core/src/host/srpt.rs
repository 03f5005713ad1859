//! Shortest remaining processing time: the flow with the fewest bytes left to send, then the smaller flow id.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::order::HostOrder;
use super::scheduler::{Candidate, HostScheduler};
use crate::ids::FlowId;
use crate::keys::Keys;
use crate::part::Part;

/// The order `srpt`; it has no parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys, Part)]
#[part(
    name = "srpt",
    summary = "the flow with the fewest remaining bytes sends first",
    source = "Schrage, Operations Research 16 (1968)",
    requires = [PacketPull],
    deploy = [KernelModule, SizesKnown]
)]
pub struct Config;

impl HostOrder for Config {
    fn warning(&self) -> Option<&'static str> {
        Some("host srpt needs the size of every flow, which real hosts rarely know")
    }
}

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

    fn held(&self) -> usize {
        self.waiting.len()
    }

    fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    fn pass(&mut self, _candidate: Candidate) {}
}
