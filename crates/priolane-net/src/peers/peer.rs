//! The state of a peer.

use std::collections::VecDeque;
use std::net::SocketAddr;

use priolane_core::units::{Span, Time};

use super::cookie::Cookie;
use super::message::{Offer, Speaks};
use super::session::Session;
use crate::key::Initiator;

/// The largest number of sessions with a peer. If both hosts greet at once, each greeting makes a session; if they do
/// so again, two new sessions are added.
const SESSIONS: usize = 4;

/// The time between the first two HELLOs, and the longest time between two HELLOs.
const FIRST_WAIT: Span = Span::from_ms(20);
const LONGEST_WAIT: Span = Span::from_ms(1_000);

/// The least time between two greetings of a known host.
const GREET_AGAIN: Span = Span::from_ms(100);

/// The number of cookies that are accepted for one greeting. A host needs one, and another one if the peer greets in
/// the meantime.
const COOKIES: usize = 8;

/// The first message of a greeting, with or without a key.
#[derive(Debug)]
pub(super) enum Opening {
    /// The greeting has no key.
    Open { run: u64, speaks: Speaks },
    /// The greeting has a key.
    Sealed(Box<Initiator>),
}

/// A greeting that is not answered yet.
#[derive(Debug)]
pub(super) struct Greeting {
    pub(super) nonce: u64,
    /// The cookies that were received so far. The last one is sent back.
    cookies: Vec<Cookie>,
    pub(super) opening: Opening,
    pub(super) began: Time,
    /// The time at which HELLO is sent again.
    pub(super) next: Time,
    wait: Span,
}

impl Greeting {
    pub(super) fn new(nonce: u64, opening: Opening, now: Time) -> Self {
        Self { nonce, cookies: Vec::new(), opening, began: now, next: now, wait: FIRST_WAIT }
    }

    /// Records that HELLO was sent.
    pub(super) fn sent(&mut self, now: Time) {
        self.next = now + self.wait;
        self.wait = LONGEST_WAIT.min(self.wait.times(2));
    }

    pub(super) fn cookie(&self) -> Cookie {
        self.cookies.last().copied().unwrap_or_default()
    }

    /// Adds a cookie, and returns whether it is new. A replayed CHALLENGE has no new cookie.
    pub(super) fn take_cookie(&mut self, cookie: Cookie) -> bool {
        let is_new = self.cookies.len() < COOKIES && !self.cookies.contains(&cookie);
        if is_new {
            self.cookies.push(cookie);
        }
        is_new
    }

    pub(super) fn offer(&self) -> Offer {
        match &self.opening {
            Opening::Open { run, speaks } => Offer::Open { run: *run, speaks: *speaks },
            Opening::Sealed(initiator) => Offer::Sealed(initiator.message),
        }
    }
}

/// A peer: another host, as far as it is known.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) address: SocketAddr,
    /// The run of this host as the peer knows it. It changes when the peer was removed and becomes known again, because
    /// this host has then forgotten the flows that were under way.
    pub(super) own_run: u64,
    pub(super) greeting: Option<Greeting>,
    /// The sessions with the peer. The first one is used for sending; unconfirmed ones come last.
    pub(super) sessions: VecDeque<Session>,
    /// The time at which the peer was last known to be alive.
    pub(super) heard: Time,
    /// The time since which the silence of the peer counts, and the time of the last regular PING (`asked_at`).
    pub(super) quiet_since: Time,
    pub(super) asked_at: Time,
    /// The number of the last PING to the peer, and of the last PING that the peer answered (`answered`).
    asked: u32,
    answered: u32,
    greeted_at: Option<Time>,
    /// The time of the last PING that was sent because the peer did not send the data that it was asked for.
    pub(super) pinged_at: Option<Time>,
    /// The time at which the peer is checked next.
    pub(super) look_at: Time,
    /// The number of flows under way to the peer, and from the peer (`receiving`).
    pub(super) sending: u32,
    pub(super) receiving: u32,
    /// Whether a whole message was ever sent to the peer or received from it.
    pub(super) exchanged: bool,
}

impl Peer {
    pub(super) fn new(address: SocketAddr, own_run: u64, now: Time) -> Self {
        Self {
            address,
            own_run,
            greeting: None,
            sessions: VecDeque::new(),
            heard: now,
            quiet_since: now,
            asked_at: now,
            asked: 0,
            answered: 0,
            greeted_at: None,
            pinged_at: None,
            look_at: Time::NEVER,
            sending: 0,
            receiving: 0,
            exchanged: false,
        }
    }

    /// Returns the session that is used for sending, if it is confirmed.
    pub(super) fn current(&self) -> Option<&Session> {
        self.sessions.front().filter(|session| session.is_confirmed())
    }

    pub(super) fn current_mut(&mut self) -> Option<&mut Session> {
        self.sessions.front_mut().filter(|session| session.is_confirmed())
    }

    pub(super) fn is_known(&self) -> bool {
        self.current().is_some()
    }

    /// Returns the run of the peer, if it is confirmed.
    pub(super) fn run(&self) -> Option<u64> {
        self.current().map(|session| session.run)
    }

    /// Returns whether a greeting may begin at `now`, and if so, records that it begins.
    pub(super) fn may_greet_again(&mut self, now: Time) -> bool {
        let may = self.greeting.is_none() && self.greeted_at.is_none_or(|at| now.since(at) >= GREET_AGAIN);
        if may {
            self.greeted_at = Some(now);
        }
        may
    }

    /// Returns the number of the next PING.
    pub(super) fn ask(&mut self) -> u32 {
        self.asked += 1;
        self.asked
    }

    /// Records a PONG, and returns whether its number is that of a PING which was sent and is newer than all answered
    /// ones.
    pub(super) fn take_answer(&mut self, number: u32) -> bool {
        let is_new = number > self.answered && number <= self.asked;
        if is_new {
            self.answered = number;
        }
        is_new
    }

    /// Adds an unconfirmed session and returns its index. If there are too many sessions, one is removed: a confirmed
    /// one that is neither of the last two, as the hosts may disagree which of these is the last; otherwise the oldest
    /// unconfirmed one.
    pub(super) fn add(&mut self, session: Session) -> usize {
        if self.sessions.len() >= SESSIONS {
            let confirmed = self.sessions.iter().take_while(|session| session.is_confirmed()).count();
            let place = if confirmed > 2 { confirmed - 1 } else { confirmed };
            self.sessions.remove(place);
        }
        self.sessions.push_back(session);
        self.sessions.len() - 1
    }
}
