//! The window engine as nodes see it: where packets wait for the window in which they arrive.
//!
//! Each node has an inbox per window of a ring. An inbox is a list of packets in order of emission and, apart from
//! it, a list of keys in which a packet's instant, ingress and place are packed: to sort the keys is to sort the
//! arrivals, and no packet moves. What arrives beyond the ring waits in a heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use priolane_core::ids::NodeId;
use priolane_core::packet::{Body, Packet};
use priolane_core::units::Time;

use super::drive::Ending;
use crate::node::fabric::Fabric;
use crate::outcome::{RunError, Sample};
use crate::wire::{Ingress, Wire};

/// A packet in an inbox, in as few cache lines as it can be.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Letter<B>(Packet<B>);

/// The packets that arrive at one node in one window.
#[derive(Debug)]
pub(super) struct Inbox<B> {
    keys: Vec<u64>,
    letters: Vec<Letter<B>>,
}

impl<B> Default for Inbox<B> {
    fn default() -> Self {
        Self { keys: Vec::new(), letters: Vec::new() }
    }
}

/// How a packet's order is packed into 64 bits: picoseconds since the start of its window (32), ingress, place
/// in the inbox.
#[derive(Clone, Copy, Debug)]
struct KeyLayout {
    index_bits: u32,
    index_mask: u64,
}

impl KeyLayout {
    fn new(most_ingress: u32) -> Self {
        let ingress_bits = u32::BITS - most_ingress.max(2).saturating_sub(1).leading_zeros();
        let index_bits = 32 - ingress_bits;
        Self { index_bits, index_mask: (1 << index_bits) - 1 }
    }

    #[inline]
    fn key(self, since_start: u32, ingress: u32, index: usize) -> u64 {
        u64::from(since_start) << 32 | u64::from(ingress) << self.index_bits | index as u64
    }
}

/// A node's arrivals of one window, in order.
#[derive(Debug)]
pub(crate) struct Arrivals<'a, B> {
    keys: &'a [u64],
    letters: &'a [Letter<B>],
    index_mask: u64,
    start: Time,
}

impl<B> Arrivals<'_, B> {
    /// Those before `end`, in order of time, then ingress.
    #[inline]
    pub(crate) fn before(&self, end: Time) -> impl Iterator<Item = (Time, &Packet<B>)> {
        self.keys.iter().map_while(move |&key| {
            let at = Time(self.start.0 + (key >> 32));
            (at < end).then(|| (at, &self.letters[(key & self.index_mask) as usize].0))
        })
    }
}

/// A packet that arrives beyond the ring.
#[derive(Debug)]
struct Far<B> {
    at: Time,
    to: Ingress,
    packet: Packet<B>,
}

/// How windows lie in time and in the ring.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dimensions {
    /// Picoseconds of a window; fits into 32 bits.
    pub(super) length: u64,
    /// Windows in the ring; a power of two.
    pub(super) slots: u64,
}

/// The window engine as nodes see it: the ring, and what lies beyond.
#[derive(Debug)]
pub(crate) struct LazyWire<B> {
    /// By node, then slot of the ring.
    inboxes: Vec<Inbox<B>>,
    /// By slot: one bit per node that lives in that window.
    alive: Vec<u64>,
    words: usize,
    layout: KeyLayout,
    slots: u64,
    pub(super) window: u64,
    pub(super) end: Time,
    length: u64,
    /// ceil(2^64 / length): a multiplication instead of a division per packet.
    inverse: u64,
    far: BinaryHeap<Reverse<(Time, u64)>>,
    far_packets: Vec<Option<Far<B>>>,
    far_free: Vec<u64>,
    far_wakes: BinaryHeap<Reverse<(u64, u32)>>,
    /// Earliest far window each node waits for, so that it is noted once.
    far_wake: Vec<u64>,
    pub(super) ending: Ending,
    pub(super) error: Option<RunError>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) handled: u64,
}

impl<B: Body> Wire<B> for LazyWire<B> {
    #[inline]
    fn emit(&mut self, to: Ingress, at: Time, packet: &Packet<B>) {
        assert!(at >= self.end, "a packet must not arrive within the window in which it was sent");
        let offset = at.0 - self.end.0;
        let ahead = ((u128::from(offset) * u128::from(self.inverse)) >> 64) as u64;
        if ahead + 1 >= self.slots {
            return self.emit_far(Far { at, to, packet: *packet });
        }
        let since_start = (offset - ahead * self.length) as u32;
        self.deliver(self.window + 1 + ahead, to, since_start, packet);
    }

    fn flow_done(&mut self, at: Time) {
        self.ending.flow_done(at);
    }

    fn violated(&mut self, error: RunError) {
        self.error.get_or_insert(error);
    }
}

impl<B: Body> LazyWire<B> {
    pub(super) fn new(fabric: &Fabric, Dimensions { length, slots }: Dimensions) -> Self {
        let nodes = fabric.scenario.topology.nodes();
        let words = nodes.div_ceil(64);
        Self {
            inboxes: (0..nodes * slots as usize).map(|_| Inbox::default()).collect(),
            alive: vec![0; words * slots as usize],
            words,
            layout: KeyLayout::new(fabric.most_ingress),
            slots,
            window: 0,
            end: Time(length),
            length,
            inverse: (u128::from(u64::MAX) / u128::from(length) + 1) as u64,
            far: BinaryHeap::new(),
            far_packets: Vec::new(),
            far_free: Vec::new(),
            far_wakes: BinaryHeap::new(),
            far_wake: vec![u64::MAX; nodes],
            ending: Ending::new(fabric.scenario),
            error: None,
            samples: Vec::new(),
            handled: 0,
        }
    }

    #[inline]
    fn slot(&self, window: u64) -> usize {
        (window & (self.slots - 1)) as usize
    }

    #[inline]
    fn inbox(&mut self, node: NodeId, window: u64) -> &mut Inbox<B> {
        let slot = self.slot(window);
        &mut self.inboxes[node.index() * self.slots as usize + slot]
    }

    #[inline]
    fn set_alive(&mut self, node: NodeId, window: u64) {
        let slot = self.slot(window);
        self.alive[slot * self.words + node.index() / 64] |= 1 << (node.index() % 64);
    }

    #[inline]
    fn deliver(&mut self, window: u64, to: Ingress, since_start: u32, packet: &Packet<B>) {
        let layout = self.layout;
        let inbox = self.inbox(to.node, window);
        let index = inbox.keys.len();
        inbox.keys.push(layout.key(since_start, to.rank, index));
        inbox.letters.push(Letter(*packet));
        if index == 0 {
            self.set_alive(to.node, window);
        }
    }

    #[cold]
    fn emit_far(&mut self, far: Far<B>) {
        let at = far.at;
        let place = match self.far_free.pop() {
            Some(place) => place,
            None => {
                self.far_packets.push(None);
                self.far_packets.len() as u64 - 1
            }
        };
        self.far_packets[place as usize] = Some(far);
        self.far.push(Reverse((at, place)));
    }

    /// Takes the inbox of `node` in the current window, in order; to be given back by `put_back`.
    #[inline]
    pub(super) fn take_inbox(&mut self, node: NodeId) -> Inbox<B> {
        let mut inbox = std::mem::take(self.inbox(node, self.window));
        let places = self.layout.index_mask + 1;
        assert!(inbox.keys.len() as u64 <= places, "an inbox outgrew its sort key");
        if inbox.keys.len() > 1 {
            inbox.keys.sort_unstable();
        }
        inbox
    }

    /// What arrives in the window that begins at `start`.
    #[inline]
    pub(super) fn arrivals<'a>(&self, inbox: &'a Inbox<B>, start: Time) -> Arrivals<'a, B> {
        let Inbox { keys, letters } = inbox;
        Arrivals { keys, letters, index_mask: self.layout.index_mask, start }
    }

    /// Gives an inbox back; of a window cut short at `end`, what arrives later stays on its link.
    #[inline]
    pub(super) fn put_back(&mut self, node: NodeId, mut inbox: Inbox<B>, end: Time) {
        if end == self.end {
            inbox.keys.clear();
            inbox.letters.clear();
        } else {
            let start = self.end.0 - self.length;
            let late = inbox.keys.iter().filter(|&&key| start + (key >> 32) >= end.0);
            let letters = late.map(|key| inbox.letters[(key & self.layout.index_mask) as usize]).collect();
            inbox.letters = letters;
        }
        *self.inbox(node, self.window) = inbox;
    }

    /// `node` wants to live at `at`, after this window.
    #[inline]
    pub(super) fn wake(&mut self, node: NodeId, at: Time) {
        if at < Time(self.end.0 + self.length) {
            // The usual case, without a division.
            return self.set_alive(node, self.window + u64::from(at >= self.end));
        }
        if at == Time::NEVER {
            return;
        }
        let window = at.0 / self.length;
        if window < self.window + self.slots {
            self.set_alive(node, window);
        } else if window < self.far_wake[node.index()] {
            self.far_wake[node.index()] = window;
            self.far_wakes.push(Reverse((window, node.0)));
        }
    }

    /// The first window at or after `from` in which some node lives.
    pub(super) fn next_window(&self, from: u64) -> Option<u64> {
        let alive = |&w: &u64| {
            let slot = self.slot(w);
            self.alive[slot * self.words..][..self.words].iter().any(|&bits| bits != 0)
        };
        let near = (from..from + self.slots).find(alive);
        let packet = self.far.peek().map(|Reverse((at, _))| at.0 / self.length);
        let wake = self.far_wakes.peek().map(|&Reverse((window, _))| window);
        [near, packet, wake].into_iter().flatten().min()
    }

    /// Makes `window` the current one and takes into the ring what has come within reach.
    pub(super) fn enter(&mut self, window: u64) {
        self.window = window;
        self.end = Time((window + 1) * self.length);
        let reach = window + self.slots;
        while let Some(&Reverse((at, place))) = self.far.peek() {
            let due = at.0 / self.length;
            if due >= reach {
                break;
            }
            self.far.pop();
            self.far_free.push(place);
            if let Some(Far { to, packet, .. }) = self.far_packets[place as usize].take() {
                self.deliver(due, to, (at.0 - due * self.length) as u32, &packet);
            }
        }
        while let Some(&Reverse((due, node))) = self.far_wakes.peek() {
            if due >= reach {
                break;
            }
            self.far_wakes.pop();
            if self.far_wake[node as usize] == due {
                self.far_wake[node as usize] = u64::MAX;
            }
            self.set_alive(NodeId(node), due);
        }
    }

    /// The nodes that live in the current window, in order; the window forgets them.
    pub(super) fn take_alive(&mut self, nodes: &mut Vec<NodeId>) {
        nodes.clear();
        let slot = self.slot(self.window);
        for (w, bits) in self.alive[slot * self.words..][..self.words].iter_mut().enumerate() {
            let mut rest = std::mem::take(bits);
            while rest != 0 {
                nodes.push(NodeId((w * 64) as u32 + rest.trailing_zeros()));
                rest &= rest - 1;
            }
        }
    }

    /// All packets on links, wherever they wait.
    pub(super) fn on_links(&self) -> impl Iterator<Item = &Packet<B>> {
        let ring = self.inboxes.iter().flat_map(|inbox| &inbox.letters).map(|letter| &letter.0);
        ring.chain(self.far_packets.iter().flatten().map(|far| &far.packet))
    }
}
