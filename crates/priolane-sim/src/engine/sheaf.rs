//! The packets of one window: written one after the other, chained by the node they go to.
//!
//! A packet in flight is a *letter*; its *tag* says when in its window it arrives, by which link and where. All letters
//! of a window lie in one sheaf, in order of emission, and those to one node form a chain, the last written first. When a
//! node lives through the window it walks its chain and sorts what it finds (`order`) by *keys*, which are its arrivals in
//! order; no packet moves between being sent and being handled.
//!
//! ```text
//! tag   since the window's start (24) | ingress (17) | node (23)
//! key   since the window's start (24) | ingress (17) | place of the letter in the sheaf (23)
//! ```

use priolane_core::ids::NodeId;
use priolane_core::packet::{Body, Packet};
use priolane_core::units::Time;

use super::order;
use crate::wire::{Arrival, Ingress};

/// Bits of an instant: a window is at most 2^24 ps (16.8 us) long.
const INSTANT_BITS: u32 = 24;
const INGRESS_BITS: u32 = Ingress::RANK_BITS;
/// Bits of a node, or of a place in a sheaf.
const LOW_BITS: u32 = Ingress::NODE_BITS;
const _: () = assert!(INSTANT_BITS + INGRESS_BITS + LOW_BITS == u64::BITS);
const LOW: u64 = (1 << LOW_BITS) - 1;

/// The longest window, in picoseconds.
pub(super) const MAX_LENGTH: u64 = 1 << INSTANT_BITS;

/// The most letters of a window.
pub(super) const MAX_LETTERS: u64 = LOW;

#[inline]
fn tag(since_start: u64, to: Ingress) -> u64 {
    since_start << Ingress::PLACE_BITS | to.place()
}

#[inline]
fn low(word: u64) -> usize {
    (word & LOW) as usize
}

#[inline]
fn key(tag: u64, place: usize) -> u64 {
    (tag & !LOW) | place as u64
}

#[inline]
fn since_start(word: u64) -> u64 {
    word >> (INGRESS_BITS + LOW_BITS)
}

#[inline]
fn rank(word: u64) -> u32 {
    (word >> LOW_BITS) as u32 & ((1 << INGRESS_BITS) - 1)
}

/// A packet in a sheaf, with its tag: a cache line, if the body has at most 24 bytes.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(super) struct Letter<B> {
    packet: Packet<B>,
    tag: u64,
}

/// The packets that arrive in one window.
#[derive(Debug)]
pub(super) struct Sheaf<B> {
    /// Places for letters, of which the first `len` hold one.
    places: Box<[Letter<B>]>,
    len: usize,
    /// By place: the letter to the same node that was written before, or [`NO_LETTER`]. Once that was read, a note.
    before: Box<[u32]>,
    /// By node: the letter that was written last, or [`NO_LETTER`].
    last: Box<[u32]>,
    /// A bit for each node with a letter.
    alive: Box<[u64]>,
}

/// No place in a sheaf.
const NO_LETTER: u32 = u32::MAX;

impl<B> Default for Sheaf<B> {
    fn default() -> Self {
        let (before, last) = (Box::default(), Box::default());
        Self { places: Box::default(), len: 0, before, last, alive: Box::default() }
    }
}

impl<B: Body> Letter<B> {
    /// Writes a packet here, as `stamp` leaves it.
    #[inline(always)]
    pub(super) fn write(
        &mut self,
        since_start: u64,
        to: Ingress,
        packet: &Packet<B>,
        stamp: impl FnOnce(&mut Packet<B>),
    ) {
        self.tag = tag(since_start, to);
        self.packet = *packet;
        stamp(&mut self.packet);
    }
}

impl<B: Body> Sheaf<B> {
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether it has no place at all.
    pub(super) fn is_bare(&self) -> bool {
        self.places.is_empty()
    }

    /// The next place, to be written with a letter to `node`; `None` if there must be more places first.
    // Inlined by measurement: it is the end of every hop, and a call costs as much as what it does.
    #[inline(always)]
    pub(super) fn next(&mut self, node: NodeId) -> Option<&mut Letter<B>> {
        let letter = self.places.get_mut(self.len)?;
        let before = self.before.get_mut(self.len)?;
        let last = self.last.get_mut(node.index())?;
        // Unconditionally: a branch on "the first" is one that processors cannot foresee.
        *self.alive.get_mut(node.index() / 64)? |= 1 << (node.index() % 64);
        (*before, *last) = (*last, self.len as u32);
        self.len += 1;
        Some(letter)
    }

    /// Makes places for so many letters to any of so many nodes.
    fn reserve(&mut self, letters: usize, nodes: usize) {
        if self.places.len() < letters {
            let room = (letters + letters / 4).max(16);
            let mut places = std::mem::take(&mut self.places).into_vec();
            places.resize(room, Letter::default());
            self.places = places.into_boxed_slice();
            let mut before = std::mem::take(&mut self.before).into_vec();
            before.resize(room, NO_LETTER);
            self.before = before.into_boxed_slice();
        }
        if self.last.len() < nodes {
            self.last = vec![NO_LETTER; nodes].into_boxed_slice();
            self.alive = vec![0; nodes.div_ceil(64)].into_boxed_slice();
        }
    }

    /// Adds a packet that goes to one of `nodes` nodes.
    pub(super) fn push(&mut self, since_start: u64, to: Ingress, packet: &Packet<B>, nodes: usize) {
        self.reserve(self.len + 1, nodes);
        if let Some(letter) = self.next(to.node()) {
            letter.write(since_start, to, packet, |_| {});
        }
    }

    /// Takes all that is in `other`, which goes to some of `nodes` nodes.
    pub(super) fn append(&mut self, other: &mut Self, nodes: usize) {
        self.reserve(self.len + other.len, nodes);
        for letter in other.letters() {
            if let Some(place) = self.next(NodeId(low(letter.tag) as u32)) {
                *place = *letter;
            }
        }
        other.clear();
    }

    fn letters(&self) -> &[Letter<B>] {
        &self.places[..self.len]
    }

    pub(super) fn packets(&self) -> impl Iterator<Item = &Packet<B>> {
        self.letters().iter().map(|letter| &letter.packet)
    }

    /// Takes all letters out.
    fn clear(&mut self) {
        for letter in &self.places[..self.len] {
            let node = low(letter.tag);
            self.last[node] = NO_LETTER;
            self.alive[node / 64] = 0;
        }
        self.len = 0;
    }

    /// The nodes of word `w` with a letter, a bit each; once.
    #[inline]
    pub(super) fn take_alive(&mut self, w: usize) -> u64 {
        self.alive.get_mut(w).map_or(0, std::mem::take)
    }

    /// The run ends at `instant` since the window's start: keeps only what is on links then, for it to be counted.
    pub(super) fn keep_from(&mut self, instant: u64) {
        let mut kept = 0;
        for place in 0..self.len {
            if since_start(self.places[place].tag) >= instant {
                self.places[kept] = self.places[place];
                kept += 1;
            }
        }
        self.len = kept;
    }

    /// Ends the window, which all nodes have lived through.
    pub(super) fn end(&mut self) {
        self.len = 0;
    }
}

/// The arrivals of one window, by node.
#[derive(Debug)]
pub(crate) struct Inboxes<B> {
    sheaf: Sheaf<B>,
    /// Those of the present node.
    keys: Vec<u64>,
    start: Time,
}

impl<B> Default for Inboxes<B> {
    fn default() -> Self {
        Self { sheaf: Sheaf::default(), keys: Vec::new(), start: Time::ZERO }
    }
}

impl<B: Body> Inboxes<B> {
    /// Takes `sheaf`, of the window that starts at `start`.
    pub(super) fn deal(&mut self, sheaf: Sheaf<B>, start: Time) {
        assert!(sheaf.len as u64 <= MAX_LETTERS, "more packets in a window than it can hold");
        (self.sheaf, self.start) = (sheaf, start);
    }

    /// The inbox of `node`; once.
    #[inline]
    pub(crate) fn of(&mut self, node: NodeId) -> Inbox<'_, B> {
        let last = self.sheaf.last.get_mut(node.index());
        let last = last.map_or(NO_LETTER, |last| std::mem::replace(last, NO_LETTER));
        Inbox { inboxes: self, last }
    }

    /// Gives the sheaf back.
    pub(super) fn take_sheaf(&mut self) -> Sheaf<B> {
        std::mem::take(&mut self.sheaf)
    }
}

/// What a window brings to one node.
pub(crate) struct Inbox<'a, B> {
    inboxes: &'a mut Inboxes<B>,
    last: u32,
}

impl<'a, B: Body> Inbox<'a, B> {
    /// The arrivals before `end`.
    #[inline]
    pub(crate) fn open(self, end: Time) -> Arrivals<'a, B> {
        self.open_noting(end, |_| 0)
    }

    /// The same, with a note on each packet, all of them made first and in no order: so that the memory that is looked at
    /// for them is fetched at once and not one line after the other.
    #[inline]
    pub(crate) fn open_noting(self, end: Time, mut note: impl FnMut(&Packet<B>) -> u32) -> Arrivals<'a, B> {
        let Inboxes { sheaf: Sheaf { places, before, .. }, keys, start } = self.inboxes;
        keys.clear();
        let mut place = self.last as usize;
        while let (Some(letter), Some(before)) = (places.get(place), before.get_mut(place)) {
            keys.push(key(letter.tag, place));
            place = std::mem::replace(before, note(&letter.packet)) as usize;
        }
        order::sort(keys);
        let in_time = match keys.last() {
            Some(&key) if start.0 + since_start(key) >= end.0 => {
                keys.partition_point(|&key| start.0 + since_start(key) < end.0)
            }
            _ => keys.len(),
        };
        Arrivals { keys: &keys[..in_time], letters: places, notes: before, start: *start }
    }
}

/// A node's arrivals in the part of a window that it lives through, in order of time, then ingress.
#[derive(Debug)]
pub(crate) struct Arrivals<'a, B> {
    keys: &'a [u64],
    letters: &'a [Letter<B>],
    /// By place of a letter.
    notes: &'a mut [u32],
    start: Time,
}

impl<'a, B> Arrivals<'a, B> {
    /// The arrivals with the place of the ingress link.
    pub(crate) fn by_ingress(self) -> impl Iterator<Item = Arrival<'a, B>> {
        let Self { keys, letters, start, .. } = self;
        keys.iter().map(move |&key| Arrival {
            at: Time(start.0 + since_start(key)),
            from: rank(key),
            packet: &letters[low(key)].packet,
        })
    }

    /// When, and what.
    #[inline]
    pub(crate) fn iter(self) -> impl Iterator<Item = (Time, &'a Packet<B>)> {
        let Self { keys, letters, start, .. } = self;
        keys.iter().map(move |&key| (Time(start.0 + since_start(key)), &letters[low(key)].packet))
    }

    /// Makes a note on each arrival, in order.
    pub(crate) fn note(&mut self, mut note: impl FnMut(Time, &Packet<B>) -> u32) {
        let Self { keys, letters, notes, start } = self;
        for &key in *keys {
            notes[low(key)] = note(Time(start.0 + since_start(key)), &letters[low(key)].packet);
        }
    }

    /// When and what, with the note.
    #[inline]
    pub(crate) fn with_notes(self) -> impl Iterator<Item = (Time, &'a Packet<B>, u32)> {
        let Self { keys, letters, notes, start } = self;
        keys.iter().map(move |&key| {
            let place = low(key);
            (Time(start.0 + since_start(key)), &letters[place].packet, notes[place])
        })
    }
}

#[cfg(test)]
mod tests {
    use priolane_core::packet::Header;
    use priolane_core::rng::{Purpose, Stream};

    use super::*;

    const NODES: usize = 70;
    const START: Time = Time(5_000_000);

    /// Against lists: letters to nodes of which one gets many, a part of them by way of another sheaf; both are used again,
    /// each in the place of the other.
    #[test]
    fn each_node_finds_its_own_once_in_order_and_with_its_note() {
        let mut draw = Stream::new(3, Purpose::Ties, 0);
        let (mut spare, mut abroad) = (Sheaf::<()>::default(), Sheaf::default());
        for _ in 0..300 {
            let mut sheaf = std::mem::replace(&mut abroad, spare);
            let mut model = vec![Vec::new(); NODES];
            for rank in 0..draw.below(120) {
                let node = if draw.chance(0.4) { 66 } else { draw.below(NODES as u64) };
                let (at, to) = (draw.below(50), Ingress::new(NodeId(node as u32), rank as u32, 0));
                let packet = Packet { header: Header { rank, ..Header::default() }, body: () };
                let through = if draw.chance(0.3) { &mut abroad } else { &mut sheaf };
                through.push(at, to, &packet, NODES);
                model[node as usize].push((START.0 + at, rank, rank as u32 + 1));
            }
            sheaf.append(&mut abroad, NODES);
            assert!(abroad.is_empty() && (0..2).all(|w| abroad.take_alive(w) == 0));
            let alive = [sheaf.take_alive(0), sheaf.take_alive(1)];
            let mut inboxes = Inboxes::default();
            inboxes.deal(sheaf, START);
            for (node, expected) in model.iter_mut().enumerate() {
                assert_eq!(alive[node / 64] >> (node % 64) & 1 == 1, !expected.is_empty());
                let inbox = inboxes.of(NodeId(node as u32));
                let found = inbox.open_noting(Time::NEVER, |packet| packet.header.rank as u32 + 1);
                let found = found.with_notes().map(|(at, packet, note)| (at.0, packet.header.rank, note));
                expected.sort_unstable();
                assert_eq!(found.collect::<Vec<_>>(), *expected);
                assert_eq!(inboxes.of(NodeId(node as u32)).open(Time::NEVER).iter().count(), 0);
            }
            spare = inboxes.take_sheaf();
            spare.end();
        }
    }
}
