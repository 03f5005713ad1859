//! One other host.

use std::collections::VecDeque;
use std::net::SocketAddr;

use priolane_core::units::{Span, Time};

use super::cookie::Cookie;
use super::session::Session;
use crate::key::Key;

/// Agreements of two hosts that are kept: both may greet at once, and packets of the last are still under way.
const SESSIONS: usize = 3;

/// Time between the first two HELLOs, and the longest between two.
const FIRST_WAIT: Span = Span::from_ms(20);
const LONGEST_WAIT: Span = Span::from_ms(1_000);

/// The least time between two greetings of a host that is known.
const GREET_AGAIN: Span = Span::from_ms(100);

/// A greeting that is not answered yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Greeting {
    pub(super) nonce: u64,
    pub(super) cookie: Cookie,
    pub(super) began: Time,
    /// When HELLO is sent again.
    pub(super) next: Time,
    wait: Span,
}

impl Greeting {
    pub(super) fn new(nonce: u64, now: Time) -> Self {
        Self { nonce, cookie: Cookie::default(), began: now, next: now, wait: FIRST_WAIT }
    }

    /// HELLO was sent.
    pub(super) fn sent(&mut self, now: Time) {
        self.next = now + self.wait;
        self.wait = LONGEST_WAIT.min(self.wait.times(2));
    }
}

/// Another host.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) address: SocketAddr,
    pub(super) greeting: Option<Greeting>,
    /// The first is that which datagrams are sent by; those that are not confirmed are last.
    pub(super) sessions: VecDeque<Session>,
    /// When a datagram of it came last.
    pub(super) heard: Time,
    /// When its silence began to count, and when it was last asked whether it is there.
    pub(super) quiet_since: Time,
    pub(super) asked_at: Time,
    greeted_at: Option<Time>,
    /// When it was last asked because it sent nothing that it was asked for.
    pub(super) pinged_at: Option<Time>,
    /// Flows under way to it, and from it.
    pub(super) sending: u32,
    pub(super) receiving: u32,
}

impl Peer {
    pub(super) fn new(address: SocketAddr, now: Time) -> Self {
        Self {
            address,
            greeting: None,
            sessions: VecDeque::new(),
            heard: now,
            quiet_since: now,
            asked_at: now,
            greeted_at: None,
            pinged_at: None,
            sending: 0,
            receiving: 0,
        }
    }

    /// The session that datagrams are sent by.
    pub(super) fn current(&self) -> Option<&Session> {
        self.sessions.front().filter(|session| session.confirmed)
    }

    pub(super) fn is_known(&self) -> bool {
        self.current().is_some()
    }

    /// The run of the other host, as far as it is confirmed.
    pub(super) fn run(&self) -> Option<u64> {
        self.current().map(|session| session.run)
    }

    /// Whether it has nothing under way and was not heard for `idle`.
    pub(super) fn is_idle(&self, idle: Span, now: Time) -> bool {
        let quiet = self.sending == 0 && self.receiving == 0 && self.greeting.is_none();
        quiet && now.since(self.heard) >= idle
    }

    /// Whether a greeting may begin at `now`; then it does.
    pub(super) fn may_greet_again(&mut self, now: Time) -> bool {
        let may = self.greeted_at.is_none_or(|at| now.since(at) >= GREET_AGAIN);
        if may {
            self.greeted_at = Some(now);
        }
        may
    }

    /// Returns the index of the session with the peer's run and nonce. Creates it with the nonces `(own, theirs)` if it does
    /// not exist. Returns `None` if the key derivation fails.
    pub(super) fn agree(&mut self, run: u64, (own, theirs): (u64, u64), key: Option<&Key>) -> Option<usize> {
        let same = |session: &Session| session.run == run && session.theirs == theirs;
        if let Some(place) = self.sessions.iter().position(same) {
            return Some(place);
        }
        let session = Session::new(run, (own, theirs), key)?;
        if self.sessions.len() >= SESSIONS {
            self.sessions.pop_back();
        }
        self.sessions.push_back(session);
        Some(self.sessions.len() - 1)
    }
}
