//! How two hosts become known to each other.

use std::net::SocketAddr;

use priolane_core::ids::HostId;
use priolane_core::units::Time;

use super::cookie::{Cookie, Greeter};
use super::message::{Message, Reason, Speaks};
use super::peer::{Greeting, Peer};
use super::session::Session;
use super::table::{Change, NoRoom, Peers, draw};

impl Peers {
    /// The host at an address, which is greeted if it is not known.
    ///
    /// # Errors
    /// If there is no room for another.
    pub(crate) fn greet(&mut self, address: SocketAddr, now: Time) -> Result<HostId, NoRoom> {
        if let Some(&host) = self.by_address.get(&address) {
            return Ok(host);
        }
        let host = self.add(address, now)?;
        self.start_greeting(host, now);
        Ok(host)
    }

    pub(super) fn start_greeting(&mut self, host: HostId, now: Time) {
        let nonce = draw(&self.random);
        if let Some(peer) = self.get_mut(host) {
            peer.greeting = Some(Greeting::new(nonce, now));
            self.watch(host);
            self.send_hello(host, now);
        }
    }

    pub(super) fn send_hello(&mut self, host: HostId, now: Time) {
        let (run, speaks, patience) = (self.run, self.speaks, self.patience.greeting);
        let Some(peer) = self.get_mut(host) else { return };
        let address = peer.address;
        let Some(greeting) = &mut peer.greeting else { return };
        greeting.sent(now);
        let (nonce, cookie) = (greeting.nonce, greeting.cookie);
        let (next, end) = (greeting.next, greeting.began + patience);
        self.next_look = self.next_look.min(next).min(end);
        self.say(address, Message::Hello { run, nonce, cookie, speaks });
    }

    pub(super) fn on_hello(&mut self, greeter: Greeter, cookie: Cookie, speaks: Speaks, now: Time) {
        let Greeter { address, run, nonce } = greeter;
        if run == self.run {
            // It is this host.
            return;
        }
        if !self.jar.has(greeter, cookie, now) {
            let cookie = self.jar.make(greeter, now);
            return self.answer(address, Message::Challenge { nonce, cookie }, now);
        }
        if speaks != self.speaks {
            let message = Message::Refused { nonce, reason: Reason::Speech, speaks: self.speaks };
            return self.answer(address, message, now);
        }
        let known = self.by_address.get(&address).copied();
        let Ok(host) = known.map_or_else(|| self.add(address, now), Ok) else {
            let message = Message::Refused { nonce, reason: Reason::NoRoom, speaks: self.speaks };
            return self.answer(address, message, now);
        };
        let fresh = draw(&self.random);
        let key = self.key.as_ref().map(|(key, _)| key);
        let Some(peer) = self.peers.get_mut(host.index() - 1).and_then(Option::as_mut) else { return };
        peer.heard = now;
        let Some(place) = peer.agree(run, (fresh, nonce), key) else { return };
        let answer = peer.sessions[place].own;
        if self.key.is_none() {
            // The cookie shows that the other receives what goes to its address: that is all there is to show.
            self.confirm(host, place);
            self.end_greeting(host);
        }
        self.say(address, Message::Welcome { nonce, run: self.run, answer });
    }

    pub(super) fn end_greeting(&mut self, host: HostId) {
        if let Some(peer) = self.get_mut(host) {
            peer.greeting = None;
        }
    }

    /// The host that is greeted with `nonce`.
    pub(super) fn greeted(&self, from: SocketAddr, nonce: u64) -> Option<HostId> {
        let host = *self.by_address.get(&from)?;
        let greeting = self.get(host)?.greeting.as_ref()?;
        (greeting.nonce == nonce).then_some(host)
    }

    pub(super) fn on_challenge(&mut self, from: SocketAddr, nonce: u64, cookie: Cookie, now: Time) {
        let Some(host) = self.greeted(from, nonce) else { return };
        if let Some(greeting) = self.get_mut(host).and_then(|peer| peer.greeting.as_mut())
            && greeting.cookie != cookie
        {
            greeting.cookie = cookie;
            self.send_hello(host, now);
        }
    }

    pub(super) fn on_welcome(&mut self, from: SocketAddr, nonce: u64, (run, answer): (u64, u64), now: Time) {
        let Some(host) = self.greeted(from, nonce) else { return };
        let key = self.key.as_ref().map(|(key, _)| key);
        let Some(peer) = self.peers.get_mut(host.index() - 1).and_then(Option::as_mut) else { return };
        peer.heard = now;
        let Some(place) = peer.agree(run, (nonce, answer), key) else { return };
        self.end_greeting(host);
        self.confirm(host, place);
        if let Some(nonces) = self.get(host).and_then(Peer::current).map(Session::nonces) {
            self.say(from, Message::Ping(nonces));
        }
    }

    pub(super) fn on_refused(&mut self, from: SocketAddr, nonce: u64, (reason, speaks): (Reason, Speaks)) {
        if let Some(host) = self.greeted(from, nonce) {
            self.changes.push(Change::Refused(host, reason, speaks));
            self.remove(host);
        }
    }

    /// A host that should know this one says that it does not.
    pub(super) fn on_unknown(&mut self, from: SocketAddr, now: Time) {
        let Some(&host) = self.by_address.get(&from) else { return };
        if let Some(peer) = self.get_mut(host)
            && peer.greeting.is_none()
            && peer.may_greet_again(now)
        {
            self.start_greeting(host, now);
        }
    }
}
