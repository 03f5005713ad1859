//! The packets of one window: written one after the other, chained by the node they go to.
//!
//! A packet in flight is a *letter*; its *tag* says when it arrives and by which link. All letters of a
//! window lie in one sheaf, in order of emission, and those to one node form two chains, the last written first, which take
//! turns: a letter names the last but one before it. When a node lives through the window it walks its chains, so that two
//! letters come from memory at a time, and sorts what it finds (`order`) by *keys*, which are its arrivals in order; no packet
//! moves between being sent and being handled.
//!
//! ```text
//! tag   lowest bits of the instant (24)  | ingress (17) | place of the last letter to that node but one, later a note (23)
//! key   time since the window began (24) | ingress (17) | place of the letter itself (23)
//! ```
//!
//! Sheaves are made of pieces of one size, which go back to a pile when their window is over: memory is that of the
//! packets in flight, and not of the most that each window ever had.

use priolane_core::ids::NodeId;
use priolane_core::packet::{Body, Packet};
use priolane_core::units::Time;

use super::order;
use crate::wire::{Arrival, Ingress};

/// Bits of an instant: a window is at most 2^24 ps (16.8 us) long.
const INSTANT_BITS: u32 = 24;
const INGRESS_BITS: u32 = Ingress::RANK_BITS;
/// Bits of a place in a sheaf, or of a note.
const LOW_BITS: u32 = 23;
const _: () = assert!(INSTANT_BITS + INGRESS_BITS + LOW_BITS == u64::BITS);
const LOW: u64 = (1 << LOW_BITS) - 1;

/// The longest window, in picoseconds.
pub(super) const MAX_LENGTH: u64 = 1 << INSTANT_BITS;

/// The most letters of a window: no piece has the place that is none.
pub(super) const MAX_LETTERS: u64 = LOW - PIECE as u64;

/// No place in a sheaf.
const NO_LETTER: u32 = LOW as u32;

/// Letters of a piece: 8 kB of them.
const PIECE: usize = 128;

/// An instant in the highest bits of a word; two of them differ there by the time between them.
#[inline]
fn instant(at: Time) -> u64 {
    at.0 << (INGRESS_BITS + LOW_BITS)
}

#[inline]
fn tag(at: Time, to: Ingress, named: u32) -> u64 {
    instant(at) | u64::from(to.rank()) << LOW_BITS | u64::from(named)
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

/// Places for letters.
type Piece<B> = Box<[Letter<B>; PIECE]>;

/// What sheaves of windows that are over were made of, for those of windows to come: only windows that have packets take
/// memory.
#[derive(Debug)]
pub(super) struct Stock<B> {
    /// Words of nodes of the network.
    words: usize,
    pieces: Vec<Piece<B>>,
    /// Without pieces.
    sheaves: Vec<Sheaf<B>>,
}

impl<B: Body> Stock<B> {
    /// For sheaves of a network of so many nodes.
    pub(super) fn new(nodes: usize) -> Self {
        Self { words: nodes.div_ceil(64), pieces: Vec::new(), sheaves: Vec::new() }
    }

    fn piece(&mut self) -> Piece<B> {
        self.pieces.pop().unwrap_or_else(|| Box::new([Letter::default(); PIECE]))
    }

    fn sheaf(&mut self) -> Sheaf<B> {
        self.sheaves.pop().unwrap_or_else(|| Sheaf {
            pieces: Vec::new(),
            len: 0,
            chains: vec![Chains::EMPTY; self.words].into_boxed_slice(),
        })
    }
}

/// A place that is to be written with a letter.
pub(super) struct Free<'a, B> {
    letter: &'a mut Letter<B>,
    /// The letter that it names.
    named: u32,
}

/// The packets that arrive in one window.
#[derive(Debug)]
pub(super) struct Sheaf<B> {
    /// Places for letters, [`PIECE`] each, of which the first `len` hold one.
    pieces: Vec<Piece<B>>,
    len: usize,
    /// By word of nodes.
    chains: Box<[Chains]>,
}

/// The two chains of a node: the places of the letters written last and before that, or [`NO_LETTER`].
#[derive(Clone, Copy, Debug)]
struct Heads {
    last: u32,
    before: u32,
}

impl Heads {
    const NONE: Self = Self { last: NO_LETTER, before: NO_LETTER };

    /// A letter is written at `place`; which one it names.
    #[inline]
    fn push(&mut self, place: usize) -> u32 {
        let named = self.before;
        *self = Self { last: place as u32, before: self.last };
        named
    }

    /// The place of the letter to be read now, if it is one.
    #[inline]
    fn place(self) -> usize {
        self.last as usize
    }

    /// That letter, with this tag, is read.
    #[inline]
    fn turn(&mut self, tag: u64) {
        *self = Self { last: self.before, before: low(tag) as u32 };
    }
}

/// The chains of 64 nodes, as many as a word has bits.
#[derive(Clone, Copy, Debug)]
struct Chains {
    /// A bit for each node with a letter.
    alive: u64,
    /// By node.
    heads: [Heads; 64],
}

impl Chains {
    const EMPTY: Self = Self { alive: 0, heads: [Heads::NONE; 64] };

    /// Takes the chains of `node`.
    #[inline]
    fn take(&mut self, node: NodeId) -> Heads {
        std::mem::replace(&mut self.heads[node.index() % 64], Heads::NONE)
    }
}

/// The nodes of the bits of word `w`, in order.
#[inline]
pub(super) fn nodes_of(w: usize, mut bits: u64) -> impl Iterator<Item = NodeId> {
    std::iter::from_fn(move || {
        (bits != 0).then(|| {
            let node = NodeId((w * 64) as u32 + bits.trailing_zeros());
            bits &= bits - 1;
            node
        })
    })
}

impl<B> Default for Sheaf<B> {
    fn default() -> Self {
        Self { pieces: Vec::new(), len: 0, chains: Box::default() }
    }
}

impl<B: Body> Free<'_, B> {
    /// Writes a packet here, as `stamp` leaves it.
    #[inline(always)]
    pub(super) fn write(self, at: Time, to: Ingress, packet: &Packet<B>, stamp: impl FnOnce(&mut Packet<B>)) {
        let Self { letter, named } = self;
        letter.tag = tag(at, to, named);
        letter.packet = *packet;
        stamp(&mut letter.packet);
    }
}

impl<B: Body> Sheaf<B> {
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The next place, to be written with a letter to `node`; `None` if there must be more places first.
    // Inlined by measurement: it is the end of every hop, and a call costs as much as what it does.
    #[inline(always)]
    pub(super) fn next(&mut self, node: NodeId) -> Option<Free<'_, B>> {
        let letter = &mut self.pieces.get_mut(self.len / PIECE)?[self.len % PIECE];
        let Chains { alive, heads } = self.chains.get_mut(node.index() / 64)?;
        // Unconditionally: a branch on "the first" is one that processors cannot foresee.
        *alive |= 1 << (node.index() % 64);
        let named = heads[node.index() % 64].push(self.len);
        self.len += 1;
        Some(Free { letter, named })
    }

    /// As `next`, with more places of the `stock` if there must be.
    fn make(&mut self, node: NodeId, stock: &mut Stock<B>) -> Free<'_, B> {
        if self.chains.is_empty() {
            *self = stock.sheaf();
        }
        if self.len == self.pieces.len() * PIECE {
            self.pieces.push(stock.piece());
        }
        self.next(node).expect("invariant: there is a place, and a chain for each node")
    }

    /// Adds a packet.
    pub(super) fn push(&mut self, at: Time, to: Ingress, packet: &Packet<B>, stock: &mut Stock<B>) {
        self.make(to.node(), stock).write(at, to, packet, |_| {});
    }

    /// Takes all that is in `other`; its places remain its own.
    pub(super) fn append(&mut self, other: &mut Self, stock: &mut Stock<B>) {
        for (w, chains) in other.chains.iter_mut().enumerate() {
            for node in nodes_of(w, std::mem::take(&mut chains.alive)) {
                let mut heads = chains.take(node);
                while let Some(piece) = other.pieces.get(heads.place() / PIECE) {
                    let sent = piece[heads.place() % PIECE];
                    heads.turn(sent.tag);
                    let Free { letter, named } = self.make(node, stock);
                    *letter = Letter { tag: key(sent.tag, named as usize), ..sent };
                }
            }
        }
        other.len = 0;
    }

    pub(super) fn packets(&self) -> impl Iterator<Item = &Packet<B>> {
        self.pieces.iter().flat_map(|piece| &**piece).take(self.len).map(|letter| &letter.packet)
    }

    /// The nodes of word `w` with a letter, a bit each; once.
    #[inline]
    pub(super) fn take_alive(&mut self, w: usize) -> u64 {
        self.chains.get_mut(w).map_or(0, |chains| std::mem::take(&mut chains.alive))
    }

    /// The run ends at `end` in the window that began at `start`: keeps only what is on links then, for it to be counted.
    pub(super) fn keep_from(&mut self, end: Time, start: Time) {
        let mut kept = 0;
        for place in 0..self.len {
            let letter = self.pieces[place / PIECE][place % PIECE];
            if since_start(letter.tag.wrapping_sub(instant(start))) >= end.since(start).0 {
                self.pieces[kept / PIECE][kept % PIECE] = letter;
                kept += 1;
            }
        }
        self.len = kept;
    }

    /// Ends the window, which all nodes have lived through: what it was made of goes to the `stock`.
    pub(super) fn end(mut self, stock: &mut Stock<B>) {
        // One that nothing was ever written to has nothing to give.
        if !self.chains.is_empty() {
            self.len = 0;
            stock.pieces.append(&mut self.pieces);
            stock.sheaves.push(self);
        }
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
        let chains = self.sheaf.chains.get_mut(node.index() / 64);
        let heads = chains.map_or(Heads::NONE, |chains| chains.take(node));
        Inbox { inboxes: self, heads }
    }

    /// Gives the sheaf back.
    pub(super) fn take_sheaf(&mut self) -> Sheaf<B> {
        std::mem::take(&mut self.sheaf)
    }
}

/// What a window brings to one node.
pub(crate) struct Inbox<'a, B> {
    inboxes: &'a mut Inboxes<B>,
    heads: Heads,
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
        let Inboxes { sheaf: Sheaf { pieces, .. }, keys, start } = self.inboxes;
        keys.clear();
        let mut heads = self.heads;
        while let Some(piece) = pieces.get_mut(heads.place() / PIECE) {
            let place = heads.place();
            let letter = &mut piece[place % PIECE];
            let tag = letter.tag;
            heads.turn(tag);
            keys.push(key(tag.wrapping_sub(instant(*start)), place));
            letter.tag = key(tag, note(&letter.packet) as usize & LOW as usize);
        }
        order::sort(keys);
        let in_time = match keys.last() {
            Some(&key) if start.0 + since_start(key) >= end.0 => {
                keys.partition_point(|&key| start.0 + since_start(key) < end.0)
            }
            _ => keys.len(),
        };
        Arrivals { keys: &keys[..in_time], pieces, start: *start }
    }
}

/// A node's arrivals in the part of a window that it lives through, in order of time, then ingress.
#[derive(Debug)]
pub(crate) struct Arrivals<'a, B> {
    keys: &'a [u64],
    pieces: &'a mut [Piece<B>],
    start: Time,
}

impl<'a, B> Arrivals<'a, B> {
    /// The arrivals with the place of the ingress link.
    pub(crate) fn by_ingress(self) -> impl Iterator<Item = Arrival<'a, B>> {
        self.letters().map(|(at, key, letter)| Arrival { at, from: rank(key), packet: &letter.packet })
    }

    /// When, and what.
    #[inline]
    pub(crate) fn iter(self) -> impl Iterator<Item = (Time, &'a Packet<B>)> {
        self.letters().map(|(at, _, letter)| (at, &letter.packet))
    }

    /// When and what, with the note.
    #[inline]
    pub(crate) fn with_notes(self) -> impl Iterator<Item = (Time, &'a Packet<B>, u32)> {
        self.letters().map(|(at, _, letter)| (at, &letter.packet, low(letter.tag) as u32))
    }

    /// When, by which key, and what.
    #[inline]
    fn letters(self) -> impl Iterator<Item = (Time, u64, &'a Letter<B>)> {
        let Self { keys, pieces, start } = self;
        let pieces: &[Piece<B>] = pieces;
        keys.iter().map(move |&key| {
            let place = low(key);
            (Time(start.0 + since_start(key)), key, &pieces[place / PIECE][place % PIECE])
        })
    }

    /// Makes a note on each arrival, in order.
    pub(crate) fn note(&mut self, mut note: impl FnMut(Time, &Packet<B>) -> u32) {
        let Self { keys, pieces, start } = self;
        for &of in *keys {
            let letter = &mut pieces[low(of) / PIECE][low(of) % PIECE];
            let note = note(Time(start.0 + since_start(of)), &letter.packet);
            letter.tag = key(letter.tag, note as usize & LOW as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use priolane_core::packet::Header;
    use priolane_core::rng::{Purpose, Stream};
    use priolane_core::units::Span;

    use super::*;

    const NODES: usize = 70;
    /// Of a window in which the lowest bits of the time begin anew.
    const START: Time = Time(5 * MAX_LENGTH - 20);

    /// Against lists: letters to nodes of which one gets many, a part of them by way of another sheaf; both are used again,
    /// each in the place of the other.
    #[test]
    fn each_node_finds_its_own_once_in_order_and_with_its_note() {
        let mut draw = Stream::new(3, Purpose::Ties, 0);
        let (mut abroad, mut stock) = (Sheaf::<()>::default(), Stock::new(NODES));
        for _ in 0..300 {
            let mut sheaf = std::mem::take(&mut abroad);
            let mut model = vec![Vec::new(); NODES];
            for rank in 0..draw.below(4 * PIECE as u64) {
                let node = if draw.chance(0.4) { 66 } else { draw.below(NODES as u64) };
                let (at, to) =
                    (START + Span(draw.below(50)), Ingress::new(NodeId(node as u32), rank as u32, 0));
                let packet = Packet { header: Header { rank, ..Header::default() }, body: () };
                let through = if draw.chance(0.3) { &mut abroad } else { &mut sheaf };
                through.push(at, to, &packet, &mut stock);
                model[node as usize].push((at.0, rank, rank as u32 + 1));
            }
            sheaf.append(&mut abroad, &mut stock);
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
            inboxes.take_sheaf().end(&mut stock);
        }
    }
}
