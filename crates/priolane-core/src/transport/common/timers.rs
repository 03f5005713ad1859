//! Deadlines of a host's flows: a heap with at most a few entries per flow, updated lazily.
//!
//! Most ACKs move a deadline *later*, and then only the flow is updated. Its heap entry stays, is popped early, and
//! is pushed again at the true deadline. Only a deadline *earlier* than the flow's live entry adds a new entry.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::prefetch::prefetch;
use crate::units::{Span, Time};

/// Returns the time from which a pacer counts its next gap, for a send due at `due` and made at `now`. Lateness of
/// up to `catch_up` is made up.
#[inline]
pub(in crate::transport) fn pacing_base(due: Time, now: Time, catch_up: Span) -> Time {
    due.max(Time(now.0.saturating_sub(catch_up.0))).min(now)
}

/// The owner of a deadline: a slot in one of the endpoint's two tables, the first of the ended flows, or the flow that is
/// the next to become idle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::transport) enum Owner {
    Sender(u32),
    Receiver(u32),
    Ended,
    Idle,
}

/// A deadline. It is live while its owner has `generation` and is armed for `at`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::transport) struct Entry {
    pub(in crate::transport) at: Time,
    pub(in crate::transport) owner: Owner,
    pub(in crate::transport) generation: u32,
}

/// The bit that marks a receiver; slot numbers never use it.
const RECEIVER: u32 = 1 << 31;

/// Ended flows sort last at equal times, after idle ones.
const ENDED: u32 = u32::MAX;
const IDLE: u32 = u32::MAX - 1;

/// An entry of the heap, in two words because every flow has one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct PackedEntry {
    at: Time,
    /// The slot, with [`RECEIVER`] set for a receiver: at equal times senders sort first.
    owner: u32,
    generation: u32,
}

impl From<Entry> for PackedEntry {
    #[inline]
    fn from(Entry { at, owner, generation }: Entry) -> Self {
        let owner = match owner {
            Owner::Sender(slot) => slot,
            Owner::Receiver(slot) => slot | RECEIVER,
            Owner::Ended => ENDED,
            Owner::Idle => IDLE,
        };
        Self { at, owner, generation }
    }
}

impl From<PackedEntry> for Entry {
    #[inline]
    fn from(PackedEntry { at, owner, generation }: PackedEntry) -> Self {
        let slot = owner & !RECEIVER;
        let owner = match owner {
            ENDED => Owner::Ended,
            IDLE => Owner::Idle,
            _ if owner == slot => Owner::Sender(slot),
            _ => Owner::Receiver(slot),
        };
        Self { at, owner, generation }
    }
}

/// The deadlines of a host.
#[derive(Debug, Default)]
pub(in crate::transport) struct Timers {
    heap: BinaryHeap<Reverse<PackedEntry>>,
}

impl Timers {
    /// Adds `entry` as the live entry of its owner; `armed`, the time of the current live entry, must be later.
    #[inline(never)]
    pub(in crate::transport) fn arm(&mut self, entry: Entry, armed: &mut Time) {
        debug_assert!(entry.at < *armed);
        *armed = entry.at;
        self.heap.push(Reverse(entry.into()));
    }

    #[inline]
    pub(in crate::transport) fn first(&self) -> Option<Entry> {
        self.heap.peek().map(|&Reverse(entry)| entry.into())
    }

    /// Prefetches the first entry.
    #[inline]
    pub(in crate::transport) fn prefetch(&self) {
        if let Some(first) = self.heap.peek() {
            prefetch(first);
        }
    }

    /// Returns the time of the first entry.
    #[inline]
    pub(in crate::transport) fn first_at(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse(entry)| entry.at)
    }

    /// Adds the deadline of the first of the ended flows.
    pub(in crate::transport) fn forget_at(&mut self, at: Time) {
        self.heap.push(Reverse(Entry { at, owner: Owner::Ended, generation: 0 }.into()));
    }

    /// Adds the deadline of the flow that is the next to become idle.
    pub(in crate::transport) fn check_idle_at(&mut self, at: Time) {
        self.heap.push(Reverse(Entry { at, owner: Owner::Idle, generation: 0 }.into()));
    }

    pub(in crate::transport) fn pop(&mut self) -> Option<Entry> {
        self.heap.pop().map(|Reverse(entry)| entry.into())
    }
}
