//! The way of a token through an assistant switch, between the limiter and the line (TOP §4.2, the remedy).
//!
//! ```text
//! limiter    a shaped port: lets the best token go as soon as the rate allows, whether or not the line is free
//! detour     a constant time
//! line       one queue for the tokens of all classes, in the order in which the limiter let them go
//! ```

use crate::chunked_queue::ChunkedQueue;
use crate::units::{Span, Time};

/// What comes back.
#[derive(Clone, Copy, Debug, Default)]
struct ReturnedToken<P> {
    at: Time,
    item: P,
}

/// Tokens that a limiter let go and that the line has not taken.
#[derive(Debug)]
pub(super) struct ReleasedTokens<P> {
    takes: Span,
    /// The last instant of which all is known that came before it.
    seen: Time,
    back: ChunkedQueue<ReturnedToken<P>>,
}

impl<P: Copy + Default> ReleasedTokens<P> {
    pub(super) fn new(takes: Span) -> Self {
        Self { takes, seen: Time::ZERO, back: ChunkedQueue::default() }
    }

    /// All that comes before `now` has come.
    pub(super) fn see(&mut self, now: Time) {
        self.seen = self.seen.max(now);
    }

    /// When the limiter, which allows a token at `eligible`, lets one go that waits now.
    pub(super) fn released(&self, eligible: Time) -> Time {
        eligible.max(self.seen)
    }

    /// The limiter lets `item` go at `t`.
    pub(super) fn send(&mut self, t: Time, item: &P) {
        self.back.push(&ReturnedToken { at: t + self.takes, item: *item });
    }

    /// When the first of them may start; else when one would that the limiter lets go at `next`.
    pub(super) fn next_start(&self, next: Option<Time>) -> Option<Time> {
        match self.back.first() {
            Some(first) => Some(first.at),
            None => next.map(|t| self.released(t) + self.takes),
        }
    }

    /// What is back at `t`.
    pub(super) fn first(&self, t: Time) -> Option<&P> {
        self.back.first().filter(|first| first.at <= t).map(|first| &first.item)
    }

    /// Takes out the first.
    pub(super) fn pop(&mut self) -> Option<&P> {
        self.back.pop().map(|first| &first.item)
    }
}
