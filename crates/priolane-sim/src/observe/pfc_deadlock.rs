//! Detects PFC deadlocks: pauses that wait for each other forever.
//!
//! A class that a switch has paused on a link is resumed when packets that arrived on it leave. Those packets wait at
//! egress ports. If all of these ports are paused for the packets' class, and those pauses wait for others in a cycle,
//! none ever ends.
//!
//! ```text
//! D := all pauses (link, class) at the end of the run
//! repeat: remove each pause of D without packets, or with a packet waiting at a port (link', class) not in D
//! D, the greatest fixed point, will never end; following any of its packets from port to port leads into a cycle
//! ```
//!
//! A packet behind one of another class in the same queue is assumed not to wait for that class. Every reported
//! deadlock is real, but a deadlock that depends on such a packet is not found.

use std::collections::{BTreeMap, BTreeSet};

use priolane_core::ids::{Class, LinkId};

/// A class on a link, as served by the port in front of it.
pub(crate) type PausedQueue = (LinkId, Class);

/// The pauses at the end of a run, and their dependencies.
#[derive(Debug, Default)]
pub(crate) struct PfcDeadlockDetector {
    paused: BTreeSet<PausedQueue>,
    waits: BTreeMap<PausedQueue, BTreeSet<PausedQueue>>,
}

impl PfcDeadlockDetector {
    /// Records that the switch at the end of a link has paused a class on it.
    pub(crate) fn paused(&mut self, lane: PausedQueue) {
        self.paused.insert(lane);
    }

    /// Records that a packet that arrived on `from` waits at the port to `to`.
    pub(crate) fn waits(&mut self, from: PausedQueue, to: PausedQueue) {
        self.waits.entry(from).or_default().insert(to);
    }

    /// Returns a cycle of pauses that never end, each waiting for the next and the last for the first; empty if there
    /// is none.
    pub(crate) fn cycle(mut self) -> Vec<PausedQueue> {
        self.waits.retain(|lane, _| self.paused.contains(lane));
        loop {
            let lasting: BTreeSet<PausedQueue> = self.waits.keys().copied().collect();
            self.waits.retain(|_, next| next.is_subset(&lasting));
            if self.waits.len() == lasting.len() {
                break;
            }
        }
        let mut path: Vec<PausedQueue> = self.waits.keys().next().copied().into_iter().collect();
        while let Some(next) = path.last().and_then(|lane| self.waits[lane].first()).copied() {
            if let Some(begin) = path.iter().position(|&lane| lane == next) {
                return path.split_off(begin);
            }
            path.push(next);
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(link: u32) -> PausedQueue {
        (LinkId(link), 0)
    }

    fn deadlock_detector(paused: &[u32], waits: &[(u32, u32)]) -> Vec<u32> {
        let mut all = PfcDeadlockDetector::default();
        paused.iter().for_each(|&link| all.paused(lane(link)));
        waits.iter().for_each(|&(from, to)| all.waits(lane(from), lane(to)));
        all.cycle().into_iter().map(|(link, _)| link.0).collect()
    }

    #[test]
    fn pauses_that_wait_for_each_other_are_a_cycle() {
        assert_eq!(deadlock_detector(&[1, 2, 3], &[(1, 2), (2, 3), (3, 1)]), [1, 2, 3]);
        // 5 waits for the cycle and is not in it.
        assert_eq!(deadlock_detector(&[0, 2, 3, 5], &[(0, 2), (2, 3), (3, 2), (5, 3)]), [2, 3]);
    }

    #[test]
    fn one_packet_that_can_leave_ends_all_pauses_that_wait_for_it() {
        // A packet of 3 waits at port 9, which is not paused.
        assert!(deadlock_detector(&[1, 2, 3], &[(1, 2), (2, 3), (3, 1), (3, 9)]).is_empty());
        // 2 is not paused, so packets there can leave.
        assert!(deadlock_detector(&[1, 3], &[(1, 2), (2, 3), (3, 1)]).is_empty());
        // A chain has an end.
        assert!(deadlock_detector(&[1, 2, 3], &[(1, 2), (2, 3), (3, 4)]).is_empty());
        assert!(deadlock_detector(&[], &[]).is_empty());
    }

    #[test]
    fn other_classes_are_other_lanes() {
        let mut all = PfcDeadlockDetector::default();
        all.paused((LinkId(1), 0));
        all.paused((LinkId(2), 1));
        all.waits((LinkId(1), 0), (LinkId(2), 0));
        all.waits((LinkId(2), 1), (LinkId(1), 1));
        assert!(all.cycle().is_empty());
    }
}
