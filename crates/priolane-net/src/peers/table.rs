//! The table of peers, by address and by name, and the queue of control messages to them.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;

use priolane_core::endpoint::Rejection;
use priolane_core::ids::HostId;
use priolane_core::units::{Span, Time};
use ring::hmac;

use super::cookie::CookieJar;
use super::message::{LONGEST, Message, Reason, SessionMessage, Speaks};
use super::peer::Peer;
use super::places::{Places, Standing};
use super::session::Session;
use crate::key::{HEAD, Key, Numbers, Refusal, Secrets, TAG, mark_of};
use crate::random::{RandomFailure, RandomSource, draw};

/// Bytes that a key adds to each datagram.
pub(crate) const SEAL_BYTES: usize = HEAD + TAG;

/// The name of this host itself.
pub(crate) const SELF: HostId = HostId(0);

/// A change of the state of a peer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    /// The peer is known, and flows to it may start.
    Known(HostId),
    /// The peer was restarted, which ended all earlier flows.
    Restarted(HostId),
    /// The peer did not answer a greeting and was removed.
    NoAnswer(HostId),
    /// The peer fell silent and was removed.
    Silent(HostId),
    /// The peer refused a greeting and was removed.
    Refused(HostId, Reason, Speaks),
    /// The peer was removed to make room for another.
    Evicted(HostId),
    /// The peer could not be greeted because the random source failed, and was removed.
    RandomFailure(HostId),
    /// The peer aborted this flow, which it was sending.
    Aborted(HostId, u32),
    /// The peer does not receive this flow of this host.
    Rejected(HostId, u32, Rejection),
}

/// Time limits for peers, and the size of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// Time within which a peer must answer a greeting.
    pub(crate) greeting: Span,
    /// Time within which a peer must be heard while messages are under way.
    pub(crate) silence: Span,
    /// Time after which a peer that is silent and has no messages under way makes room for another.
    pub(crate) idle: Span,
    /// The largest number of peers, at most 65,534. A name is reused only after the caller has learned that it is free.
    pub(crate) most: u16,
}

/// A datagram that arrived. An answer must not be longer than it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question {
    /// The address of the sender.
    pub(crate) from: SocketAddr,
    /// The length of the datagram in bytes.
    pub(crate) len: usize,
    /// The time at which the datagram arrived.
    pub(crate) now: Time,
}

/// The content of a sealed datagram.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Opened<'a> {
    /// A packet of a peer.
    Packet(HostId, &'a [u8]),
    /// A message of the session, which was handled.
    Message,
    /// The datagram would confirm a restart of its sender, and is ignored because restarts are limited.
    Postponed,
    /// The datagram could not be opened or read.
    Nothing,
}

/// Time without a datagram after which a PING is sent to a peer.
pub(super) const PING_AFTER: Span = Span::from_ms(1_000);

/// The peers of a host.
#[derive(Debug)]
pub(crate) struct Peers {
    /// The run of this host, drawn at its start.
    pub(super) run: u64,
    /// The number of known peers that were removed. A new peer receives the sum of `run` and this number as the run of this host.
    pub(super) forgotten: u64,
    pub(super) speaks: Speaks,
    pub(super) key: Option<Secrets>,
    pub(super) numbers: Numbers,
    pub(super) patience: Patience,
    pub(super) random: Arc<dyn RandomSource>,
    pub(super) jar: CookieJar,
    pub(super) by_address: HashMap<SocketAddr, HostId>,
    /// The peers by name, from 1 on.
    pub(super) peers: Vec<Option<Peer>>,
    pub(super) places: Places,
    pub(super) free: Vec<HostId>,
    /// Names of peers that were removed and that the caller has not fetched yet.
    pub(super) left: Vec<HostId>,
    /// The times at which to check peers that are being greeted, or to which messages are under way.
    pub(super) due: BTreeSet<(Time, HostId)>,
    /// The earliest time at which a greeting may make this host forget a peer again.
    pub(super) may_forget_at: Time,
    /// The earliest time at which the rate of answers to unknown hosts permits the next one.
    pub(super) next_answer: Time,
    pub(super) waiting: VecDeque<(SocketAddr, [u8; LONGEST], usize)>,
    pub(super) changes: Vec<Change>,
}

/// The error that the table is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoRoom;

impl Peers {
    /// Creates an empty table.
    ///
    /// # Errors
    /// Returns an error if the random source fails.
    pub(crate) fn new(
        speaks: Speaks,
        key: Option<&Key>,
        patience: Patience,
        random: Arc<dyn RandomSource>,
    ) -> Result<Self, RandomFailure> {
        let most = patience.most.clamp(1, u16::MAX - 1);
        Ok(Self {
            run: draw(&*random)?,
            forgotten: 0,
            speaks,
            key: key.map(Key::secrets),
            numbers: Numbers::DEFAULT,
            patience: Patience { most, ..patience },
            random,
            jar: CookieJar::default(),
            by_address: HashMap::new(),
            peers: Vec::new(),
            places: Places::new(usize::from(most)),
            free: Vec::new(),
            left: Vec::new(),
            due: BTreeSet::new(),
            may_forget_at: Time::ZERO,
            next_answer: Time::ZERO,
            waiting: VecDeque::new(),
            changes: Vec::new(),
        })
    }

    pub(super) fn get(&self, host: HostId) -> Option<&Peer> {
        self.peers.get(host.index().checked_sub(1)?)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, host: HostId) -> Option<&mut Peer> {
        self.peers.get_mut(host.index().checked_sub(1)?)?.as_mut()
    }

    pub(super) fn control_key(&self) -> Option<&hmac::Key> {
        self.key.as_ref().map(|key| &key.control)
    }

    /// Returns the changes since the last call. After this call, the names of removed peers may be reused.
    pub(crate) fn changes(&mut self) -> Vec<Change> {
        self.free.append(&mut self.left);
        std::mem::take(&mut self.changes)
    }

    /// Returns the number of peers that are known or being greeted.
    pub(crate) fn count(&self) -> usize {
        self.by_address.len()
    }

    pub(crate) fn address(&self, host: HostId) -> Option<SocketAddr> {
        self.get(host).map(|peer| peer.address)
    }

    /// Returns whether flows to a peer may start.
    pub(crate) fn is_known(&self, host: HostId) -> bool {
        self.get(host).is_some_and(Peer::is_known)
    }

    /// Adds a peer at an address. Another peer may be removed to make room.
    pub(super) fn add(
        &mut self,
        address: SocketAddr,
        standing: Standing,
        now: Time,
    ) -> Result<HostId, NoRoom> {
        if self.places.is_full() {
            let host = self.places.victim(address.ip(), self.patience.idle, now).ok_or(NoRoom)?;
            self.changes.push(Change::Evicted(host));
            self.remove(host);
        }
        let next = u16::try_from(self.peers.len() + 1).ok().map(HostId);
        let host = match self.free.pop() {
            Some(host) => host,
            None => {
                let host = next.ok_or(NoRoom)?;
                self.peers.push(None);
                host
            }
        };
        let own_run = self.run.wrapping_add(self.forgotten);
        self.peers[host.index() - 1] = Some(Peer::new(address, own_run, now));
        self.by_address.insert(address, host);
        self.places.set(host, address.ip(), standing, now);
        Ok(host)
    }

    pub(super) fn remove(&mut self, host: HostId) {
        if let Some(peer) = self.peers.get_mut(host.index() - 1).and_then(Option::take) {
            self.forgotten += u64::from(peer.is_known());
            self.by_address.remove(&peer.address);
            self.places.remove(host);
            self.due.remove(&(peer.look_at, host));
            self.left.push(host);
        }
    }

    /// Returns the known peer that sent an unsealed packet. An unknown sender receives UNKNOWN in answer.
    pub(crate) fn from(&mut self, question: Question) -> Option<HostId> {
        let host = self.by_address.get(&question.from).copied();
        let peer = host.and_then(|host| self.get_mut(host)).filter(|peer| peer.is_known());
        match peer {
            Some(peer) => {
                peer.heard = question.now;
                host
            }
            None => {
                self.answer(question, Message::Unknown(None));
                None
            }
        }
    }

    /// Answers a sealed datagram that cannot be opened.
    fn on_unopened(&mut self, question: Question, datagram: &[u8]) {
        if let Some(mark) = mark_of(datagram) {
            self.answer(question, Message::Unknown(Some(mark)));
        }
    }

    /// Opens a sealed datagram. `text` holds the packet, if it contains one.
    pub(crate) fn open<'a>(
        &mut self,
        question: Question,
        datagram: &[u8],
        text: &'a mut Vec<u8>,
    ) -> Opened<'a> {
        let Question { from, now, .. } = question;
        let Some(&host) = self.by_address.get(&from) else {
            self.on_unopened(question, datagram);
            return Opened::Nothing;
        };
        let Some(peer) = self.get_mut(host) else { return Opened::Nothing };
        if text.len() < datagram.len() {
            text.resize(datagram.len(), 0);
        }
        let (mut opened, mut is_foreign) = (None, true);
        for (place, session) in peer.sessions.iter_mut().enumerate() {
            match session.open_datagram(datagram, text) {
                Ok(len) => {
                    opened = Some((place, len));
                    break;
                }
                Err(refusal) => is_foreign &= refusal == Refusal::Foreign,
            }
        }
        let Some((place, len)) = opened else {
            // A replayed datagram receives no answer: its original sender would conclude that this host does not know it.
            if is_foreign && now.since(peer.heard) >= PING_AFTER {
                self.on_unopened(question, datagram);
            }
            return Opened::Nothing;
        };
        let run = peer.sessions[place].run;
        let is_new = !peer.sessions[place].is_confirmed();
        if is_new && self.would_restart(host, run) && !self.may_forget(now) {
            return Opened::Postponed;
        }
        let Some(peer) = self.get_mut(host) else { return Opened::Nothing };
        peer.heard = now;
        if is_new {
            // Both hosts know each other now, whichever of them has greeted.
            peer.greeting = None;
        }
        self.confirm(host, place);
        let text = &text[..len];
        if text.first().is_some_and(|first| first >> 4 != 0) {
            return Opened::Packet(host, text);
        }
        let Some(message) = SessionMessage::of_text(text) else { return Opened::Nothing };
        self.on_session_message(host, message, now);
        Opened::Message
    }

    /// Seals `text` for a peer into `out`. Returns the length of the datagram, or `None` if no session can seal it. Starts a new greeting
    /// in time when new keys are needed.
    pub(crate) fn seal(&mut self, host: HostId, text: &[u8], out: &mut [u8], now: Time) -> Option<usize> {
        let session = self.get_mut(host)?.current_mut()?;
        let len = session.seal(text, out);
        if session.needs_renewal() {
            self.greet_again(host, now);
        }
        len
    }

    /// Confirms the session at `place`, because the peer used the nonce that it received.
    pub(super) fn confirm(&mut self, host: HostId, place: usize) {
        let Some(peer) = self.get_mut(host) else { return };
        if peer.sessions.get(place).is_none_or(Session::is_confirmed) {
            return;
        }
        let before = peer.run();
        if let Some(mut session) = peer.sessions.remove(place) {
            session.confirm();
            peer.sessions.push_front(session);
        }
        if before.is_some() && before != peer.run() {
            let run = peer.run();
            peer.sessions.retain(|session| Some(session.run) == run);
            self.changes.push(Change::Restarted(host));
        }
        if before.is_none() {
            self.changes.push(Change::Known(host));
        }
    }
}
