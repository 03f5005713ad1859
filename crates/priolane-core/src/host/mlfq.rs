//! A multi-level feedback queue: strict priority between levels, round robin within a level (NOS2 §IV-B).
//!
//! The level of a flow is that of its next packet, by its demotion thresholds, so a flow sinks as it sends. A flow
//! that waits in a level and gets a retransmission of a better level is promoted: it then waits in the better level,
//! and its old entry is skipped.

use std::collections::VecDeque;

use super::order::HostOrder;
use super::scheduler::{Candidate, HostScheduler};
use crate::assign::Demotion;
use crate::ids::CLASSES;
use crate::keys::Keys;
use crate::part::Part;

/// Parameters of the order `mlfq`.
#[derive(Clone, Debug, PartialEq, Keys, Part)]
#[keys(group = "mlfq")]
#[part(
    name = "mlfq",
    summary = "multi-level feedback queue: strict levels by bytes sent",
    source = "NOS2 (GLOBECOM 2019) §IV-B",
    requires = [HostOrder],
    deploy = [Dscp],
    example = r#"levels = 3, thresholds = { solver = "equal_split", from = "global" }"#
)]
pub struct Config {
    /// The levels and the demotion thresholds between them.
    #[keys(flatten)]
    pub demotion: Demotion,
}

impl HostOrder for Config {
    fn demotion(&self) -> Option<&Demotion> {
        Some(&self.demotion)
    }

    fn demotion_mut(&mut self) -> Option<&mut Demotion> {
        Some(&mut self.demotion)
    }
}

/// An entry in a level: the flow's slot and its ticket. The entry is valid while the slot still has this ticket.
type Place = (u32, u32);

/// Strict priority between levels, round robin within a level.
#[derive(Debug, Default)]
pub struct Mlfq {
    levels: [VecDeque<Place>; CLASSES],
    /// Bit `l` is set while level `l` has entries.
    occupied: u16,
    /// The ticket of each slot's valid entry.
    tickets: Vec<u32>,
}

impl Mlfq {
    fn enter(&mut self, candidate: Candidate) {
        let slot = candidate.slot as usize;
        if slot >= self.tickets.len() {
            self.tickets.resize(slot + 1, 0);
        }
        self.tickets[slot] = self.tickets[slot].wrapping_add(1);
        let level = usize::from(candidate.level).min(CLASSES - 1);
        self.levels[level].push_back((candidate.slot, self.tickets[slot]));
        self.occupied |= 1 << level;
    }
}

impl HostScheduler for Mlfq {
    fn offer(&mut self, candidate: Candidate) {
        self.enter(candidate);
    }

    fn promote(&mut self, candidate: Candidate) {
        self.enter(candidate);
    }

    fn held(&self) -> usize {
        self.levels.iter().map(VecDeque::len).sum()
    }

    fn is_empty(&self) -> bool {
        self.occupied == 0
    }

    fn next(&mut self) -> Option<u32> {
        while self.occupied != 0 {
            let level = self.occupied.trailing_zeros() as usize;
            let place = self.levels[level].pop_front();
            if self.levels[level].is_empty() {
                self.occupied &= !(1 << level);
            }
            if let Some((slot, ticket)) = place
                && self.tickets[slot as usize] == ticket
            {
                return Some(slot);
            }
        }
        None
    }
}
