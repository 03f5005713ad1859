//! One other host.

use std::collections::VecDeque;
use std::net::SocketAddr;

use priolane_core::units::{Span, Time};

use super::cookie::Cookie;
use super::message::{Offer, Speaks};
use super::session::Session;
use crate::key::Initiator;

/// Agreements of two hosts that are kept: the last of each greeting where both greet at once, and two new ones where both do so
/// again.
const SESSIONS: usize = 4;

/// Time between the first two HELLOs, and the longest between two.
const FIRST_WAIT: Span = Span::from_ms(20);
const LONGEST_WAIT: Span = Span::from_ms(1_000);

/// The least time between two greetings of a host that is known.
const GREET_AGAIN: Span = Span::from_ms(100);

/// How many cookies are taken for one greeting. A host needs one, and another if it is greeted by the other meanwhile.
const COOKIES: usize = 8;

/// What a greeting is made with.
#[derive(Debug)]
pub(super) enum Opening {
    /// Without a key.
    Open { run: u64, speaks: Speaks },
    /// With a key.
    Sealed(Box<Initiator>),
}

/// A greeting that is not answered yet.
#[derive(Debug)]
pub(super) struct Greeting {
    pub(super) nonce: u64,
    /// The cookies that came so far. The last one is sent back.
    cookies: Vec<Cookie>,
    pub(super) opening: Opening,
    pub(super) began: Time,
    /// When HELLO is sent again.
    pub(super) next: Time,
    wait: Span,
}

impl Greeting {
    pub(super) fn new(nonce: u64, opening: Opening, now: Time) -> Self {
        Self { nonce, cookies: Vec::new(), opening, began: now, next: now, wait: FIRST_WAIT }
    }

    /// HELLO was sent.
    pub(super) fn sent(&mut self, now: Time) {
        self.next = now + self.wait;
        self.wait = LONGEST_WAIT.min(self.wait.times(2));
    }

    pub(super) fn cookie(&self) -> Cookie {
        self.cookies.last().copied().unwrap_or_default()
    }

    /// Takes a cookie; whether it is a new one. A CHALLENGE that is played again has none.
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

/// Another host.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) address: SocketAddr,
    /// The run of this host, as the other knows it. It differs from that of an earlier time that this host knew the other, as
    /// this host has forgotten what was under way then.
    pub(super) own_run: u64,
    pub(super) greeting: Option<Greeting>,
    /// The first is that which datagrams are sent by; those that are not confirmed are last.
    pub(super) sessions: VecDeque<Session>,
    /// When it was last known to be there.
    pub(super) heard: Time,
    /// When its silence began to count, and when it was last asked whether it is there.
    pub(super) quiet_since: Time,
    pub(super) asked_at: Time,
    /// The numbers of the last PING to it, and of the last that it answered.
    asked: u32,
    answered: u32,
    greeted_at: Option<Time>,
    /// When it was last asked because it sent nothing that it was asked for.
    pub(super) pinged_at: Option<Time>,
    /// When it is looked after next.
    pub(super) look_at: Time,
    /// Flows under way to it, and from it.
    pub(super) sending: u32,
    pub(super) receiving: u32,
    /// Whether a whole message was ever sent to it or received from it.
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

    /// The session that datagrams are sent by.
    pub(super) fn current(&self) -> Option<&Session> {
        self.sessions.front().filter(|session| session.is_confirmed())
    }

    pub(super) fn current_mut(&mut self) -> Option<&mut Session> {
        self.sessions.front_mut().filter(|session| session.is_confirmed())
    }

    pub(super) fn is_known(&self) -> bool {
        self.current().is_some()
    }

    /// The run of the other host, as far as it is confirmed.
    pub(super) fn run(&self) -> Option<u64> {
        self.current().map(|session| session.run)
    }

    /// Whether a greeting may begin at `now`; then it does.
    pub(super) fn may_greet_again(&mut self, now: Time) -> bool {
        let may = self.greeting.is_none() && self.greeted_at.is_none_or(|at| now.since(at) >= GREET_AGAIN);
        if may {
            self.greeted_at = Some(now);
        }
        may
    }

    /// The number of another PING.
    pub(super) fn ask(&mut self) -> u32 {
        self.asked += 1;
        self.asked
    }

    /// A PONG with this number came; whether it answers a PING that no PONG has answered, nor a later one.
    pub(super) fn take_answer(&mut self, number: u32) -> bool {
        let is_new = number > self.answered && number <= self.asked;
        if is_new {
            self.answered = number;
        }
        is_new
    }

    /// Adds a session that is not confirmed; its index. One has to go if there are too many: an old one that is confirmed, but
    /// not one of the last two, as the hosts may disagree which of them is the last; else the oldest that is not confirmed.
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
