//! Limits how much time a host spends on forgetting peers.
//!
//! When a peer is removed or restarts, the endpoint ends its unfinished flows and looks through the flows that this host sends, which
//! takes a millisecond for some ten thousand of them. Any host can cause this with a few datagrams: it greets again as a new run,
//! or greets a host whose table is full. So a greeting that would make this host forget a peer is ignored until the time since the
//! last one is [`REST`] times the time that the last one took. The sender repeats its greeting. With few flows, the limit has no
//! effect.

use priolane_core::ids::HostId;
use priolane_core::units::{Span, Time};

use super::table::Peers;

/// Time without forgetting, in multiples of the time that it took last: a host spends at most a twentieth of its time on it.
const REST: u64 = 19;

impl Peers {
    /// Records that the endpoint took `took` to forget a peer, until `now`.
    pub(crate) fn note_forgotten(&mut self, took: Span, now: Time) {
        self.may_forget_at = now + took.times(REST);
    }

    /// Returns when a greeting may make this host forget a peer again.
    #[cfg(test)]
    pub(crate) fn may_forget_at(&self) -> Time {
        self.may_forget_at
    }

    /// Returns whether a greeting may make this host forget a peer at `now`.
    pub(super) fn may_forget(&self, now: Time) -> bool {
        self.may_forget_at <= now
    }

    /// Returns whether a peer restarts if it is in run `run` now.
    pub(super) fn would_restart(&self, host: HostId, run: u64) -> bool {
        self.get(host).and_then(|peer| peer.run()).is_some_and(|known| known != run)
    }
}
