//! Deadlines of a host's flows: a heap with at most a few entries per flow, re-armed lazily.
//!
//! An ACK that moves a deadline *later*, which most do, touches only the flow. Its heap entry stays, comes
//! up early, and is put back at the true deadline. Only a deadline *earlier* than the flow's live entry
//! makes a new one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::units::{Span, Time};

/// What a rate counts from that was due at `due` and is served at `now`: lateness is made up, as far as `catch_up` goes.
#[inline]
pub(in crate::transport) fn paced_from(due: Time, now: Time, catch_up: Span) -> Time {
    due.max(Time(now.0.saturating_sub(catch_up.0))).min(now)
}

/// Whose deadline it is: a place in one of the endpoint's two tables, or the first of the flows that ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::transport) enum Owner {
    Sender(u32),
    Receiver(u32),
    Ended,
}

/// A deadline. It is live while its owner still has `generation` and is armed for `at`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::transport) struct Entry {
    pub(in crate::transport) at: Time,
    pub(in crate::transport) owner: Owner,
    pub(in crate::transport) generation: u32,
}

/// The bit of a receiver: no host has so many flows.
const RECEIVER: u32 = 1 << 31;

/// Flows that ended, which come last of the same instant.
const ENDED: u32 = u32::MAX;

/// An entry as the heap holds it: in two words, as every flow has one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Packed {
    at: Time,
    /// The place, with [`RECEIVER`] if it is a receiver's: of the same instant senders come first.
    owner: u32,
    generation: u32,
}

impl From<Entry> for Packed {
    #[inline]
    fn from(Entry { at, owner, generation }: Entry) -> Self {
        let owner = match owner {
            Owner::Sender(slot) => slot,
            Owner::Receiver(slot) => slot | RECEIVER,
            Owner::Ended => ENDED,
        };
        Self { at, owner, generation }
    }
}

impl From<Packed> for Entry {
    #[inline]
    fn from(Packed { at, owner, generation }: Packed) -> Self {
        let slot = owner & !RECEIVER;
        let owner = match owner {
            ENDED => Owner::Ended,
            _ if owner == slot => Owner::Sender(slot),
            _ => Owner::Receiver(slot),
        };
        Self { at, owner, generation }
    }
}

/// The deadlines of one host.
#[derive(Debug, Default)]
pub(in crate::transport) struct Timers {
    heap: BinaryHeap<Reverse<Packed>>,
}

impl Timers {
    /// Makes `entry` the live one of its owner: `armed`, when its live one is, was later.
    pub(in crate::transport) fn arm(&mut self, entry: Entry, armed: &mut Time) {
        debug_assert!(entry.at < *armed);
        *armed = entry.at;
        self.heap.push(Reverse(entry.into()));
    }

    #[inline]
    pub(in crate::transport) fn first(&self) -> Option<Entry> {
        self.heap.peek().map(|&Reverse(entry)| entry.into())
    }

    /// When the first entry is.
    #[inline]
    pub(in crate::transport) fn first_at(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse(entry)| entry.at)
    }

    /// Adds the deadline of the first of the flows that ended.
    pub(in crate::transport) fn forget_at(&mut self, at: Time) {
        self.heap.push(Reverse(Entry { at, owner: Owner::Ended, generation: 0 }.into()));
    }

    pub(in crate::transport) fn pop(&mut self) -> Option<Entry> {
        self.heap.pop().map(|Reverse(entry)| entry.into())
    }
}
