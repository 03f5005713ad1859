//! Flows take turns, one packet each, in the order in which they became able to send.

use std::collections::VecDeque;

use super::order::HostOrder;
use super::scheduler::{Candidate, HostScheduler};
use crate::keys::Keys;
use crate::part::Part;

/// The order `round_robin`; it has no parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys, Part)]
#[part(
    name = "round_robin",
    summary = "the flows of a host take turns, a packet each (packet-wise processor sharing)",
    source = "Nagle, RFC 970 §5",
    requires = [PacketPull]
)]
pub struct Config;

impl HostOrder for Config {}

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
