//! Control messages that leave.

use std::net::SocketAddr;

use priolane_core::ids::HostId;
use priolane_core::units::{PS_PER_S, Time};

use super::message::{LONGEST, Message, SessionMessage};
use super::table::{Peers, Question};

/// Answers to strangers per second, and at once.
pub(super) const ANSWERS: u64 = 20_000;
pub(super) const ANSWERS_AT_ONCE: u64 = 2_000;

/// Control messages that wait to be sent.
pub(super) const MOST_WAITING: usize = 4_096;

impl Peers {
    fn push(&mut self, to: SocketAddr, (bytes, len): ([u8; LONGEST], usize)) {
        if self.waiting.len() < MOST_WAITING {
            self.waiting.push_back((to, bytes, len));
        }
    }

    /// Says something to a host that did not ask.
    pub(super) fn say(&mut self, to: SocketAddr, message: Message) {
        let encoded = message.encode(self.control_key());
        self.push(to, encoded);
    }

    /// Says something to a host in the session that both have, if they have one.
    pub(super) fn say_in_session(&mut self, host: HostId, message: SessionMessage) {
        let is_sealed = self.key.is_some();
        let Some(peer) = self.get_mut(host) else { return };
        let address = peer.address;
        let Some(session) = peer.current_mut() else { return };
        if is_sealed {
            let mut bytes = [0; LONGEST];
            if let Some(len) = session.seal(&message.text(), &mut bytes) {
                self.push(address, (bytes, len));
            }
        } else {
            let nonces = session.nonces();
            self.say(address, Message::Session(nonces, message));
        }
    }

    /// Answers a datagram outside of a session. All such answers are given here: none is longer than what it answers.
    fn reply_with(&mut self, question: Question, encoded: ([u8; LONGEST], usize)) {
        if encoded.1 <= question.len {
            self.push(question.from, encoded);
        }
    }

    /// Answers a host that has shown that it receives what goes to its address.
    pub(super) fn reply(&mut self, question: Question, message: Message) {
        let encoded = message.encode(self.control_key());
        self.reply_with(question, encoded);
    }

    /// Whether another answer to a host that is not known is within the rate of such answers.
    pub(super) fn may_answer(&mut self, now: Time) -> bool {
        let slot = PS_PER_S / ANSWERS;
        let earliest = Time(now.0.saturating_sub(ANSWERS_AT_ONCE * slot));
        let may = self.next_answer <= now;
        if may {
            self.next_answer = Time(self.next_answer.max(earliest).0 + slot);
        }
        may
    }

    /// Answers a host that is not known.
    pub(super) fn answer(&mut self, question: Question, message: Message) {
        if self.may_answer(question.now) {
            self.reply(question, message);
        }
    }

    /// Answers a host that has no key, though this host has one.
    pub(super) fn answer_without_key(&mut self, question: Question, message: Message) {
        if self.may_answer(question.now) {
            self.reply_with(question, message.encode(None));
        }
    }

    /// The next control message to be sent: where to, and its bytes.
    pub(crate) fn pop(&mut self) -> Option<(SocketAddr, [u8; LONGEST], usize)> {
        self.waiting.pop_front()
    }
}
