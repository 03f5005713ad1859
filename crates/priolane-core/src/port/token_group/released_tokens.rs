//! The detour of a token through an auxiliary switch, between limiter and link (TOP §4.2, the workaround).
//!
//! ```text
//! limiter    a shaped port: releases the best token as soon as the rate allows, whether or not the link is free
//! detour     a constant delay
//! line       one FIFO queue for the tokens of all classes, in the order of their release
//! ```

use crate::chunked_queue::ChunkedQueue;
use crate::units::{Span, Time};

/// A token that returns from the detour.
#[derive(Clone, Copy, Debug, Default)]
struct ReturnedToken<P> {
    at: Time,
    item: P,
}

/// Tokens that the limiter has released and the link has not transmitted.
#[derive(Debug)]
pub(super) struct ReleasedTokens<P> {
    takes: Span,
    /// All arrivals before this time are known.
    seen: Time,
    back: ChunkedQueue<ReturnedToken<P>>,
}

impl<P: Copy + Default> ReleasedTokens<P> {
    pub(super) fn new(takes: Span) -> Self {
        Self { takes, seen: Time::ZERO, back: ChunkedQueue::default() }
    }

    /// Records that all arrivals before `now` are known.
    pub(super) fn see(&mut self, now: Time) {
        self.seen = self.seen.max(now);
    }

    /// Returns when the limiter, which allows a token at `eligible`, releases a token queued now.
    pub(super) fn released(&self, eligible: Time) -> Time {
        eligible.max(self.seen)
    }

    /// Records that the limiter releases `item` at `t`.
    pub(super) fn send(&mut self, t: Time, item: &P) {
        self.back.push(&ReturnedToken { at: t + self.takes, item: *item });
    }

    /// Returns when the first returning token may start; if there is none, when a token released at `next` may.
    pub(super) fn next_start(&self, next: Option<Time>) -> Option<Time> {
        match self.back.first() {
            Some(first) => Some(first.at),
            None => next.map(|t| self.released(t) + self.takes),
        }
    }

    /// Returns the first token that has returned by `t`.
    pub(super) fn first(&self, t: Time) -> Option<&P> {
        self.back.first().filter(|first| first.at <= t).map(|first| &first.item)
    }

    /// Dequeues the first token.
    pub(super) fn pop(&mut self) -> Option<&P> {
        self.back.pop().map(|first| &first.item)
    }
}
