//! The table of other hosts: by address and by name, with what waits to be said to them.

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

/// This host's own name among those that it knows.
pub(crate) const SELF: HostId = HostId(0);

/// What became of another host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    /// It is known; flows to it may start.
    Known(HostId),
    /// It was started again: flows from before are no more.
    Restarted(HostId),
    /// It did not answer; it is no more known.
    NoAnswer(HostId),
    /// It was heard no more; it is no more known.
    Silent(HostId),
    /// It refused; it is no more known.
    Refused(HostId, Reason, Speaks),
    /// It makes room for another; it is no more known.
    Evicted(HostId),
    /// It cannot be greeted, as the random source failed; it is no more known.
    RandomFailure(HostId),
    /// It will send no more of this flow.
    Aborted(HostId, u32),
    /// It does not receive this flow of this host.
    Rejected(HostId, u32, Rejection),
}

/// How long hosts are waited for, and how many are known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// For an answer to a greeting.
    pub(crate) greeting: Span,
    /// For anything while something is under way.
    pub(crate) silence: Span,
    /// Hosts without anything under way that were not heard for so long make room for others.
    pub(crate) idle: Span,
    /// How many hosts are known, at most 65,534: a name is not given again before the caller knows that it is free.
    pub(crate) most: u16,
}

/// A datagram that came, which an answer may not exceed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question {
    /// Where it came from.
    pub(crate) from: SocketAddr,
    /// Its bytes.
    pub(crate) len: usize,
    /// When it came.
    pub(crate) now: Time,
}

/// What was in a sealed datagram.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Opened<'a> {
    /// A packet of a host.
    Packet(HostId, &'a [u8]),
    /// A message of the session, which was taken.
    Message,
    /// Nothing that may be opened or read.
    Nothing,
}

/// Time without a datagram after which a host is asked whether it is there.
pub(super) const PING_AFTER: Span = Span::from_ms(1_000);

/// The other hosts.
#[derive(Debug)]
pub(crate) struct Peers {
    /// The run of this host, drawn at its start.
    pub(super) run: u64,
    /// How many hosts were known and forgotten. A host that becomes known is told the run plus this number.
    pub(super) forgotten: u64,
    pub(super) speaks: Speaks,
    pub(super) key: Option<Secrets>,
    pub(super) numbers: Numbers,
    pub(super) patience: Patience,
    pub(super) random: Arc<dyn RandomSource>,
    pub(super) jar: CookieJar,
    pub(super) by_address: HashMap<SocketAddr, HostId>,
    /// By name, from 1 on.
    pub(super) peers: Vec<Option<Peer>>,
    pub(super) places: Places,
    pub(super) free: Vec<HostId>,
    /// Names of hosts that are no more known, of which the caller does not know yet.
    pub(super) left: Vec<HostId>,
    /// When hosts are to be looked after: those that are being greeted, or that messages are under way to.
    pub(super) due: BTreeSet<(Time, HostId)>,
    /// When the next answer to a stranger is within their rate.
    pub(super) next_answer: Time,
    pub(super) waiting: VecDeque<(SocketAddr, [u8; LONGEST], usize)>,
    pub(super) changes: Vec<Change>,
}

/// As many hosts are known as may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoRoom;

impl Peers {
    /// A host that knows no other.
    ///
    /// # Errors
    /// If the random source fails.
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

    /// What has changed since the last call. The names of hosts that are no more known may then be those of others.
    pub(crate) fn changes(&mut self) -> Vec<Change> {
        self.free.append(&mut self.left);
        std::mem::take(&mut self.changes)
    }

    /// How many hosts are known or being greeted.
    pub(crate) fn count(&self) -> usize {
        self.by_address.len()
    }

    pub(crate) fn address(&self, host: HostId) -> Option<SocketAddr> {
        self.get(host).map(|peer| peer.address)
    }

    /// Whether flows to a host may start.
    pub(crate) fn is_known(&self, host: HostId) -> bool {
        self.get(host).is_some_and(Peer::is_known)
    }

    /// A new host at an address, for which another may have to give way.
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

    /// The host that a packet without a seal comes from. One that is not known gets an answer that says so.
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

    /// A sealed datagram came that cannot be opened.
    fn on_unopened(&mut self, question: Question, datagram: &[u8]) {
        if let Some(mark) = mark_of(datagram) {
            self.answer(question, Message::Unknown(Some(mark)));
        }
    }

    /// Opens a sealed datagram; a packet in it lies in `text`.
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
            // To one that is played again, no answer: it would seem to its sender that this host does not know it.
            if is_foreign && now.since(peer.heard) >= PING_AFTER {
                self.on_unopened(question, datagram);
            }
            return Opened::Nothing;
        };
        peer.heard = now;
        if !peer.sessions[place].is_confirmed() {
            // Whichever of both has greeted: they know each other now.
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

    /// Seals `text` to a host into `out`; the length of the datagram, or `None` if there is no session that can seal it. Hosts greet
    /// again in time for new keys.
    pub(crate) fn seal(&mut self, host: HostId, text: &[u8], out: &mut [u8], now: Time) -> Option<usize> {
        let session = self.get_mut(host)?.current_mut()?;
        let len = session.seal(text, out);
        if session.needs_renewal() {
            self.greet_again(host, now);
        }
        len
    }

    /// The other host used the nonce that it got in the session at `place`.
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
