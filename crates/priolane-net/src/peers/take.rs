//! Control messages that come.

use std::net::SocketAddr;

use priolane_core::endpoint::Rejection;
use priolane_core::ids::HostId;
use priolane_core::units::Time;

use super::cookie::Greeter;
use super::message::{Message, Nonces, Reason};
use super::session::Session;
use super::table::{Change, MOST_WAITING, Peers};

impl Peers {
    /// A control message came; whether it is one.
    pub(crate) fn take(&mut self, from: SocketAddr, bytes: &[u8], now: Time) -> bool {
        let Some(message) = Message::decode(bytes, self.control_key()) else {
            return self.take_without_key(from, bytes, now);
        };
        match message {
            Message::Hello { run, nonce, cookie, speaks } => {
                self.on_hello(Greeter { address: from, run, nonce }, cookie, speaks, now);
            }
            Message::Challenge { nonce, cookie } => self.on_challenge(from, nonce, cookie, now),
            Message::Welcome { nonce, run, answer } => self.on_welcome(from, nonce, (run, answer), now),
            Message::Refused { nonce, reason, speaks } => self.on_refused(from, nonce, (reason, speaks)),
            Message::Unknown => self.on_unknown(from, now),
            Message::Ping(nonces) => self.on_ping(from, nonces, now),
            Message::Pong(nonces) => drop(self.of_session(from, nonces, now)),
            Message::Abort { nonces, flow } => {
                if let Some(host) = self.of_session(from, nonces, now) {
                    self.changes.push(Change::Aborted(host, flow));
                }
            }
            Message::Reject { nonces, flow, why } => {
                if let Some(host) = self.of_session(from, nonces, now) {
                    self.changes.push(Change::Rejected(host, flow, why));
                }
            }
        }
        true
    }

    /// A host with a key tells one without that it needs one.
    pub(super) fn take_without_key(&mut self, from: SocketAddr, bytes: &[u8], now: Time) -> bool {
        let (Some(_), Some(Message::Hello { nonce, .. })) = (&self.key, Message::decode(bytes, None)) else {
            return false;
        };
        if self.may_answer(now) && self.waiting.len() < MOST_WAITING {
            let message = Message::Refused { nonce, reason: Reason::NeedsKey, speaks: self.speaks };
            let (bytes, len) = message.encode(None);
            self.waiting.push_back((from, bytes, len));
        }
        true
    }

    /// The host of a session that a message is of.
    pub(super) fn of_session(&mut self, from: SocketAddr, nonces: Nonces, now: Time) -> Option<HostId> {
        let host = *self.by_address.get(&from)?;
        let peer = self.get_mut(host)?;
        let place = peer.sessions.iter().position(|session| session.is_of(nonces))?;
        peer.heard = now;
        self.confirm(host, place);
        Some(host)
    }

    pub(super) fn on_ping(&mut self, from: SocketAddr, nonces: Nonces, now: Time) {
        match self.of_session(from, nonces, now) {
            Some(_) => self.say(from, Message::Pong(Nonces { from: nonces.to, to: nonces.from })),
            None => self.stranger(from, now),
        }
    }

    /// Tells a host that one of its flows is not received here.
    pub(crate) fn tell_rejected(&mut self, host: HostId, flow: u32, why: Rejection) {
        let Some(peer) = self.get(host) else { return };
        if let Some(nonces) = peer.current().map(Session::nonces) {
            let address = peer.address;
            self.say(address, Message::Reject { nonces, flow, why });
        }
    }

    /// Tells a host that the rest of a flow will not come.
    pub(crate) fn tell_aborted(&mut self, host: HostId, flow: u32) {
        let Some(peer) = self.get(host) else { return };
        if let Some(nonces) = peer.current().map(Session::nonces) {
            let address = peer.address;
            self.say(address, Message::Abort { nonces, flow });
        }
    }
}
