//! The window engine's interface to nodes: packets wait for the window in which they arrive.
//!
//! Future windows form a ring of buckets. Packets that arrive beyond the ring wait in a heap, the overflow.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use priolane_core::ids::{FlowId, NodeId};
use priolane_core::packet::{Body, Packet};
use priolane_core::units::Time;

use super::calendar::{ArrivalBatches, Bucket, ChunkPool, MAX_LENGTH, nodes_of};
use crate::device::event_sink::{ControlSink, EventSink, Ingress, Service};
use crate::device::fabric::Fabric;
use crate::device::messages::{DependencySignal, ScheduledReport};
use crate::engine::control_plane::ControlPlane;
use crate::engine::stop::StopCondition;
use crate::observe::completion_log::FlowLog;
use crate::observe::outcome::{Readings, RunError};

/// Upper bound of spans, in picoseconds, that a multiplication by the inverse of a window's length divides exactly:
/// the error of at most 2^-64 per picosecond stays below one unit of the quotient.
const NEAR: u64 = 1 << 40;
const _: () = assert!(NEAR as u128 * MAX_LENGTH as u128 <= 1 << 64);

/// A packet that arrives beyond the ring.
#[derive(Debug)]
pub(super) struct Overflow<B> {
    at: Time,
    to: Ingress,
    packet: Packet<B>,
}

/// Windows in the ring; a power of two. Later arrivals wait in a heap.
const SLOTS: u64 = 64;

/// Returns the ring slot of a window.
#[inline]
fn slot(window: u64) -> usize {
    (window % SLOTS) as usize
}

/// The window engine's interface to nodes: the ring and the overflow.
#[derive(Debug)]
pub(crate) struct WindowScheduler<B> {
    /// The part of the network whose nodes send here.
    part: usize,
    /// Rings by destination part, then by slot; the bucket of the current window is in its `ArrivalBatches`.
    rings: Vec<[Bucket<B>; SLOTS as usize]>,
    pool: ChunkPool<B>,
    /// By slot: bit mask of the nodes that run in that window regardless of arrivals.
    active_nodes: Vec<u64>,
    words: usize,
    pub(super) window: u64,
    pub(super) end: Time,
    length: u64,
    /// ceil(2^64 / length): a multiplication replaces a division per packet.
    inverse: u64,
    far: BinaryHeap<Reverse<(Time, u64)>>,
    overflow_packets: Vec<Option<Overflow<B>>>,
    overflow_free: Vec<u64>,
    /// Overflow packets by destination part.
    remote_overflow: Vec<Vec<Overflow<B>>>,
    far_wakes: BinaryHeap<Reverse<(u64, u32)>>,
    /// Earliest window beyond the ring for which each node is scheduled, to avoid duplicates.
    far_wake: Vec<u64>,
    pub(super) control_plane: ControlPlane,
    /// Reports sent in the current window.
    pub(super) reports: Vec<ScheduledReport>,
    /// Signals sent in the current window.
    pub(super) signals: Vec<DependencySignal>,
    pub(super) stop: StopCondition,
    pub(super) log: FlowLog,
    pub(super) error: Option<RunError>,
    pub(crate) samples: Readings,
    pub(crate) handled: u64,
}

impl<B: Body> EventSink<B> for WindowScheduler<B> {
    const SERVICE: Service = Service::Lazy;

    // Inlined as measured: a call saves a register at the end of every hop.
    #[inline(always)]
    fn emit(&mut self, to: Ingress, at: Time, packet: &Packet<B>, stamp: impl FnOnce(&mut Packet<B>)) {
        assert!(at >= self.end, "a packet must not arrive within the window in which it was sent");
        let offset = at.0 - self.end.0;
        let ahead = self.windows_in(offset);
        // Both exceptions are tail calls, so that no register must be saved here, at the end of every hop.
        if ahead + 1 < SLOTS
            && let Some(ring) = self.rings.get_mut(to.part())
            && let Some(free) = ring[slot(self.window + 1 + ahead)].next(to.node())
        {
            free.write(at, to, packet, stamp);
        } else {
            self.emit_slowly(to, at, packet, stamp);
        }
    }
}

impl<B: Body> ControlSink for WindowScheduler<B> {
    fn flow_log(&mut self) -> &mut FlowLog {
        &mut self.log
    }

    fn send_report(&mut self, report: ScheduledReport) {
        self.reports.push(report);
    }

    fn send_signal(&mut self, signal: DependencySignal) {
        assert!(signal.at >= self.end, "a signal must not arrive within the window in which it was sent");
        self.signals.push(signal);
    }

    fn dependent_scheduled(&mut self, flow: FlowId, start: Time) {
        self.stop.dependent_scheduled(flow, start);
    }

    fn flow_done(&mut self, flow: FlowId, at: Time) {
        self.stop.flow_done(flow, at);
    }

    fn violated(&mut self, error: RunError) {
        self.error.get_or_insert(error);
    }
}

impl<B: Body> WindowScheduler<B> {
    /// Creates the scheduler of the nodes of `part`; `log` records flows.
    pub(super) fn new(fabric: &Fabric, length: u64, part: usize, log: FlowLog) -> Self {
        let nodes = fabric.scenario.topology.nodes();
        let words = nodes.div_ceil(64);
        let parts = fabric.partition.parts();
        Self {
            part,
            rings: (0..parts).map(|_| std::array::from_fn(|_| Bucket::default())).collect(),
            pool: ChunkPool::new(nodes),
            remote_overflow: (0..parts).map(|_| Vec::new()).collect(),
            reports: Vec::new(),
            active_nodes: vec![0; words * SLOTS as usize],
            words,
            window: 0,
            end: Time(length),
            length,
            inverse: (u128::from(u64::MAX) / u128::from(length) + 1) as u64,
            far: BinaryHeap::new(),
            overflow_packets: Vec::new(),
            overflow_free: Vec::new(),
            far_wakes: BinaryHeap::new(),
            far_wake: vec![u64::MAX; nodes],
            control_plane: ControlPlane::new(fabric.scenario),
            signals: Vec::new(),
            stop: StopCondition::new(fabric.scenario),
            log,
            error: None,
            samples: Readings::default(),
            handled: 0,
        }
    }

    #[inline]
    fn set_alive(&mut self, node: NodeId, window: u64) {
        self.active_nodes[slot(window) * self.words + node.index() / 64] |= 1 << (node.index() % 64);
    }

    /// Returns the number of whole windows in a span below [`NEAR`], without a division.
    #[inline]
    fn windows_in(&self, offset: u64) -> u64 {
        ((u128::from(offset) * u128::from(self.inverse)) >> 64) as u64
    }

    /// The slow path of `emit`: the bucket is full, or the packet arrives beyond the ring.
    #[cold]
    #[inline(never)]
    fn emit_slowly(&mut self, to: Ingress, at: Time, packet: &Packet<B>, stamp: impl FnOnce(&mut Packet<B>)) {
        let mut packet = *packet;
        stamp(&mut packet);
        let (part, offset) = (to.part(), at.0 - self.end.0);
        let ahead = self.windows_in(offset);
        if ahead + 1 < SLOTS {
            self.push(self.window + 1 + ahead, at, to, &packet);
        } else if part == self.part {
            self.keep_overflow(Overflow { at, to, packet });
        } else {
            self.remote_overflow[part].push(Overflow { at, to, packet });
        }
    }

    /// Adds a packet that arrives in `window`.
    fn push(&mut self, window: u64, at: Time, to: Ingress, packet: &Packet<B>) {
        self.rings[to.part()][slot(window)].push(at, to, packet, &mut self.pool);
    }

    /// Merges packets of other parts that arrive in this part in `window`.
    pub(super) fn merge(&mut self, window: u64, sent: &mut Bucket<B>) {
        self.rings[self.part][slot(window)].append(sent, &mut self.pool);
    }

    /// Stores a packet to this part that arrives beyond the ring, or did when it was sent.
    pub(super) fn keep_overflow(&mut self, far: Overflow<B>) {
        let at = far.at;
        let place = match self.overflow_free.pop() {
            Some(place) => place,
            None => {
                self.overflow_packets.push(None);
                self.overflow_packets.len() as u64 - 1
            }
        };
        self.overflow_packets[place as usize] = Some(far);
        self.far.push(Reverse((at, place)));
    }

    /// Distributes the arrivals of the current window, and sets `nodes` to the nodes that run in it, in order, or
    /// rearranged by `arrange`.
    pub(super) fn distribute(
        &mut self,
        batches: &mut ArrivalBatches<B>,
        nodes: &mut Vec<NodeId>,
        arrange: impl FnOnce(&mut Vec<NodeId>),
    ) {
        let slot = slot(self.window);
        let mut bucket = std::mem::take(&mut self.rings[self.part][slot]);
        nodes.clear();
        for (w, bits) in self.active_nodes[slot * self.words..][..self.words].iter_mut().enumerate() {
            nodes_of(w, std::mem::take(bits) | bucket.take_active(w)).for_each(|node| nodes.push(node));
        }
        arrange(nodes);
        batches.distribute(bucket, Time(self.end.0 - self.length));
    }

    /// Ends the current window after nodes have run up to `end`: later arrivals stay in flight.
    pub(super) fn restore(&mut self, batches: &mut ArrivalBatches<B>, end: Time) {
        let mut bucket = batches.take_bucket();
        if end < self.end {
            bucket.keep_from(end, Time(self.end.0 - self.length));
            self.rings[self.part][slot(self.window)] = bucket;
        } else {
            bucket.end(&mut self.pool);
        }
    }

    /// Returns the packets to `part` in `window`, which is in the ring.
    pub(super) fn bucket(&mut self, part: usize, window: u64) -> &mut Bucket<B> {
        &mut self.rings[part][slot(window)]
    }

    /// Returns the packets to `part` beyond the ring.
    pub(super) fn remote_overflow(&mut self, part: usize) -> &mut Vec<Overflow<B>> {
        &mut self.remote_overflow[part]
    }

    /// Returns the length of a window, in picoseconds.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Returns the window that contains an instant.
    pub(super) fn window_of(&self, at: Time) -> u64 {
        at.0 / self.length
    }

    /// Schedules `node` to run at `at`, after this window.
    #[inline]
    pub(crate) fn wake(&mut self, node: NodeId, at: Time) {
        if at < Time(self.end.0 + self.length) {
            // The common case, without a division.
            self.set_alive(node, self.window + u64::from(at >= self.end));
        } else if at != Time::NEVER {
            self.wake_later(node, at);
        }
    }

    #[inline(never)]
    fn wake_later(&mut self, node: NodeId, at: Time) {
        let offset = at.0 - self.end.0;
        let window = match offset {
            0..NEAR => self.window + 1 + self.windows_in(offset),
            _ => at.0 / self.length,
        };
        if window < self.window + SLOTS {
            self.set_alive(node, window);
        } else if window < self.far_wake[node.index()] {
            self.far_wake[node.index()] = window;
            self.far_wakes.push(Reverse((window, node.0)));
        }
    }

    /// Returns the first window at or after `from` in which a node or the controller runs.
    pub(super) fn next_window(&self, from: u64) -> Option<u64> {
        let active_nodes = |&w: &u64| {
            let slot = slot(w);
            self.rings.iter().any(|ring| !ring[slot].is_empty())
                || self.active_nodes[slot * self.words..][..self.words].iter().any(|&bits| bits != 0)
        };
        if active_nodes(&from) {
            return Some(from);
        }
        let near = (from + 1..from + SLOTS).find(active_nodes);
        let remote = self.remote_overflow.iter().flatten().map(|far| far.at.0 / self.length).min();
        let packet = self.far.peek().map(|Reverse((at, _))| at.0 / self.length);
        let wake = self.far_wakes.peek().map(|&Reverse((window, _))| window);
        let control =
            Some(self.control_plane.next()).filter(|&at| at != Time::NEVER).map(|at| at.0 / self.length);
        [near, remote, packet, wake, control].into_iter().flatten().min()
    }

    /// Makes `window` the current one and moves events that are now in reach into the ring.
    pub(super) fn enter(&mut self, window: u64) {
        self.window = window;
        self.end = Time((window + 1) * self.length);
        let reach = window + SLOTS;
        while let Some(&Reverse((at, place))) = self.far.peek() {
            let due = at.0 / self.length;
            if due >= reach {
                break;
            }
            self.far.pop();
            self.overflow_free.push(place);
            if let Some(Overflow { to, packet, .. }) = self.overflow_packets[place as usize].take() {
                self.push(due, at, to, &packet);
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

    /// Iterates over all packets in flight, in the ring and beyond.
    pub(super) fn on_links(&self) -> impl Iterator<Item = &Packet<B>> {
        let near = self.rings.iter().flatten().flat_map(Bucket::packets);
        near.chain(self.overflow_packets.iter().flatten().map(|far| &far.packet))
    }
}
