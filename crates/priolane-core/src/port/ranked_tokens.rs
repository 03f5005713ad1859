//! Tokens in the order of their ranks: the ideal that classes are measured against.
//!
//! The smallest rank goes first, equal ranks in order of arrival. Where there is no room, the worst makes way: the largest
//! rank, the last of equals, which may be the token that arrives. The oldest expires first.

use std::collections::{BTreeMap, VecDeque};

use crate::packet::QueueItem;
use crate::units::Time;

/// Rank and number of arrival.
type Place = (u64, u64);

/// Waiting tokens, sorted.
#[derive(Debug)]
pub(super) struct RankedTokens<P> {
    waiting: BTreeMap<Place, P>,
    /// When each of them, and of those gone since, expires, in order of arrival.
    ages: VecDeque<(Time, Place)>,
    arrivals: u64,
    room: usize,
    started: P,
}

/// What became of a token offered.
#[derive(Clone, Copy, Debug)]
pub(super) enum Offer<P> {
    /// It is kept.
    Kept,
    /// It is kept, and this one made way.
    Evicted(P),
    /// It is the worst.
    Refused,
}

impl<P: QueueItem> RankedTokens<P> {
    /// No token, and room for so many.
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

    /// A token that may start up to `last`.
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

    /// The next token that had to start before `now`.
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
