//! Flows take turns, one packet each, in the order in which they became able to send.

use std::collections::VecDeque;

use super::{Candidate, HostScheduler};

/// Turns among the flows that may send.
#[derive(Debug, Default)]
pub struct RoundRobin {
    turns: VecDeque<u32>,
}

impl HostScheduler for RoundRobin {
    #[inline]
    fn offer(&mut self, candidate: Candidate) {
        self.turns.push_back(candidate.slot);
    }

    #[inline]
    fn next(&mut self) -> Option<u32> {
        self.turns.pop_front()
    }
}
