//! Outgoing control messages.

use std::net::SocketAddr;

use priolane_core::ids::HostId;
use priolane_core::units::{PS_PER_S, Time};

use super::message::{LONGEST, Message, SessionMessage};
use super::table::{Peers, Question};

/// The number of answers to strangers per second, and the number of answers at once.
pub(super) const ANSWERS: u64 = 20_000;
pub(super) const ANSWERS_AT_ONCE: u64 = 2_000;

/// The largest number of control messages that wait to be sent.
pub(super) const MOST_WAITING: usize = 4_096;

impl Peers {
    fn push(&mut self, to: SocketAddr, (bytes, len): ([u8; LONGEST], usize)) {
        if self.waiting.len() < MOST_WAITING {
            self.waiting.push_back((to, bytes, len));
        }
    }

    /// Sends a message to a host that did not ask for it.
    pub(super) fn say(&mut self, to: SocketAddr, message: Message) {
        let encoded = message.encode(self.control_key());
        self.push(to, encoded);
    }

    /// Sends a message to a host in the session with it, if there is one.
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

    /// Answers a datagram outside a session. This function sends all such answers, and drops an answer that is longer
    /// than the datagram.
    fn reply_with(&mut self, question: Question, encoded: ([u8; LONGEST], usize)) {
        if encoded.1 <= question.len {
            self.push(question.from, encoded);
        }
    }

    /// Answers a host that has proved that it receives datagrams at its address.
    pub(super) fn reply(&mut self, question: Question, message: Message) {
        let encoded = message.encode(self.control_key());
        self.reply_with(question, encoded);
    }

    /// Returns whether the rate of answers to unknown hosts permits another one now.
    pub(super) fn may_answer(&mut self, now: Time) -> bool {
        let slot = PS_PER_S / ANSWERS;
        let earliest = Time(now.0.saturating_sub(ANSWERS_AT_ONCE * slot));
        let may = self.next_answer <= now;
        if may {
            self.next_answer = Time(self.next_answer.max(earliest).0 + slot);
        }
        may
    }

    /// Answers an unknown host.
    pub(super) fn answer(&mut self, question: Question, message: Message) {
        if self.may_answer(question.now) {
            self.reply(question, message);
        }
    }

    /// Answers a host without a key, although this host has one.
    pub(super) fn answer_without_key(&mut self, question: Question, message: Message) {
        if self.may_answer(question.now) {
            self.reply_with(question, message.encode(None));
        }
    }

    /// Removes the next control message from the queue, and returns its destination, its bytes and its length.
    pub(crate) fn pop(&mut self) -> Option<(SocketAddr, [u8; LONGEST], usize)> {
        self.waiting.pop_front()
    }
}
