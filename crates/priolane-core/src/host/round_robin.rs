//! Flows take turns, one packet each, in the order in which they became able to send.

use super::{Candidate, HostScheduler};
use crate::ring::Ring;

/// Turns among the flows that may send.
#[derive(Debug, Default)]
pub struct RoundRobin {
    turns: Ring<u32>,
}

impl HostScheduler for RoundRobin {
    #[inline]
    fn offer(&mut self, candidate: Candidate) {
        self.turns.push(&candidate.slot);
    }

    #[inline]
    fn next(&mut self) -> Option<u32> {
        self.turns.pop().copied()
    }
}
