//! The window engine: no global event queue.
//!
//! Nothing crosses nodes faster than the lookahead L = min(propagation + smallest serialization), so each
//! node lives through a window of length L alone: its arrivals are sorted, merged with its own instants, and
//! worked through; whatever it sends arrives at others in a later window. Messages wait in a ring of windows,
//! by value; those beyond the ring wait in a heap. Windows in which nobody lives are skipped.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

use priolane_core::ids::NodeId;
use priolane_core::packet::{Body, Packet};
use priolane_core::rng::{Purpose, Stream};
use priolane_core::units::{Span as Length, Time};

use super::drive::{Ending, OnProgress, collect};
use super::network::Network;
use crate::node::fabric::Fabric;
use crate::outcome::{Outcome, RunError, Sample};
use crate::wire::{Ingress, Wire};

/// The order in which nodes live through a window; results must not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum NodeOrder {
    /// By node.
    #[default]
    Natural,
    /// A new random order in each window, from this seed: a check that nodes are independent.
    Shuffled(u64),
}

/// Windows kept in the ring; messages further ahead wait in a heap.
const MAX_SLOTS: u64 = 64;
/// Windows between two reports of progress.
const REPORT_EVERY: u64 = 256;

/// A packet on a link, in the ring.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Message<B> {
    /// Picoseconds from the start of its window.
    since_start: u32,
    ingress: u32,
    packet: Packet<B>,
}

/// A packet that arrives beyond the ring.
#[derive(Debug)]
struct Far<B> {
    at: Time,
    to: Ingress,
    packet: Packet<B>,
}

/// Part of a run that nodes live through alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    start: Time,
    pub(crate) end: Time,
    sample_every: Option<Length>,
}

/// The sample instants of a window, in order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticks {
    next: Time,
    every: Length,
}

impl Span {
    /// The sample instants at or after the start of the window.
    #[inline]
    pub(crate) fn samples(&self) -> Ticks {
        match self.sample_every {
            None => Ticks { next: Time::NEVER, every: Length::ZERO },
            Some(every) => Ticks { next: Time(self.start.0.next_multiple_of(every.0)), every },
        }
    }

    /// A node that has something queued must live at every sample instant.
    #[inline]
    pub(crate) fn keep_alive(&self, next: Time, backlogged: Backlogged) -> Time {
        if self.sample_every.is_some() && backlogged == Backlogged::Yes { next.min(self.end) } else { next }
    }
}

/// Whether a node has packets queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backlogged {
    Yes,
    No,
}

impl Ticks {
    /// The next sample instant, if it lies before `t`.
    #[inline]
    pub(crate) fn next_before(&mut self, t: Time) -> Option<Time> {
        let instant = self.next;
        if instant >= t {
            return None;
        }
        self.next = instant + self.every;
        Some(instant)
    }
}

/// A node's arrivals of one window, in order.
#[derive(Debug)]
pub(crate) struct Inbox<'a, B> {
    messages: &'a [Message<B>],
    keys: &'a [u64],
    layout: KeyLayout,
    start: Time,
}

impl<B> Inbox<'_, B> {
    /// The arrivals before `end`, in order of time, then ingress.
    #[inline]
    pub(crate) fn before(&self, end: Time) -> impl Iterator<Item = (Time, &Packet<B>)> {
        self.keys.iter().map_while(move |&key| {
            let message = &self.messages[(key & self.layout.index_mask) as usize];
            let at = Time(self.start.0 + u64::from(message.since_start));
            (at < end).then_some((at, &message.packet))
        })
    }
}

/// How a message's order is packed into 64 bits: instant (32), ingress, place in the inbox.
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
    fn key<B>(self, index: usize, message: &Message<B>) -> u64 {
        u64::from(message.since_start) << 32 | u64::from(message.ingress) << self.index_bits | index as u64
    }
}

/// The window engine as nodes see it: the ring, and what lies beyond.
#[derive(Debug)]
pub(crate) struct LazyWire<B> {
    /// By node, then slot of the ring.
    inboxes: Vec<Vec<Message<B>>>,
    /// By slot: one bit per node that lives in that window.
    alive: Vec<u64>,
    words: usize,
    slots: u64,
    window: u64,
    end: Time,
    length: u64,
    /// ceil(2^64 / length): a multiplication instead of a division per message.
    inverse: u64,
    far: BinaryHeap<Reverse<(Time, u64)>>,
    far_messages: Vec<Option<Far<B>>>,
    far_free: Vec<u64>,
    far_wakes: BinaryHeap<Reverse<(u64, u32)>>,
    /// Earliest far window each node waits for, so that it is noted once.
    far_wake: Vec<u64>,
    ending: Ending,
    error: Option<RunError>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) handled: u64,
}

impl<B: Body> Wire<B> for LazyWire<B> {
    #[inline]
    fn emit(&mut self, to: Ingress, at: Time, packet: Packet<B>) {
        assert!(at >= self.end, "a packet must not arrive within the window in which it was sent");
        let offset = at.0 - self.end.0;
        let ahead = ((u128::from(offset) * u128::from(self.inverse)) >> 64) as u64;
        if ahead + 1 >= self.slots {
            return self.emit_far(Far { at, to, packet });
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
    fn new(fabric: &Fabric, length: u64, slots: u64) -> Self {
        let nodes = fabric.scenario.topology.nodes();
        let words = nodes.div_ceil(64);
        Self {
            inboxes: (0..nodes * slots as usize).map(|_| Vec::new()).collect(),
            alive: vec![0; words * slots as usize],
            words,
            slots,
            window: 0,
            end: Time::ZERO,
            length,
            inverse: (u128::from(u64::MAX) / u128::from(length) + 1) as u64,
            far: BinaryHeap::new(),
            far_messages: Vec::new(),
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
    fn inbox(&mut self, node: NodeId, window: u64) -> &mut Vec<Message<B>> {
        let slot = self.slot(window);
        &mut self.inboxes[node.index() * self.slots as usize + slot]
    }

    #[inline]
    fn set_alive(&mut self, node: NodeId, window: u64) {
        let slot = self.slot(window);
        self.alive[slot * self.words + node.index() / 64] |= 1 << (node.index() % 64);
    }

    #[inline]
    fn deliver(&mut self, window: u64, to: Ingress, since_start: u32, packet: Packet<B>) {
        self.inbox(to.node, window).push(Message { since_start, ingress: to.rank, packet });
        self.set_alive(to.node, window);
    }

    #[cold]
    fn emit_far(&mut self, far: Far<B>) {
        let at = far.at;
        let place = match self.far_free.pop() {
            Some(place) => place,
            None => {
                self.far_messages.push(None);
                self.far_messages.len() as u64 - 1
            }
        };
        self.far_messages[place as usize] = Some(far);
        self.far.push(Reverse((at, place)));
    }

    /// `node` wants to live at `at`, after this window.
    fn wake(&mut self, node: NodeId, at: Time) {
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
    fn next_window(&self, from: u64) -> Option<u64> {
        let alive = |&w: &u64| {
            let slot = self.slot(w);
            self.alive[slot * self.words..][..self.words].iter().any(|&bits| bits != 0)
        };
        let near = (from..from + self.slots).find(alive);
        let message = self.far.peek().map(|Reverse((at, _))| at.0 / self.length);
        let wake = self.far_wakes.peek().map(|&Reverse((window, _))| window);
        [near, message, wake].into_iter().flatten().min()
    }

    /// Makes `window` the current one and takes into the ring what has come within reach.
    fn enter(&mut self, window: u64) {
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
            if let Some(Far { to, packet, .. }) = self.far_messages[place as usize].take() {
                self.deliver(due, to, (at.0 - due * self.length) as u32, packet);
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
    fn take_alive(&mut self, nodes: &mut Vec<NodeId>) {
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
    fn on_links(&self) -> impl Iterator<Item = &Packet<B>> {
        let ring = self.inboxes.iter().flatten().map(|m| &m.packet);
        ring.chain(self.far_messages.iter().flatten().map(|f| &f.packet))
    }
}

/// Window length and ring size for a scenario.
fn dimensions(fabric: &Fabric) -> (u64, u64) {
    let scenario = fabric.scenario;
    let lookahead = scenario.lookahead().0.max(1);
    // Bounds both the 32-bit offsets in a window and, by the smallest packet, the messages per inbox.
    let length = lookahead.min(u64::from(u32::MAX));
    let longest = scenario.longest_hop().0;
    let slots = (longest / length + 2).next_power_of_two().clamp(4, MAX_SLOTS);
    (length, slots)
}

/// Runs the scenario of `fabric` to its end.
pub(crate) fn run<B: Body>(
    network: &mut Network<B>,
    fabric: &Fabric,
    order: NodeOrder,
    progress: OnProgress,
) -> Result<Outcome, RunError> {
    let (length, slots) = dimensions(fabric);
    let mut wire = LazyWire::new(fabric, length, slots);
    for node in 0..network.places.len() as u32 {
        let (group, i) = network.at(NodeId(node));
        let (first, _) = group.first(i, fabric);
        wire.wake(NodeId(node), first);
    }
    let mut worker = Worker::new(fabric, order);
    let mut next = 0;
    let mut windows = 0u64;
    while let Some(window) = wire.next_window(next) {
        let start = Time(window * length);
        let stop = wire.ending.stop_at();
        if start >= stop {
            break;
        }
        wire.enter(window);
        let span = Span { start, end: wire.end.min(stop), sample_every: fabric.scenario.sample_every };
        worker.live(network, fabric, &span, &mut wire);
        if let Some(error) = wire.error.take() {
            return Err(error);
        }
        windows += 1;
        if windows.is_multiple_of(REPORT_EVERY)
            && progress(wire.ending.progress(start)) == ControlFlow::Break(())
        {
            return Err(RunError::Interrupted);
        }
        next = window + 1;
    }
    let stop = wire.ending.stop_at();
    let _ = progress(wire.ending.progress(stop));
    collect(network, fabric, stop, &mut |out| {
        wire.on_links().for_each(|packet| out.resident(&packet.header));
        out.outcome().samples = std::mem::take(&mut wire.samples);
        out.outcome().work.events = wire.handled;
    })
}

/// Lets the nodes of a window live, one after the other.
#[derive(Debug)]
struct Worker {
    layout: KeyLayout,
    nodes: Vec<NodeId>,
    keys: Vec<u64>,
    shuffle: Option<Stream>,
}

impl Worker {
    fn new(fabric: &Fabric, order: NodeOrder) -> Self {
        let shuffle = match order {
            NodeOrder::Natural => None,
            NodeOrder::Shuffled(seed) => Some(Stream::new(seed, Purpose::Ties, u64::MAX)),
        };
        Self { layout: KeyLayout::new(fabric.most_ingress), nodes: Vec::new(), keys: Vec::new(), shuffle }
    }

    fn live<B: Body>(
        &mut self,
        network: &mut Network<B>,
        fabric: &Fabric,
        span: &Span,
        wire: &mut LazyWire<B>,
    ) {
        wire.take_alive(&mut self.nodes);
        if let Some(stream) = &mut self.shuffle {
            stream.shuffle(&mut self.nodes);
        }
        for &node in &self.nodes {
            let window = wire.window;
            let mut messages = std::mem::take(wire.inbox(node, window));
            self.keys.clear();
            assert!(messages.len() as u64 <= self.layout.index_mask + 1, "an inbox outgrew its sort key");
            let layout = self.layout;
            self.keys.extend(messages.iter().enumerate().map(|(i, m)| layout.key(i, m)));
            self.keys.sort_unstable();
            let inbox = Inbox { messages: &messages, keys: &self.keys, layout, start: span.start };
            let (group, i) = network.at(node);
            let next = group.run_window(i, fabric, &inbox, span, wire);
            wire.wake(node, next);
            if span.end == wire.end {
                messages.clear();
            } else {
                // The run's last window is cut short: what arrives after the stop stays on the link.
                messages.retain(|m| span.start.0 + u64::from(m.since_start) >= span.end.0);
            }
            *wire.inbox(node, window) = messages;
        }
    }
}
