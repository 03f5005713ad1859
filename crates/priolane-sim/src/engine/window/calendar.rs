//! The calendar queue of the window engine: one bucket of packets per future window (Brown, Calendar queues, CACM
//! 1988).
//!
//! A bucket contains the packets that arrive in its window, in the order in which they were sent. Each entry has a
//! *tag* with the packet's arrival time and ingress link. The entries of one node form two interleaved linked lists,
//! so that two cache misses overlap when the node walks them. The node sorts its arrivals by *key* (`arrival_order`),
//! which also tells whether any two have one instant; these are then put in the order of `device/tie_order.rs`.
//! Packets are not moved between sending and processing.
//!
//! ```text
//! tag   low bits of the arrival time (24)  | ingress (17) | index of the node's last entry but one, later a note (23)
//! key   time since the window began (24)   | ingress (17) | index of the entry itself (23)
//! ```
//!
//! Buckets consist of fixed-size chunks from a pool: memory follows the packets in flight instead of the peak of each
//! window.

mod by_port;
mod walk;

use priolane_core::ids::{Class, NodeId};
use priolane_core::packet::{Body, Packet};
use priolane_core::units::{Span, Time};

use super::arrival_order;
use crate::device::event_sink::{Arrival, Ingress};
use crate::device::path_selector::Visit;
use crate::device::tie_order::TieOrder;
pub(super) use by_port::ArrivalsByPort;
pub(super) use walk::Walk;

/// Bits of the time: a window is at most 2^24 ps (16.8 us) long.
const INSTANT_BITS: u32 = 24;
const INGRESS_BITS: u32 = Ingress::RANK_BITS;
/// Bits of an index in a bucket, or of a note.
const LOW_BITS: u32 = 23;
const _: () = assert!(INSTANT_BITS + INGRESS_BITS + LOW_BITS == u64::BITS);
const LOW: u64 = (1 << LOW_BITS) - 1;
/// Bits of a key below its instant.
const BELOW_INSTANT: u32 = INGRESS_BITS + LOW_BITS;

/// Maximum length of a window, in picoseconds.
pub(super) const MAX_LENGTH: u64 = 1 << INSTANT_BITS;

/// Maximum number of entries per window, so that no entry has the index [`NO_ENTRY`].
pub(super) const MAX_ENTRIES: u64 = LOW - CHUNK as u64;

/// The index that marks the end of a list.
const NO_ENTRY: u32 = LOW as u32;

/// Entries per chunk: 8 kB.
const CHUNK: usize = 128;

/// Returns the instant in the highest bits of a word; differences of such words are differences of time.
#[inline]
fn instant(at: Time) -> u64 {
    at.0 << BELOW_INSTANT
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
    word >> BELOW_INSTANT
}

#[inline]
fn rank(word: u64) -> u32 {
    (word >> LOW_BITS) as u32 & ((1 << INGRESS_BITS) - 1)
}

/// A packet in a bucket, with its tag: one cache line if the body has at most 24 bytes.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(super) struct Entry<B> {
    packet: Packet<B>,
    tag: u64,
}

/// Slots for entries.
type Chunk<B> = Box<[Entry<B>; CHUNK]>;

/// Free lists of chunks and empty buckets of past windows: only windows with packets take memory.
#[derive(Debug)]
pub(super) struct ChunkPool<B> {
    /// Number of nodes of the network.
    nodes: usize,
    chunks: Vec<Chunk<B>>,
    /// Buckets without chunks.
    buckets: Vec<Bucket<B>>,
}

impl<B: Body> ChunkPool<B> {
    /// Creates the pool for a network of `nodes` nodes.
    pub(super) fn new(nodes: usize) -> Self {
        Self { nodes, chunks: Vec::new(), buckets: Vec::new() }
    }

    fn chunk(&mut self) -> Chunk<B> {
        self.chunks.pop().unwrap_or_else(|| Box::new([Entry::default(); CHUNK]))
    }

    fn bucket(&mut self) -> Bucket<B> {
        self.buckets.pop().unwrap_or_else(|| Bucket {
            chunks: Vec::new(),
            len: 0,
            heads: vec![ListHeads::NONE; self.nodes].into_boxed_slice(),
            active_nodes: vec![0; self.nodes.div_ceil(64)].into_boxed_slice(),
        })
    }
}

/// A free slot for an entry.
pub(super) struct FreeSlot<'a, B> {
    entry: &'a mut Entry<B>,
    /// Index of the next entry in the entry's list.
    named: u32,
}

/// The packets that arrive in one window.
#[derive(Debug)]
pub(super) struct Bucket<B> {
    /// Chunks of [`CHUNK`] slots each; the first `len` slots are in use.
    chunks: Vec<Chunk<B>>,
    len: usize,
    /// List heads by node.
    heads: Box<[ListHeads]>,
    /// Bit mask of nodes with entries.
    active_nodes: Box<[u64]>,
}

/// Heads of the two lists of a node: the indices of the last and the previous entry, or [`NO_ENTRY`].
#[derive(Clone, Copy, Debug)]
struct ListHeads {
    last: u32,
    before: u32,
}

impl ListHeads {
    const NONE: Self = Self { last: NO_ENTRY, before: NO_ENTRY };

    /// Pushes the entry at index `place` and returns the index of its successor in the list.
    #[inline]
    fn push(&mut self, place: usize) -> u32 {
        let named = self.before;
        *self = Self { last: place as u32, before: self.last };
        named
    }

    /// Returns the index of the current entry; out of range at the end.
    #[inline]
    fn place(self) -> usize {
        self.last as usize
    }

    /// Advances after the current entry, which has this tag.
    #[inline]
    fn turn(&mut self, tag: u64) {
        *self = Self { last: self.before, before: low(tag) as u32 };
    }
}

/// Iterates over the nodes of the bits of word `w`, in order.
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

impl<B> Default for Bucket<B> {
    fn default() -> Self {
        Self { chunks: Vec::new(), len: 0, heads: Box::default(), active_nodes: Box::default() }
    }
}

impl<B: Body> FreeSlot<'_, B> {
    /// Writes a packet to this slot, modified by `stamp`.
    #[inline(always)]
    pub(super) fn write(self, at: Time, to: Ingress, packet: &Packet<B>, stamp: impl FnOnce(&mut Packet<B>)) {
        let Self { entry, named } = self;
        entry.tag = tag(at, to, named);
        entry.packet = *packet;
        stamp(&mut entry.packet);
    }
}

impl<B: Body> Bucket<B> {
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the next free slot, linked into the lists of `node`; `None` if there are no free slots.
    // Inlined as measured: it ends every hop, and a call costs as much as its body. In this order of steps a hop saves
    // one register instead of three.
    #[inline(always)]
    pub(super) fn next(&mut self, node: NodeId) -> Option<FreeSlot<'_, B>> {
        let heads = self.heads.get_mut(node.index())?;
        let entry = &mut self.chunks.get_mut(self.len / CHUNK)?[self.len % CHUNK];
        let named = heads.push(self.len);
        self.len += 1;
        // Whether or not it is the node's first entry: processors cannot predict a branch on that.
        if let Some(word) = self.active_nodes.get_mut(node.index() / 64) {
            *word |= 1 << (node.index() % 64);
        }
        Some(FreeSlot { entry, named })
    }

    /// Removes the lists of `node`.
    #[inline]
    fn take(&mut self, node: NodeId) -> ListHeads {
        let heads = self.heads.get_mut(node.index());
        heads.map_or(ListHeads::NONE, |heads| std::mem::replace(heads, ListHeads::NONE))
    }

    /// As `next`, but allocates slots from the `pool` if necessary.
    fn make(&mut self, node: NodeId, pool: &mut ChunkPool<B>) -> FreeSlot<'_, B> {
        if self.heads.is_empty() {
            *self = pool.bucket();
        }
        if self.len == self.chunks.len() * CHUNK {
            self.chunks.push(pool.chunk());
        }
        self.next(node).expect("invariant: there is a place, and a list for each node")
    }

    /// Adds a packet.
    pub(super) fn push(&mut self, at: Time, to: Ingress, packet: &Packet<B>, pool: &mut ChunkPool<B>) {
        self.make(to.node(), pool).write(at, to, packet, |_| {});
    }

    /// Moves all packets of `other` here; `other` keeps its slots.
    pub(super) fn append(&mut self, other: &mut Self, pool: &mut ChunkPool<B>) {
        for w in 0..other.active_nodes.len() {
            for node in nodes_of(w, other.take_active(w)) {
                let mut heads = other.take(node);
                while let Some(chunk) = other.chunks.get(heads.place() / CHUNK) {
                    let sent = chunk[heads.place() % CHUNK];
                    heads.turn(sent.tag);
                    let FreeSlot { entry, named } = self.make(node, pool);
                    *entry = Entry { tag: key(sent.tag, named as usize), ..sent };
                }
            }
        }
        other.len = 0;
    }

    pub(super) fn packets(&self) -> impl Iterator<Item = &Packet<B>> {
        self.chunks.iter().flat_map(|chunk| &**chunk).take(self.len).map(|entry| &entry.packet)
    }

    /// Returns and clears the bit mask of the nodes of word `w` with entries.
    #[inline]
    pub(super) fn take_active(&mut self, w: usize) -> u64 {
        self.active_nodes.get_mut(w).map_or(0, std::mem::take)
    }

    /// Ends the run at `end` in the window that began at `start`: keeps only packets that are then in flight, to count
    /// them.
    pub(super) fn keep_from(&mut self, end: Time, start: Time) {
        let mut kept = 0;
        for place in 0..self.len {
            let entry = self.chunks[place / CHUNK][place % CHUNK];
            if since_start(entry.tag.wrapping_sub(instant(start))) >= end.since(start).0 {
                self.chunks[kept / CHUNK][kept % CHUNK] = entry;
                kept += 1;
            }
        }
        self.len = kept;
    }

    /// Ends the window after all nodes have run: returns its chunks to the `pool`.
    pub(super) fn end(mut self, pool: &mut ChunkPool<B>) {
        // An unused bucket has no chunks.
        if !self.heads.is_empty() {
            self.len = 0;
            pool.chunks.append(&mut self.chunks);
            pool.buckets.push(self);
        }
    }
}

/// The arrivals of one window, by node.
#[derive(Debug)]
pub(crate) struct ArrivalBatches<B> {
    bucket: Bucket<B>,
    /// Space for the keys of one node, at least as many as the bucket has entries.
    keys: Vec<u64>,
    start: Time,
    ties: TieOrder,
    /// Whether nodes prefetch what they and those after them need.
    pub(crate) looks_ahead: bool,
}

impl<B: Body> ArrivalBatches<B> {
    /// Creates batches without arrivals.
    pub(super) fn new(ties: TieOrder) -> Self {
        Self { bucket: Bucket::default(), keys: Vec::new(), start: Time::ZERO, ties, looks_ahead: false }
    }

    /// Sets `bucket` as that of the window that starts at `start`.
    pub(super) fn distribute(&mut self, bucket: Bucket<B>, start: Time) {
        assert!(bucket.len as u64 <= MAX_ENTRIES, "more packets in a window than it can hold");
        if self.keys.len() < bucket.len {
            self.keys.resize(bucket.len, 0);
        }
        (self.bucket, self.start) = (bucket, start);
    }

    /// Removes and returns the batch of `node`.
    #[inline]
    pub(crate) fn of(&mut self, node: NodeId) -> ArrivalBatch<'_, B> {
        let heads = self.bucket.take(node);
        ArrivalBatch { batches: self, heads, node }
    }

    /// Removes the only arrival of `node` and returns it with its time, if there is only one and it is before `end`.
    #[inline(always)]
    pub(crate) fn take_lone(&mut self, node: NodeId, end: Time) -> Option<(Time, &Packet<B>)> {
        let Self { bucket: Bucket { heads, chunks, .. }, start, .. } = self;
        let heads = heads.get_mut(node.index()).filter(|heads| heads.before == NO_ENTRY)?;
        let entry = &chunks.get(heads.place() / CHUNK)?[heads.place() % CHUNK];
        let at = *start + Span(since_start(entry.tag.wrapping_sub(instant(*start))));
        if at >= end {
            return None;
        }
        *heads = ListHeads::NONE;
        Some((at, &entry.packet))
    }

    /// Removes and returns the bucket.
    pub(super) fn take_bucket(&mut self) -> Bucket<B> {
        std::mem::take(&mut self.bucket)
    }
}

/// The unsorted arrivals of one node in a window.
pub(crate) struct ArrivalBatch<'a, B> {
    batches: &'a mut ArrivalBatches<B>,
    heads: ListHeads,
    node: NodeId,
}

impl<'a, B: Body> ArrivalBatch<'a, B> {
    /// Returns the sorted arrivals before `end`.
    #[inline]
    pub(crate) fn open(self, end: Time) -> Arrivals<'a, B> {
        self.open_each(end, Links::Several, |_, _| {})
    }

    /// As `open`, at a node that one link leads to: no two packets arrive at one instant.
    #[inline]
    pub(crate) fn open_of_one_link(self, end: Time) -> Arrivals<'a, B> {
        self.open_each(end, Links::One, |_, _| {})
    }

    /// As `open`, with a note for each packet. All notes are computed first, in no order, so that their cache misses
    /// overlap.
    #[inline]
    pub(crate) fn open_noting(
        self,
        end: Time,
        mut note: impl FnMut(&Packet<B>, Visit) -> u32,
    ) -> Arrivals<'a, B> {
        let start = self.batches.start;
        self.open_each(end, Links::Several, |entry, word| {
            let visit = Visit { at: Time(start.0 + since_start(word)), from: rank(word) };
            entry.tag = key(entry.tag, note(&entry.packet, visit) as usize & LOW as usize);
        })
    }

    /// As `open`; `visit` sees each entry and its key once its tag is read.
    #[inline]
    fn open_each(
        self,
        end: Time,
        links: Links,
        mut visit: impl FnMut(&mut Entry<B>, u64),
    ) -> Arrivals<'a, B> {
        let ArrivalBatches { bucket: Bucket { chunks, .. }, keys, start, ties, .. } = self.batches;
        // Slices, so that lengths and the start stay in registers.
        let (chunks, keys, start) = (&mut chunks[..], &mut keys[..], *start);
        let (mut heads, mut count) = (self.heads, 0);
        while let Some(chunk) = chunks.get_mut(heads.place() / CHUNK) {
            let place = heads.place();
            let entry = &mut chunk[place % CHUNK];
            let tag = entry.tag;
            heads.turn(tag);
            let word = key(tag.wrapping_sub(instant(start)), place);
            keys[count] = word;
            count += 1;
            visit(entry, word);
        }
        let keys = &mut keys[..count];
        let has_ties = arrival_order::sort::<BELOW_INSTANT>(keys);
        if links == Links::Several && has_ties {
            let (node, ties) = (self.node, *ties);
            order_ties(keys, chunks, start, move |at, from, class| ties.place((at, node), from, class));
        }
        let in_time = match keys.last() {
            Some(&key) if start.0 + since_start(key) >= end.0 => {
                keys.partition_point(|&key| start.0 + since_start(key) < end.0)
            }
            _ => keys.len(),
        };
        Arrivals { keys: &keys[..in_time], chunks, start }
    }
}

/// The number of links that lead to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Links {
    One,
    Several,
}

/// Orders the arrivals of each instant by `place`, of instant, rank and class.
#[cold]
#[inline(never)]
fn order_ties<B: Body>(
    keys: &mut [u64],
    chunks: &[Chunk<B>],
    start: Time,
    place: impl Fn(Time, u32, Class) -> u64,
) {
    for same in keys.chunk_by_mut(|&a, &b| since_start(a) == since_start(b)).filter(|same| same.len() > 1) {
        same.sort_unstable_by_key(|&key| {
            let class = chunks[low(key) / CHUNK][low(key) % CHUNK].packet.header.class;
            (place(Time(start.0 + since_start(key)), rank(key), class), rank(key))
        });
    }
}

/// A node's arrivals in a window, in order of time; those of one instant are in the order of [`TieOrder`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrivals<'a, B> {
    keys: &'a [u64],
    chunks: &'a [Chunk<B>],
    start: Time,
}

impl<'a, B> Arrivals<'a, B> {
    /// Iterates over the arrivals with the ranks of their ingress links.
    pub(crate) fn by_ingress(self) -> impl Iterator<Item = Arrival<'a, B>> {
        self.entries().map(|(at, key, entry)| Arrival { at, from: rank(key), packet: &entry.packet })
    }

    /// Iterates over times and packets.
    #[inline]
    pub(crate) fn iter(self) -> impl Iterator<Item = (Time, &'a Packet<B>)> {
        self.entries().map(|(at, _, entry)| (at, &entry.packet))
    }

    /// Iterates over times and packets with their notes.
    #[inline]
    pub(crate) fn with_notes(self) -> impl Iterator<Item = (Time, &'a Packet<B>, usize)> {
        self.entries().map(|(at, _, entry)| (at, &entry.packet, low(entry.tag)))
    }

    /// Iterates over times, keys and entries.
    #[inline]
    fn entries(self) -> impl Iterator<Item = (Time, u64, &'a Entry<B>)> {
        let Self { keys, chunks, start } = self;
        keys.iter().map(move |&key| {
            let place = low(key);
            (Time(start.0 + since_start(key)), key, &chunks[place / CHUNK][place % CHUNK])
        })
    }
}

#[cfg(test)]
mod tests {
    use priolane_core::packet::Header;
    use priolane_core::rng::{Purpose, Stream};

    use super::*;

    const NODES: usize = 70;
    /// A window in which the lowest bits of the time wrap around.
    const START: Time = Time(5 * MAX_LENGTH - 20);

    /// Compared with lists: entries to nodes, one of which gets many, and a part of them by way of another bucket;
    /// both buckets are reused, each in place of the other.
    #[test]
    fn each_node_finds_its_own_once_in_order_and_with_its_note() {
        let mut draw = Stream::new(3, Purpose::Ties, 0);
        let (mut remote, mut pool) = (Bucket::<()>::default(), ChunkPool::new(NODES));
        let ties = TieOrder::new(7);
        let mut lone = 0;
        for _ in 0..300 {
            let mut bucket = std::mem::take(&mut remote);
            let mut model = vec![Vec::new(); NODES];
            for rank in 0..draw.below(4 * CHUNK as u64) {
                let node = if draw.chance(0.4) { 66 } else { draw.below(NODES as u64) };
                let (at, to) =
                    (START + Span(draw.below(50)), Ingress::new(NodeId(node as u32), rank as u32, 0));
                let class = draw.below(2) as Class;
                let packet = Packet { header: Header { rank, class, ..Header::default() }, body: () };
                let through = if draw.chance(0.3) { &mut remote } else { &mut bucket };
                through.push(at, to, &packet, &mut pool);
                let place = ties.place((at, to.node()), to.rank(), class);
                model[node as usize].push((at.0, place, rank, rank as u32 + 1));
            }
            bucket.append(&mut remote, &mut pool);
            assert!(remote.is_empty() && (0..2).all(|w| remote.take_active(w) == 0));
            let active_nodes = [bucket.take_active(0), bucket.take_active(1)];
            let mut batches = ArrivalBatches::new(ties);
            batches.distribute(bucket, START);
            for (node, expected) in model.iter_mut().enumerate() {
                assert_eq!(active_nodes[node / 64] >> (node % 64) & 1 == 1, !expected.is_empty());
                expected.sort_unstable();
                let node = NodeId(node as u32);
                let (mut walk, mut ranks) = (batches.walk_of(node), Vec::new());
                for (steps, visited) in [(2, 2), (3, 5), (usize::MAX, usize::MAX)] {
                    batches.walk(&mut walk, steps, |packet| ranks.push(packet.header.rank));
                    assert_eq!(ranks.len(), expected.len().min(visited));
                }
                ranks.sort_unstable();
                let mut own: Vec<_> = expected.iter().map(|&(_, _, rank, _)| rank).collect();
                own.sort_unstable();
                assert_eq!(ranks, own, "a walk sees the packets of its node");
                let first = expected.first().map_or(Time::NEVER, |first| Time(first.0));
                assert!(batches.take_lone(node, first).is_none(), "an arrival that is not before the end");
                if let Some((at, packet)) = batches.take_lone(node, Time::NEVER) {
                    lone += 1;
                    let [only] = expected[..] else { panic!("one of {}", expected.len()) };
                    assert_eq!((at.0, packet.header.rank), (only.0, only.2));
                    assert!(batches.take_lone(node, Time::NEVER).is_none());
                    continue;
                }
                assert_ne!(expected.len(), 1);
                let found = batches.of(node).open_noting(Time::NEVER, |packet, visit| {
                    assert_eq!(u64::from(visit.from), packet.header.rank);
                    packet.header.rank as u32 + 1
                });
                let found = found.with_notes().map(|(at, packet, note)| (at.0, packet.header.rank, note));
                let expected = expected.iter().map(|&(at, _, rank, note)| (at, rank, note as usize));
                assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
                assert_eq!(batches.of(node).open(Time::NEVER).iter().count(), 0);
            }
            batches.take_bucket().end(&mut pool);
        }
        assert!(lone > 1_000, "{lone}");
    }
}
