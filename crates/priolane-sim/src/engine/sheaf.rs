//! The packets of one window: written one after the other, dealt out by node when the window comes.
//!
//! A packet in flight is a *letter*; its *tag* says when in its window it arrives, by which link and where. All letters
//! of a window lie in one sheaf, in order of emission. When nodes are to live through the window
//! the tags are dealt out in two passes, a count and a placing, to one run of keys per node; to sort a node's keys
//! (`order`) is to sort its arrivals, and no packet moves.
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
}

impl<B> Default for Sheaf<B> {
    fn default() -> Self {
        Self { places: Box::default(), len: 0 }
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

    /// The next place, to be written; `None` if there must be more places first.
    // Inlined by measurement: it is the end of every hop, and a call costs as much as what it does.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Option<&mut Letter<B>> {
        let letter = self.places.get_mut(self.len)?;
        self.len += 1;
        Some(letter)
    }

    /// Makes places for so many letters.
    fn reserve(&mut self, letters: usize) {
        if self.places.len() < letters {
            let mut places = std::mem::take(&mut self.places).into_vec();
            places.resize((letters + letters / 4).max(16), Letter::default());
            self.places = places.into_boxed_slice();
        }
    }

    /// Adds a packet.
    pub(super) fn push(&mut self, since_start: u64, to: Ingress, packet: &Packet<B>) {
        self.reserve(self.len + 1);
        if let Some(letter) = self.next() {
            letter.write(since_start, to, packet, |_| {});
        }
    }

    /// Takes all that is in `other`.
    pub(super) fn append(&mut self, other: &mut Self) {
        let end = self.len + other.len;
        self.reserve(end);
        self.places[self.len..end].copy_from_slice(other.letters());
        (self.len, other.len) = (end, 0);
    }

    fn letters(&self) -> &[Letter<B>] {
        &self.places[..self.len]
    }

    pub(super) fn packets(&self) -> impl Iterator<Item = &Packet<B>> {
        self.letters().iter().map(|letter| &letter.packet)
    }

    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    /// Keeps only what arrives at or after `instant`, since the window's start.
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
}

/// The keys of a node, in `Inboxes::keys`.
#[derive(Clone, Copy, Debug, Default)]
struct Inbox {
    count: u32,
    /// One beyond the last key placed.
    end: u32,
}

/// The arrivals of one window, by node.
#[derive(Debug)]
pub(super) struct Inboxes<B> {
    sheaf: Sheaf<B>,
    by_node: Vec<Inbox>,
    keys: Vec<u64>,
    start: Time,
}

impl<B: Body> Inboxes<B> {
    /// For so many nodes.
    pub(super) fn new(nodes: usize) -> Self {
        let by_node = vec![Inbox::default(); nodes];
        Self { sheaf: Sheaf::default(), by_node, keys: Vec::new(), start: Time::ZERO }
    }

    /// Takes `sheaf`, of the window that starts at `start`, and counts; sets the bit of each node with a letter.
    pub(super) fn count(&mut self, sheaf: Sheaf<B>, start: Time, alive: &mut [u64]) {
        assert!(sheaf.len as u64 <= MAX_LETTERS, "more packets in a window than it can hold");
        let by_node = self.by_node.as_mut_slice();
        for node in sheaf.letters().iter().map(|letter| low(letter.tag)) {
            by_node[node].count += 1;
            // Unconditionally: a branch on "the first" is one that processors cannot foresee.
            alive[node / 64] |= 1 << (node % 64);
        }
        (self.sheaf, self.start) = (sheaf, start);
    }

    /// Deals the keys out to `nodes`: all that have a letter, in the order in which they will live.
    pub(super) fn place(&mut self, nodes: &[NodeId]) {
        let by_node = self.by_node.as_mut_slice();
        let mut end = 0;
        for node in nodes {
            let inbox = &mut by_node[node.index()];
            inbox.end = end;
            end += order::room_for(inbox.count);
        }
        self.keys.clear();
        self.keys.resize(end as usize, order::NO_KEY);
        let keys = self.keys.as_mut_slice();
        for (place, letter) in self.sheaf.letters().iter().enumerate() {
            let inbox = &mut by_node[low(letter.tag)];
            keys[inbox.end as usize] = key(letter.tag, place);
            inbox.end += 1;
        }
    }

    /// The arrivals at `node` before `end`, in order; once.
    #[inline]
    pub(super) fn take(&mut self, node: NodeId, end: Time) -> Arrivals<'_, B> {
        let Inbox { count, end: last } = std::mem::take(&mut self.by_node[node.index()]);
        let first = (last - count) as usize;
        order::sort(&mut self.keys[first..first + order::room_for(count) as usize]);
        let keys = &self.keys[first..last as usize];
        let in_time = match keys.last() {
            Some(&key) if self.start.0 + since_start(key) >= end.0 => {
                keys.partition_point(|&key| self.start.0 + since_start(key) < end.0)
            }
            _ => keys.len(),
        };
        Arrivals { keys: &keys[..in_time], letters: self.sheaf.letters(), start: self.start }
    }

    /// Gives the sheaf back.
    pub(super) fn take_sheaf(&mut self) -> Sheaf<B> {
        std::mem::take(&mut self.sheaf)
    }
}

/// A node's arrivals in the part of a window that it lives through, in order of time, then ingress.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrivals<'a, B> {
    keys: &'a [u64],
    letters: &'a [Letter<B>],
    start: Time,
}

impl<'a, B> Arrivals<'a, B> {
    /// The same with the place of the ingress link.
    pub(crate) fn by_ingress(self) -> impl Iterator<Item = Arrival<'a, B>> {
        let Self { keys, letters, start } = self;
        keys.iter().map(move |&key| Arrival {
            at: Time(start.0 + since_start(key)),
            from: rank(key),
            packet: &letters[low(key)].packet,
        })
    }

    /// When, and what.
    #[inline]
    pub(crate) fn iter(self) -> impl ExactSizeIterator<Item = (Time, &'a Packet<B>)> {
        let Self { keys, letters, start } = self;
        keys.iter().map(move |&key| (Time(start.0 + since_start(key)), &letters[low(key)].packet))
    }
}
