//! Greetings, by which two hosts become known to each other.

use std::net::SocketAddr;

use priolane_core::ids::HostId;
use priolane_core::units::Time;

use super::cookie::{Bound, Cookie, Greeter};
use super::message::{Acceptance, Message, Offer, Reason, SessionMessage, Speaks};
use super::peer::{Greeting, Opening, Peer};
use super::places::Standing;
use super::session::Session;
use super::table::{Change, NoRoom, Peers, Question};
use crate::key::{ACCEPTANCE, FIRST, Initiator, Responder, Seal};
use crate::random::{RandomFailure, draw};

impl Peers {
    /// Returns the host at an address, and greets it if it is not known. If the random source fails, a change reports
    /// that.
    ///
    /// # Errors
    /// Returns an error if there is no room for another host.
    pub(crate) fn greet(&mut self, address: SocketAddr, now: Time) -> Result<HostId, NoRoom> {
        let known = self.by_address.get(&address).copied();
        let host = known.map_or_else(|| self.add(address, Standing::Busy, now), Ok)?;
        if self.get(host).is_some_and(|peer| !peer.is_known() && peer.greeting.is_none()) {
            self.places.set(host, address.ip(), Standing::Busy, now);
            self.start_greeting(host, now);
        }
        Ok(host)
    }

    pub(super) fn start_greeting(&mut self, host: HostId, now: Time) {
        match self.make_greeting(host, now) {
            Ok(greeting) => {
                if let Some(peer) = self.get_mut(host) {
                    peer.greeting = Some(greeting);
                }
                self.send_hello(host, now);
            }
            Err(RandomFailure) => {
                self.changes.push(Change::RandomFailure(host));
                self.remove(host);
            }
        }
    }

    fn make_greeting(&self, host: HostId, now: Time) -> Result<Greeting, RandomFailure> {
        let nonce = draw(&*self.random)?;
        let run = self.get(host).map_or(self.run, |peer| peer.own_run);
        let opening = match &self.key {
            None => Opening::Open { run, speaks: self.speaks },
            Some(key) => {
                let initiator = Initiator::begin(key, &self.random, nonce, &self.speaks.offer(run))?;
                Opening::Sealed(Box::new(initiator))
            }
        };
        Ok(Greeting::new(nonce, opening, now))
    }

    pub(super) fn send_hello(&mut self, host: HostId, now: Time) {
        let patience = self.patience.greeting;
        let Some(peer) = self.get_mut(host) else { return };
        let address = peer.address;
        let Some(greeting) = &mut peer.greeting else { return };
        greeting.sent(now);
        let hello =
            Message::Hello { nonce: greeting.nonce, cookie: greeting.cookie(), offer: greeting.offer() };
        let next = greeting.next.min(greeting.began + patience);
        self.look_at(host, next);
        self.say(address, hello);
    }

    /// Returns whether a run is one of this host.
    fn is_own_run(&self, run: u64) -> bool {
        run.wrapping_sub(self.run) <= self.forgotten
    }

    pub(super) fn on_hello(&mut self, question: Question, nonce: u64, cookie: Cookie, offer: Offer) {
        let address = question.from;
        let (bound, is_own) = match offer {
            Offer::Open { run, .. } => (Bound::Run(run), self.is_own_run(run)),
            Offer::Sealed(_) => {
                let peer = self.by_address.get(&address).and_then(|&host| self.get(host));
                let session = peer.and_then(Peer::current).map(|session| session.own);
                (Bound::Session(session), self.greeted(address, nonce).is_some())
            }
        };
        if is_own {
            // A HELLO of this host came back.
            return;
        }
        let greeter = Greeter { address, nonce, bound };
        if !self.jar.has(greeter, cookie, question.now) {
            let cookie = self.jar.make(greeter, question.now);
            return self.answer(question, Message::Challenge { nonce, cookie });
        }
        match offer {
            Offer::Open { run, speaks } => self.on_open_hello(question, nonce, run, speaks),
            Offer::Sealed(first) => self.on_sealed_hello(question, nonce, &first),
        }
    }

    fn refuse(&mut self, question: Question, nonce: u64, reason: Reason) {
        self.answer(question, Message::Refused { nonce, reason, speaks: self.speaks });
    }

    /// Returns the host that sent a HELLO with its cookie, if it speaks the same and there is room. Otherwise it is refused, or ignored
    /// if another host would have to be forgotten too soon.
    fn admit(&mut self, question: Question, nonce: u64, speaks: Speaks) -> Option<HostId> {
        if speaks != self.speaks {
            self.refuse(question, nonce, Reason::Speech);
            return None;
        }
        let known = self.by_address.get(&question.from).copied();
        if known.is_none() && self.places.is_full() && !self.may_forget(question.now) {
            return None;
        }
        let host = known.map_or_else(|| self.add(question.from, Standing::Stranger, question.now), Ok);
        if host.is_err() {
            self.refuse(question, nonce, Reason::NoRoom);
        }
        host.ok()
    }

    fn on_open_hello(&mut self, question: Question, nonce: u64, run: u64, speaks: Speaks) {
        let Some(host) = self.admit(question, nonce, speaks) else { return };
        if self.would_restart(host, run) && !self.may_forget(question.now) {
            return;
        }
        let fresh = draw(&*self.random);
        let Some(peer) = self.get_mut(host) else { return };
        let same = |session: &Session| session.run == run && session.theirs == nonce;
        let place = match (peer.sessions.iter().position(same), fresh) {
            (Some(place), _) => place,
            (None, Ok(own)) => {
                peer.heard = question.now;
                peer.add(Session::open(run, (own, nonce)))
            }
            (None, Err(RandomFailure)) => return,
        };
        let acceptance = Acceptance::Open { run: peer.own_run, nonce: peer.sessions[place].own };
        // The cookie shows that the other receives what goes to its address: that is all there is to show. A greeting of this host
        // goes on: the other does not know this session yet.
        self.confirm(host, place);
        self.reply(question, Message::Welcome { nonce, acceptance });
    }

    fn on_sealed_hello(&mut self, question: Question, nonce: u64, first: &[u8; FIRST]) {
        let peer = self.by_address.get(&question.from).and_then(|&host| self.get(host));
        let known = peer.and_then(|peer| peer.sessions.iter().find_map(|session| session.second(nonce)));
        if let Some(second) = known {
            let acceptance = Acceptance::Sealed(second);
            return self.reply(question, Message::Welcome { nonce, acceptance });
        }
        let Some(key) = &self.key else { return };
        let Some((responder, offer)) = Responder::read(key, &self.random, nonce, first) else { return };
        let Some((run, speaks)) = Speaks::of_offer(&offer) else { return };
        if self.is_own_run(run) {
            return;
        }
        let Some(host) = self.admit(question, nonce, speaks) else { return };
        let Ok(own) = draw(&*self.random) else { return };
        let numbers = self.numbers;
        let Some(peer) = self.get_mut(host) else { return };
        let mut acceptance = [0; ACCEPTANCE];
        acceptance[..8].copy_from_slice(&peer.own_run.to_le_bytes());
        acceptance[8..].copy_from_slice(&own.to_le_bytes());
        let Ok((second, transport)) = responder.answer(&acceptance) else { return };
        peer.add(Session::sealed(run, (own, nonce), Seal::new(transport, numbers), Some(second)));
        self.reply(question, Message::Welcome { nonce, acceptance: Acceptance::Sealed(second) });
    }

    /// Returns the host to which the greeting with `nonce` was sent.
    pub(super) fn greeted(&self, from: SocketAddr, nonce: u64) -> Option<HostId> {
        let host = *self.by_address.get(&from)?;
        let greeting = self.get(host)?.greeting.as_ref()?;
        (greeting.nonce == nonce).then_some(host)
    }

    pub(super) fn on_challenge(&mut self, from: SocketAddr, nonce: u64, cookie: Cookie, now: Time) {
        let Some(host) = self.greeted(from, nonce) else { return };
        let greeting = self.get_mut(host).and_then(|peer| peer.greeting.as_mut());
        if greeting.is_some_and(|greeting| greeting.take_cookie(cookie)) {
            self.send_hello(host, now);
        }
    }

    pub(super) fn on_welcome(&mut self, from: SocketAddr, nonce: u64, acceptance: &Acceptance, now: Time) {
        let Some(host) = self.greeted(from, nonce) else { return };
        if let &Acceptance::Open { run, .. } = acceptance
            && self.would_restart(host, run)
            && !self.may_forget(now)
        {
            return;
        }
        let Some(session) = self.accept(host, acceptance) else { return };
        let Some(peer) = self.get_mut(host) else { return };
        peer.heard = now;
        peer.greeting = None;
        let (place, number) = (peer.add(session), peer.ask());
        self.confirm(host, place);
        self.say_in_session(host, SessionMessage::Ping(number));
    }

    /// Returns the session that a WELCOME agrees on, or `None` if the WELCOME does not fit the greeting.
    fn accept(&mut self, host: HostId, acceptance: &Acceptance) -> Option<Session> {
        let numbers = self.numbers;
        let peer = self.get_mut(host)?;
        let greeting = peer.greeting.as_mut()?;
        match (&mut greeting.opening, acceptance) {
            (Opening::Open { .. }, &Acceptance::Open { run, nonce }) => {
                Some(Session::open(run, (greeting.nonce, nonce)))
            }
            (Opening::Sealed(initiator), Acceptance::Sealed(second)) => {
                let acceptance = initiator.read(second)?;
                let (run, nonce) = acceptance.split_first_chunk::<8>()?;
                let (run, nonce) = (u64::from_le_bytes(*run), u64::from_le_bytes(nonce.try_into().ok()?));
                let Greeting { nonce: own, opening: Opening::Sealed(initiator), .. } =
                    peer.greeting.take()?
                else {
                    return None;
                };
                let seal = Seal::new(initiator.finish()?, numbers);
                Some(Session::sealed(run, (own, nonce), seal, None))
            }
            _ => None,
        }
    }

    pub(super) fn on_refused(&mut self, from: SocketAddr, nonce: u64, (reason, speaks): (Reason, Speaks)) {
        if let Some(host) = self.greeted(from, nonce) {
            self.changes.push(Change::Refused(host, reason, speaks));
            self.remove(host);
        }
    }

    /// Greets a known host again, unless it was greeted less than `GREET_AGAIN` ago.
    pub(super) fn greet_again(&mut self, host: HostId, now: Time) {
        if self.get_mut(host).is_some_and(|peer| peer.may_greet_again(now)) {
            self.start_greeting(host, now);
        }
    }
}
