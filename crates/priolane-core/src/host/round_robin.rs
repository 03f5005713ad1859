//! Round robin, one packet per flow, in the order in which flows became eligible.

use std::collections::VecDeque;

use super::order::HostOrder;
use super::scheduler::{Candidate, HostScheduler};
use crate::keys::Keys;
use crate::part::Part;

/// Parameters of the order `round_robin`: none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys, Part)]
#[part(
    name = "round_robin",
    summary = "the flows of a host send in turn, one packet each (packet-wise processor sharing)",
    source = "Nagle, RFC 970 §5",
    requires = [PacketPull]
)]
pub struct Config;

impl HostOrder for Config {}

/// Round robin among the eligible flows.
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

    #[inline]
    fn held(&self) -> usize {
        self.turns.len()
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    #[inline]
    fn pass(&mut self, _candidate: Candidate) {}
}
