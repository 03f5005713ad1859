//! Incoming control messages.

use std::net::SocketAddr;

use priolane_core::endpoint::Rejection;
use priolane_core::ids::HostId;
use priolane_core::units::Time;

use super::message::{Message, Nonces, Offer, Reason, SessionMessage};
use super::table::{Change, Peers, Question};
use crate::key::Mark;

impl Peers {
    /// Handles an unsealed control message, and returns whether the bytes are one.
    pub(crate) fn take(&mut self, question: Question, bytes: &[u8]) -> bool {
        let Some(message) = Message::decode(bytes, self.control_key()) else {
            return self.take_without_key(question, bytes);
        };
        let Question { from, now, .. } = question;
        match message {
            Message::Hello { nonce, cookie, offer } => self.on_hello(question, nonce, cookie, offer),
            Message::Challenge { nonce, cookie } => self.on_challenge(from, nonce, cookie, now),
            Message::Welcome { nonce, acceptance } => self.on_welcome(from, nonce, &acceptance, now),
            Message::Refused { nonce, reason, speaks } => self.on_refused(from, nonce, (reason, speaks)),
            Message::Unknown(mark) => self.on_unknown(from, mark, now),
            Message::Session(nonces, message) => self.on_open_message(question, nonces, message),
        }
        true
    }

    /// Tells a host without a key that this host requires one.
    fn take_without_key(&mut self, question: Question, bytes: &[u8]) -> bool {
        let (Some(_), Some(Message::Hello { nonce, offer: Offer::Open { .. }, .. })) =
            (&self.key, Message::decode(bytes, None))
        else {
            return false;
        };
        let message = Message::Refused { nonce, reason: Reason::NeedsKey, speaks: self.speaks };
        self.answer_without_key(question, message);
        true
    }

    /// Handles the report of a host that it does not know this one, and could not handle one of its datagrams.
    fn on_unknown(&mut self, from: SocketAddr, mark: Option<Mark>, now: Time) {
        let Some(&host) = self.by_address.get(&from) else { return };
        let Some(peer) = self.get_mut(host) else { return };
        let is_answer = match mark {
            None => true,
            Some(mark) => peer.current_mut().is_some_and(|session| session.recognize(mark)),
        };
        if is_answer {
            self.greet_again(host, now);
        }
    }

    /// Handles a message of a session without a key.
    fn on_open_message(&mut self, question: Question, nonces: Nonces, message: SessionMessage) {
        let host = self.by_address.get(&question.from).copied();
        let of_session =
            |host: &HostId| self.get(*host)?.sessions.iter().position(|session| session.is_of(nonces));
        match (host, host.as_ref().and_then(of_session)) {
            (Some(host), Some(place)) => {
                self.confirm(host, place);
                self.on_session_message(host, message, question.now);
            }
            _ if matches!(message, SessionMessage::Ping(_)) => self.answer(question, Message::Unknown(None)),
            _ => {}
        }
    }

    /// Handles a message of a session. Without a key, only an answer proves that the peer is alive.
    pub(super) fn on_session_message(&mut self, host: HostId, message: SessionMessage, now: Time) {
        match message {
            SessionMessage::Ping(number) => self.say_in_session(host, SessionMessage::Pong(number)),
            SessionMessage::Pong(number) => {
                if let Some(peer) = self.get_mut(host)
                    && peer.take_answer(number)
                {
                    peer.heard = now;
                }
            }
            SessionMessage::Abort(flow) => self.changes.push(Change::Aborted(host, flow)),
            SessionMessage::Reject(flow, why) => self.changes.push(Change::Rejected(host, flow, why)),
        }
    }

    /// Tells a host that this host does not receive one of its flows.
    pub(crate) fn tell_rejected(&mut self, host: HostId, flow: u32, why: Rejection) {
        self.say_in_session(host, SessionMessage::Reject(flow, why));
    }

    /// Tells a host that the rest of a flow will not be sent.
    pub(crate) fn tell_aborted(&mut self, host: HostId, flow: u32) {
        self.say_in_session(host, SessionMessage::Abort(flow));
    }
}
