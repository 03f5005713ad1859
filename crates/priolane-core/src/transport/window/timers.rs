//! Deadlines of a host's flows: a heap with at most a few entries per flow, re-armed lazily.
//!
//! An ACK that moves a deadline *later*, which most do, touches only the flow. Its heap entry stays, comes
//! up early, and is put back at the true deadline. Only a deadline *earlier* than the flow's live entry
//! makes a new one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::units::Time;

/// Whose deadline it is: a place in one of the endpoint's two tables.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(in crate::transport) enum Owner {
    Sender(u32),
    Receiver(u32),
}

/// A deadline in the heap. It is live while its owner still has `generation` and is armed for `at`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(in crate::transport) struct Entry {
    pub(in crate::transport) at: Time,
    pub(in crate::transport) owner: Owner,
    pub(in crate::transport) generation: u32,
}

/// The deadlines of one host.
#[derive(Debug, Default)]
pub(in crate::transport) struct Timers {
    heap: BinaryHeap<Reverse<Entry>>,
}

impl Timers {
    /// Makes `entry` the live one of its owner: `armed`, when its live one is, was later.
    pub(in crate::transport) fn arm(&mut self, entry: Entry, armed: &mut Time) {
        debug_assert!(entry.at < *armed);
        *armed = entry.at;
        self.heap.push(Reverse(entry));
    }

    #[inline]
    pub(in crate::transport) fn first(&self) -> Option<Entry> {
        self.heap.peek().map(|&Reverse(entry)| entry)
    }

    /// When the first entry is.
    #[inline]
    pub(in crate::transport) fn first_at(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse(entry)| entry.at)
    }

    pub(in crate::transport) fn pop(&mut self) -> Option<Entry> {
        self.heap.pop().map(|Reverse(entry)| entry)
    }
}
