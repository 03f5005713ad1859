//! The table of other hosts: by address and by name, with what waits to be said to them.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::net::SocketAddr;

use priolane_core::endpoint::Rejection;
use priolane_core::ids::HostId;
use priolane_core::units::{PS_PER_S, Span, Time};
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};

use super::cookie::CookieJar;
use super::message::{LONGEST, Message, Reason, Speaks};
use super::peer::Peer;
use crate::key::{Key, NUMBER, TAG};

/// Bytes that a key adds to each datagram.
pub(crate) const SEAL_BYTES: usize = 1 + NUMBER + TAG;

/// Where in a sealed datagram the packet begins.
pub(crate) const SEAL_HEAD: usize = 1 + NUMBER;

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
    /// How many hosts are known.
    pub(crate) most: u16,
}

/// Time without a datagram after which a host is asked whether it is there.
pub(super) const PING_AFTER: Span = Span::from_ms(1_000);

/// Answers to strangers per second, and at once.
pub(super) const ANSWERS: u64 = 20_000;
pub(super) const ANSWERS_AT_ONCE: u64 = 2_000;

/// Control messages that wait to be sent.
pub(super) const MOST_WAITING: usize = 4_096;

/// The other hosts.
#[derive(Debug)]
pub(crate) struct Peers {
    pub(super) run: u64,
    pub(super) speaks: Speaks,
    pub(super) key: Option<(Key, hmac::Key)>,
    pub(super) patience: Patience,
    pub(super) random: SystemRandom,
    pub(super) jar: CookieJar,
    pub(super) by_address: HashMap<SocketAddr, HostId>,
    /// By name, from 1 on.
    pub(super) peers: Vec<Option<Peer>>,
    pub(super) free: Vec<HostId>,
    /// Names of hosts that are no more known, of which the caller does not know yet.
    pub(super) left: Vec<HostId>,
    /// Those that are being greeted, or have something under way.
    pub(super) watched: BTreeSet<HostId>,
    pub(super) next_look: Time,
    /// When the next answer to a stranger is within their rate.
    pub(super) next_answer: Time,
    pub(super) waiting: VecDeque<(SocketAddr, [u8; LONGEST], usize)>,
    pub(super) changes: Vec<Change>,
}

/// As many hosts are known as may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoRoom;

/// A random number; 0 where the system has none, which it never lacks after its start.
pub(crate) fn draw(random: &SystemRandom) -> u64 {
    let mut bytes = [0; 8];
    let _ = random.fill(&mut bytes);
    u64::from_le_bytes(bytes)
}

impl Peers {
    pub(crate) fn new(speaks: Speaks, key: Option<Key>, patience: Patience) -> Self {
        let random = SystemRandom::new();
        Self {
            run: draw(&random),
            speaks,
            key: key.map(|key| {
                let control = key.of_control();
                (key, control)
            }),
            patience: Patience { most: patience.most.max(1), ..patience },
            random,
            jar: CookieJar::default(),
            by_address: HashMap::new(),
            peers: Vec::new(),
            free: Vec::new(),
            left: Vec::new(),
            watched: BTreeSet::new(),
            next_look: Time::NEVER,
            next_answer: Time::ZERO,
            waiting: VecDeque::new(),
            changes: Vec::new(),
        }
    }

    pub(super) fn get(&self, host: HostId) -> Option<&Peer> {
        self.peers.get(host.index().checked_sub(1)?)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, host: HostId) -> Option<&mut Peer> {
        self.peers.get_mut(host.index().checked_sub(1)?)?.as_mut()
    }

    pub(super) fn control_key(&self) -> Option<&hmac::Key> {
        self.key.as_ref().map(|(_, control)| control)
    }

    pub(super) fn say(&mut self, to: SocketAddr, message: Message) {
        if self.waiting.len() < MOST_WAITING {
            let (bytes, len) = message.encode(self.control_key());
            self.waiting.push_back((to, bytes, len));
        }
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
    pub(super) fn answer(&mut self, to: SocketAddr, message: Message, now: Time) {
        if self.may_answer(now) {
            self.say(to, message);
        }
    }

    /// The next control message to be sent: where to, and its bytes.
    pub(crate) fn pop(&mut self) -> Option<(SocketAddr, [u8; LONGEST], usize)> {
        self.waiting.pop_front()
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

    /// A new host at an address.
    pub(super) fn add(&mut self, address: SocketAddr, now: Time) -> Result<HostId, NoRoom> {
        if self.by_address.len() >= usize::from(self.patience.most) {
            self.evict(now)?;
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
        self.peers[host.index() - 1] = Some(Peer::new(address, now));
        self.by_address.insert(address, host);
        Ok(host)
    }

    /// Forgets the host that was not heard for longest.
    pub(super) fn evict(&mut self, now: Time) -> Result<(), NoRoom> {
        let idle = self.patience.idle;
        let named = (1..=u16::MAX)
            .map(HostId)
            .zip(&self.peers)
            .filter_map(|(host, peer)| Some((host, peer.as_ref()?)));
        let idle = named.filter(|(_, peer)| peer.is_idle(idle, now));
        let (host, _) = idle.min_by_key(|(_, peer)| peer.heard).ok_or(NoRoom)?;
        self.changes.push(Change::Evicted(host));
        self.remove(host);
        Ok(())
    }

    pub(super) fn remove(&mut self, host: HostId) {
        if let Some(peer) = self.peers.get_mut(host.index() - 1).and_then(Option::take) {
            self.by_address.remove(&peer.address);
            self.watched.remove(&host);
            self.left.push(host);
        }
    }

    /// The host that a packet without a seal comes from. One that is not known gets an answer that says so.
    pub(crate) fn from(&mut self, address: SocketAddr, now: Time) -> Option<HostId> {
        let host = self.by_address.get(&address).copied().filter(|&host| self.is_known(host));
        match host {
            Some(host) if self.key.is_none() => {
                if let Some(peer) = self.get_mut(host) {
                    peer.heard = now;
                }
                Some(host)
            }
            _ => {
                self.stranger(address, now);
                None
            }
        }
    }

    /// A packet came from a host that is not known.
    pub(super) fn stranger(&mut self, address: SocketAddr, now: Time) {
        self.answer(address, Message::Unknown, now);
    }

    /// The host that a sealed datagram comes from, and the packet in it.
    pub(crate) fn open<'a>(
        &mut self,
        address: SocketAddr,
        datagram: &[u8],
        scratch: &'a mut Vec<u8>,
        now: Time,
    ) -> Option<(HostId, &'a [u8])> {
        self.key.as_ref()?;
        let Some(&host) = self.by_address.get(&address) else {
            self.stranger(address, now);
            return None;
        };
        let peer = self.peers.get_mut(host.index() - 1)?.as_mut()?;
        let opened = (0..peer.sessions.len()).find_map(|place| {
            scratch.clear();
            scratch.extend_from_slice(datagram);
            peer.sessions[place].open(scratch).map(|len| (place, len))
        });
        let Some((place, len)) = opened else {
            if now.since(peer.heard) >= PING_AFTER {
                self.stranger(address, now);
            }
            return None;
        };
        peer.heard = now;
        self.confirm(host, place);
        Some((host, &scratch[SEAL_HEAD..SEAL_HEAD + len]))
    }

    /// Seals a datagram to a host, if there is a key; whether it may go.
    pub(crate) fn seal(&mut self, host: HostId, datagram: &mut [u8]) -> bool {
        self.get_mut(host)
            .and_then(|peer| peer.sessions.front_mut())
            .is_some_and(|session| session.seal(datagram))
    }

    /// The other host used the nonce that it got in the session at `place`.
    pub(super) fn confirm(&mut self, host: HostId, place: usize) {
        let Some(peer) = self.peers.get_mut(host.index() - 1).and_then(Option::as_mut) else { return };
        if peer.sessions.get(place).is_none_or(|session| session.confirmed) {
            return;
        }
        let before = peer.run();
        if let Some(mut session) = peer.sessions.remove(place) {
            session.confirmed = true;
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
