//! The window engine as nodes see it: where packets wait for the window in which they arrive.
//!
//! The windows ahead form a ring. All packets that arrive in one window lie in one sheaf, in order of emission, so
//! that they are written one after the other; each node has a list of keys in which a packet's instant, its ingress
//! and its place in the sheaf are packed: to sort the keys is to sort the arrivals, and no packet moves. What arrives
//! beyond the ring waits in a heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use priolane_core::ids::NodeId;
use priolane_core::packet::{Body, Packet};
use priolane_core::units::Time;

use super::control_plane::ControlPlane;
use super::drive::Ending;
use crate::node::estimator::Posted;
use crate::node::fabric::Fabric;
use crate::outcome::{RunError, Sample};
use crate::wire::{Ingress, Wire};

/// Bits of a key that hold an instant: a window is at most 2^24 ps (16.8 us) long.
const INSTANT_BITS: u32 = 24;

/// A packet in a sheaf: a cache line, if the body has at most 24 bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Letter<B> {
    packet: Packet<B>,
}

/// The packets that arrive in one window.
#[derive(Debug)]
struct Sheaf<B> {
    letters: Vec<Letter<B>>,
    /// By node: the keys of the letters to it.
    keys: Vec<Vec<u64>>,
}

impl<B> Default for Sheaf<B> {
    fn default() -> Self {
        Self { letters: Vec::new(), keys: Vec::new() }
    }
}

/// How a letter's order is packed into 64 bits: picoseconds since the start of its window (24), ingress, and a
/// place among the letters.
#[derive(Clone, Copy, Debug)]
struct Layout {
    place_bits: u32,
    place_mask: u64,
}

impl Layout {
    fn new(most_ingress: u32) -> Self {
        let ingress_bits = u32::BITS - most_ingress.max(2).saturating_sub(1).leading_zeros();
        let place_bits = (64 - INSTANT_BITS - ingress_bits).min(u32::BITS);
        Self { place_bits, place_mask: (1 << place_bits) - 1 }
    }

    #[inline]
    fn key(self, since_start: u64, ingress: u32, place: usize) -> u64 {
        since_start << (64 - INSTANT_BITS) | u64::from(ingress) << self.place_bits | place as u64
    }
}

/// A node's arrivals of one window, in order.
#[derive(Debug)]
pub(crate) struct Arrivals<'a, B> {
    keys: &'a [u64],
    letters: &'a [Letter<B>],
    place_mask: u64,
    start: Time,
}

impl<B> Arrivals<'_, B> {
    /// Those before `end`, in order of time, then ingress.
    #[inline]
    pub(crate) fn before(&self, end: Time) -> impl Iterator<Item = (Time, &Packet<B>)> {
        self.keys.iter().map_while(move |&key| {
            let at = instant(self.start, key);
            (at < end).then(|| (at, &self.letters[(key & self.place_mask) as usize].packet))
        })
    }
}

#[inline]
fn instant(start: Time, key: u64) -> Time {
    Time(start.0 + (key >> (64 - INSTANT_BITS)))
}

/// The arrivals of the window that nodes live through.
#[derive(Debug)]
pub(super) struct Sorter<B> {
    sheaf: Sheaf<B>,
    place_mask: u64,
    start: Time,
}

impl<B: Body> Sorter<B> {
    /// The arrivals at `node`, in order.
    #[inline]
    pub(super) fn arrivals(&mut self, node: NodeId) -> Arrivals<'_, B> {
        let keys = &mut self.sheaf.keys[node.index()];
        if keys.len() > 1 {
            keys.sort_unstable();
        }
        Arrivals { keys, letters: &self.sheaf.letters, place_mask: self.place_mask, start: self.start }
    }
}

/// A packet that arrives beyond the ring.
#[derive(Debug)]
struct Far<B> {
    at: Time,
    to: Ingress,
    packet: Packet<B>,
}

/// The longest window, in picoseconds.
pub(super) const MAX_LENGTH: u64 = 1 << INSTANT_BITS;

/// How windows lie in time and in the ring.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dimensions {
    /// Picoseconds of a window, at most [`MAX_LENGTH`].
    pub(super) length: u64,
    /// Windows in the ring; a power of two.
    pub(super) slots: u64,
}

/// The window engine as nodes see it: the ring, and what lies beyond.
#[derive(Debug)]
pub(crate) struct LazyWire<B> {
    /// By slot of the ring; that of the current window is with its `Sorter`.
    sheaves: Vec<Sheaf<B>>,
    /// By slot: one bit per node that lives in that window.
    alive: Vec<u64>,
    words: usize,
    layout: Layout,
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
    pub(super) control_plane: ControlPlane,
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
        self.deliver(self.window + 1 + ahead, to, offset - ahead * self.length, packet);
    }

    fn post(&mut self, posted: Posted) {
        self.control_plane.post(posted);
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
        let layout = Layout::new(fabric.most_ingress);
        Self {
            sheaves: (0..slots)
                .map(|_| Sheaf { letters: Vec::new(), keys: vec![Vec::new(); nodes] })
                .collect(),
            alive: vec![0; words * slots as usize],
            words,
            layout,
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
            control_plane: ControlPlane::new(fabric.scenario),
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
    fn set_alive(&mut self, node: NodeId, window: u64) {
        let slot = self.slot(window);
        self.alive[slot * self.words + node.index() / 64] |= 1 << (node.index() % 64);
    }

    // Inlined by measurement: it is the end of every hop, and a call costs as much as what it does.
    #[inline(always)]
    fn deliver(&mut self, window: u64, to: Ingress, since_start: u64, packet: &Packet<B>) {
        let slot = self.slot(window);
        let Sheaf { letters, keys } = &mut self.sheaves[slot];
        let keys = &mut keys[to.node.index()];
        keys.push(self.layout.key(since_start, to.rank, letters.len()));
        letters.push(Letter { packet: *packet });
        self.set_alive(to.node, window);
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

    /// Takes the arrivals of the current window; to be given back by `put_back`.
    pub(super) fn take_arrivals(&mut self) -> Sorter<B> {
        let slot = self.slot(self.window);
        let sheaf = std::mem::take(&mut self.sheaves[slot]);
        let place_mask = self.layout.place_mask;
        assert!(sheaf.letters.len() as u64 <= place_mask, "more packets in a window than it can hold");
        Sorter { sheaf, place_mask, start: Time(self.end.0 - self.length) }
    }

    /// Gives the arrivals of the current window at `nodes` back, lived through up to `end`: what arrives later
    /// stays on its link.
    pub(super) fn put_back(&mut self, mut sorter: Sorter<B>, nodes: &[NodeId], end: Time) {
        let Sheaf { letters, keys } = &mut sorter.sheaf;
        if end < self.end {
            let late = keys.iter().flatten().filter(|&&key| instant(sorter.start, key) >= end);
            *letters = late.map(|key| letters[(key & sorter.place_mask) as usize]).collect();
        } else {
            letters.clear();
        }
        for node in nodes {
            keys[node.index()].clear();
        }
        let slot = self.slot(self.window);
        self.sheaves[slot] = sorter.sheaf;
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

    /// The first window at or after `from` in which some node, or the controller, lives.
    pub(super) fn next_window(&self, from: u64) -> Option<u64> {
        let alive = |&w: &u64| {
            let slot = self.slot(w);
            self.alive[slot * self.words..][..self.words].iter().any(|&bits| bits != 0)
        };
        let near = (from..from + self.slots).find(alive);
        let packet = self.far.peek().map(|Reverse((at, _))| at.0 / self.length);
        let wake = self.far_wakes.peek().map(|&Reverse((window, _))| window);
        let control =
            Some(self.control_plane.next()).filter(|&at| at != Time::NEVER).map(|at| at.0 / self.length);
        [near, packet, wake, control].into_iter().flatten().min()
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
                self.deliver(due, to, at.0 - due * self.length, &packet);
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
        let ring = self.sheaves.iter().flat_map(|sheaf| &sheaf.letters).map(|letter| &letter.packet);
        ring.chain(self.far_packets.iter().flatten().map(|far| &far.packet))
    }
}
