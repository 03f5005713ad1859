//! Tokens sorted by rank: the ideal order to compare classes with.
//!
//! The smallest rank is served first, equal ranks in order of arrival. If the buffer is full, the worst token is
//! dropped: the one with the largest rank, the last of equals, which may be the arriving token. Tokens expire in
//! order of arrival.

use std::collections::{BTreeMap, VecDeque};

use crate::packet::QueueItem;
use crate::units::Time;

/// Rank and arrival number.
type OrderKey = (u64, u64);

/// Queued tokens, sorted by rank.
#[derive(Debug)]
pub(super) struct RankedTokens<P> {
    waiting: BTreeMap<OrderKey, P>,
    /// Expiry times of the queued tokens, and of tokens that left meanwhile, in order of arrival.
    ages: VecDeque<(Time, OrderKey)>,
    arrivals: u64,
    room: usize,
    started: P,
}

/// The outcome for an offered token.
#[derive(Clone, Copy, Debug)]
pub(super) enum Offer<P> {
    /// The token is queued.
    Kept,
    /// The token is queued, and this one is evicted.
    Evicted(P),
    /// The token is dropped as the worst.
    Refused,
}

impl<P: QueueItem> RankedTokens<P> {
    /// Creates an empty queue with a capacity of `room` tokens.
    pub(super) fn new(room: usize) -> Self {
        Self {
            waiting: BTreeMap::new(),
            ages: VecDeque::new(),
            arrivals: 0,
            room: room.max(1),
            started: P::default(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn len(&self) -> u32 {
        self.waiting.len() as u32
    }

    /// Offers a token that may start no later than `last`.
    pub(super) fn offer(&mut self, item: &P, last: Time) -> Offer<P> {
        let place = (item.header().rank, self.arrivals);
        let mut evicted = None;
        if self.waiting.len() >= self.room {
            if self.waiting.last_key_value().is_some_and(|(worst, _)| *worst < place) {
                return Offer::Refused;
            }
            evicted = self.waiting.pop_last().map(|(_, item)| item);
        }
        self.arrivals += 1;
        self.waiting.insert(place, *item);
        self.ages.push_back((last, place));
        evicted.map_or(Offer::Kept, Offer::Evicted)
    }

    /// Removes the next token that has expired by `now`.
    pub(super) fn pop_expired(&mut self, now: Time) -> Option<P> {
        while let Some(&(last, place)) = self.ages.front() {
            let waits = self.waiting.contains_key(&place);
            if waits && last >= now {
                return None;
            }
            self.ages.pop_front();
            if waits {
                return self.waiting.remove(&place);
            }
        }
        None
    }

    pub(super) fn first(&self) -> Option<&P> {
        self.waiting.first_key_value().map(|(_, item)| item)
    }

    pub(super) fn pop(&mut self) -> Option<&P> {
        self.started = self.waiting.pop_first()?.1;
        Some(&self.started)
    }
}
