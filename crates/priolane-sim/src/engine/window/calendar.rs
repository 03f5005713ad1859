//! The calendar of the window engine: one bucket of packets for each window ahead (Brown, Calendar queues, CACM 1988).
//!
//! A bucket holds the packets that arrive in its window, in the order in which they were sent. Each entry has a *tag*, which
//! says when the packet arrives and by which link. The entries to one node form two interleaved linked lists, so that two
//! cache misses overlap when the node walks them. It sorts its arrivals by *key* (`arrival_order`). No packet moves between
//! being sent and being handled.
//!
//! ```text
//! tag   lowest bits of the instant (24)  | ingress (17) | index of the last entry to that node but one, later a note (23)
//! key   time since the window began (24) | ingress (17) | index of the entry itself (23)
//! ```
//!
//! Buckets consist of chunks of one size from a pool: memory follows the packets in flight, not the peak of each window.

use priolane_core::ids::NodeId;
use priolane_core::packet::{Body, Packet};
use priolane_core::units::Time;

use super::arrival_order;
use crate::device::event_sink::{Arrival, Ingress};

/// Bits of an instant: a window is at most 2^24 ps (16.8 us) long.
const INSTANT_BITS: u32 = 24;
const INGRESS_BITS: u32 = Ingress::RANK_BITS;
/// Bits of a place in a bucket, or of a note.
const LOW_BITS: u32 = 23;
const _: () = assert!(INSTANT_BITS + INGRESS_BITS + LOW_BITS == u64::BITS);
const LOW: u64 = (1 << LOW_BITS) - 1;

/// The longest window, in picoseconds.
pub(super) const MAX_LENGTH: u64 = 1 << INSTANT_BITS;

/// The most entries of a window, so that no entry has the index [`NO_ENTRY`].
pub(super) const MAX_ENTRIES: u64 = LOW - CHUNK as u64;

/// No place in a bucket.
const NO_ENTRY: u32 = LOW as u32;

/// Entries of a chunk: 8 kB.
const CHUNK: usize = 128;

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

/// A packet in a bucket, with its tag: a cache line, if the body has at most 24 bytes.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(super) struct Entry<B> {
    packet: Packet<B>,
    tag: u64,
}

/// Places for entries.
type Chunk<B> = Box<[Entry<B>; CHUNK]>;

/// Chunks and empty buckets of past windows, to be used again: only windows with packets take memory.
#[derive(Debug)]
pub(super) struct ChunkPool<B> {
    /// Words of nodes of the network.
    words: usize,
    chunks: Vec<Chunk<B>>,
    /// Without chunks.
    buckets: Vec<Bucket<B>>,
}

impl<B: Body> ChunkPool<B> {
    /// For buckets of a network of so many nodes.
    pub(super) fn new(nodes: usize) -> Self {
        Self { words: nodes.div_ceil(64), chunks: Vec::new(), buckets: Vec::new() }
    }

    fn chunk(&mut self) -> Chunk<B> {
        self.chunks.pop().unwrap_or_else(|| Box::new([Entry::default(); CHUNK]))
    }

    fn bucket(&mut self) -> Bucket<B> {
        self.buckets.pop().unwrap_or_else(|| Bucket {
            chunks: Vec::new(),
            len: 0,
            lists: vec![NodeLists::EMPTY; self.words].into_boxed_slice(),
        })
    }
}

/// A place that is to be written with an entry.
pub(super) struct FreeSlot<'a, B> {
    entry: &'a mut Entry<B>,
    /// The entry that it names.
    named: u32,
}

/// The packets that arrive in one window.
#[derive(Debug)]
pub(super) struct Bucket<B> {
    /// Places for entries, [`CHUNK`] each, of which the first `len` hold one.
    chunks: Vec<Chunk<B>>,
    len: usize,
    /// By word of nodes.
    lists: Box<[NodeLists]>,
}

/// The two lists of a node: the places of the entries written last and before that, or [`NO_ENTRY`].
#[derive(Clone, Copy, Debug)]
struct ListHeads {
    last: u32,
    before: u32,
}

impl ListHeads {
    const NONE: Self = Self { last: NO_ENTRY, before: NO_ENTRY };

    /// An entry is written at `place`; which one it names.
    #[inline]
    fn push(&mut self, place: usize) -> u32 {
        let named = self.before;
        *self = Self { last: place as u32, before: self.last };
        named
    }

    /// The place of the entry to be read now, if it is one.
    #[inline]
    fn place(self) -> usize {
        self.last as usize
    }

    /// That entry, with this tag, is read.
    #[inline]
    fn turn(&mut self, tag: u64) {
        *self = Self { last: self.before, before: low(tag) as u32 };
    }
}

/// The lists of 64 nodes, as many as a word has bits.
#[derive(Clone, Copy, Debug)]
struct NodeLists {
    /// A bit for each node with an entry.
    alive: u64,
    /// By node.
    heads: [ListHeads; 64],
}

impl NodeLists {
    const EMPTY: Self = Self { alive: 0, heads: [ListHeads::NONE; 64] };

    /// Takes the lists of `node`.
    #[inline]
    fn take(&mut self, node: NodeId) -> ListHeads {
        std::mem::replace(&mut self.heads[node.index() % 64], ListHeads::NONE)
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

impl<B> Default for Bucket<B> {
    fn default() -> Self {
        Self { chunks: Vec::new(), len: 0, lists: Box::default() }
    }
}

impl<B: Body> FreeSlot<'_, B> {
    /// Writes a packet here, as `stamp` leaves it.
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

    /// The next place, to be written with an entry to `node`; `None` if there must be more places first.
    // Inlined by measurement: it is the end of every hop, and a call costs as much as what it does.
    #[inline(always)]
    pub(super) fn next(&mut self, node: NodeId) -> Option<FreeSlot<'_, B>> {
        let entry = &mut self.chunks.get_mut(self.len / CHUNK)?[self.len % CHUNK];
        let NodeLists { alive, heads } = self.lists.get_mut(node.index() / 64)?;
        // Unconditionally: a branch on "the first" is one that processors cannot foresee.
        *alive |= 1 << (node.index() % 64);
        let named = heads[node.index() % 64].push(self.len);
        self.len += 1;
        Some(FreeSlot { entry, named })
    }

    /// As `next`, with more places of the `pool` if there must be.
    fn make(&mut self, node: NodeId, pool: &mut ChunkPool<B>) -> FreeSlot<'_, B> {
        if self.lists.is_empty() {
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

    /// Takes all that is in `other`; its places remain its own.
    pub(super) fn append(&mut self, other: &mut Self, pool: &mut ChunkPool<B>) {
        for (w, lists) in other.lists.iter_mut().enumerate() {
            for node in nodes_of(w, std::mem::take(&mut lists.alive)) {
                let mut heads = lists.take(node);
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

    /// The nodes of word `w` with an entry, a bit each; once.
    #[inline]
    pub(super) fn take_alive(&mut self, w: usize) -> u64 {
        self.lists.get_mut(w).map_or(0, |lists| std::mem::take(&mut lists.alive))
    }

    /// The run ends at `end` in the window that began at `start`: keeps only what is on links then, for it to be counted.
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

    /// Ends the window, which all nodes have run through: its chunks go to the `pool`.
    pub(super) fn end(mut self, pool: &mut ChunkPool<B>) {
        // One that nothing was ever written to has nothing to give.
        if !self.lists.is_empty() {
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
    /// Those of the present node.
    keys: Vec<u64>,
    start: Time,
}

impl<B> Default for ArrivalBatches<B> {
    fn default() -> Self {
        Self { bucket: Bucket::default(), keys: Vec::new(), start: Time::ZERO }
    }
}

impl<B: Body> ArrivalBatches<B> {
    /// Takes `bucket`, of the window that starts at `start`.
    pub(super) fn distribute(&mut self, bucket: Bucket<B>, start: Time) {
        assert!(bucket.len as u64 <= MAX_ENTRIES, "more packets in a window than it can hold");
        (self.bucket, self.start) = (bucket, start);
    }

    /// The batch of `node`; once.
    #[inline]
    pub(crate) fn of(&mut self, node: NodeId) -> ArrivalBatch<'_, B> {
        let lists = self.bucket.lists.get_mut(node.index() / 64);
        let heads = lists.map_or(ListHeads::NONE, |lists| lists.take(node));
        ArrivalBatch { batches: self, heads }
    }

    /// Gives the bucket back.
    pub(super) fn take_bucket(&mut self) -> Bucket<B> {
        std::mem::take(&mut self.bucket)
    }
}

/// The arrivals of one node in a window, not sorted yet.
pub(crate) struct ArrivalBatch<'a, B> {
    batches: &'a mut ArrivalBatches<B>,
    heads: ListHeads,
}

impl<'a, B: Body> ArrivalBatch<'a, B> {
    /// The arrivals before `end`.
    #[inline]
    pub(crate) fn open(self, end: Time) -> Arrivals<'a, B> {
        self.open_noting(end, |_| 0)
    }

    /// The same, with a note on each packet, all of them made first and in no order: so that the memory that is looked at
    /// for them is fetched at once and not one line after the other.
    #[inline]
    pub(crate) fn open_noting(self, end: Time, mut note: impl FnMut(&Packet<B>) -> u32) -> Arrivals<'a, B> {
        let ArrivalBatches { bucket: Bucket { chunks, .. }, keys, start } = self.batches;
        keys.clear();
        let mut heads = self.heads;
        while let Some(chunk) = chunks.get_mut(heads.place() / CHUNK) {
            let place = heads.place();
            let entry = &mut chunk[place % CHUNK];
            let tag = entry.tag;
            heads.turn(tag);
            keys.push(key(tag.wrapping_sub(instant(*start)), place));
            entry.tag = key(tag, note(&entry.packet) as usize & LOW as usize);
        }
        arrival_order::sort(keys);
        let in_time = match keys.last() {
            Some(&key) if start.0 + since_start(key) >= end.0 => {
                keys.partition_point(|&key| start.0 + since_start(key) < end.0)
            }
            _ => keys.len(),
        };
        Arrivals { keys: &keys[..in_time], chunks, start: *start }
    }
}

/// A node's arrivals in the part of a window that it runs through, in order of time, then ingress.
#[derive(Debug)]
pub(crate) struct Arrivals<'a, B> {
    keys: &'a [u64],
    chunks: &'a [Chunk<B>],
    start: Time,
}

impl<'a, B> Arrivals<'a, B> {
    /// The arrivals with the place of the ingress link.
    pub(crate) fn by_ingress(self) -> impl Iterator<Item = Arrival<'a, B>> {
        self.entries().map(|(at, key, entry)| Arrival { at, from: rank(key), packet: &entry.packet })
    }

    /// When, and what.
    #[inline]
    pub(crate) fn iter(self) -> impl Iterator<Item = (Time, &'a Packet<B>)> {
        self.entries().map(|(at, _, entry)| (at, &entry.packet))
    }

    /// When and what, with the note.
    #[inline]
    pub(crate) fn with_notes(self) -> impl Iterator<Item = (Time, &'a Packet<B>, u32)> {
        self.entries().map(|(at, _, entry)| (at, &entry.packet, low(entry.tag) as u32))
    }

    /// When, by which key, and what.
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
    use priolane_core::units::Span;

    use super::*;

    const NODES: usize = 70;
    /// Of a window in which the lowest bits of the time begin anew.
    const START: Time = Time(5 * MAX_LENGTH - 20);

    /// Against lists: entries to nodes of which one gets many, a part of them by way of another bucket; both are used again,
    /// each in the place of the other.
    #[test]
    fn each_node_finds_its_own_once_in_order_and_with_its_note() {
        let mut draw = Stream::new(3, Purpose::Ties, 0);
        let (mut abroad, mut pool) = (Bucket::<()>::default(), ChunkPool::new(NODES));
        for _ in 0..300 {
            let mut bucket = std::mem::take(&mut abroad);
            let mut model = vec![Vec::new(); NODES];
            for rank in 0..draw.below(4 * CHUNK as u64) {
                let node = if draw.chance(0.4) { 66 } else { draw.below(NODES as u64) };
                let (at, to) =
                    (START + Span(draw.below(50)), Ingress::new(NodeId(node as u32), rank as u32, 0));
                let packet = Packet { header: Header { rank, ..Header::default() }, body: () };
                let through = if draw.chance(0.3) { &mut abroad } else { &mut bucket };
                through.push(at, to, &packet, &mut pool);
                model[node as usize].push((at.0, rank, rank as u32 + 1));
            }
            bucket.append(&mut abroad, &mut pool);
            assert!(abroad.is_empty() && (0..2).all(|w| abroad.take_alive(w) == 0));
            let alive = [bucket.take_alive(0), bucket.take_alive(1)];
            let mut batches = ArrivalBatches::default();
            batches.distribute(bucket, START);
            for (node, expected) in model.iter_mut().enumerate() {
                assert_eq!(alive[node / 64] >> (node % 64) & 1 == 1, !expected.is_empty());
                let batch = batches.of(NodeId(node as u32));
                let found = batch.open_noting(Time::NEVER, |packet| packet.header.rank as u32 + 1);
                let found = found.with_notes().map(|(at, packet, note)| (at.0, packet.header.rank, note));
                expected.sort_unstable();
                assert_eq!(found.collect::<Vec<_>>(), *expected);
                assert_eq!(batches.of(NodeId(node as u32)).open(Time::NEVER).iter().count(), 0);
            }
            batches.take_bucket().end(&mut pool);
        }
    }
}
