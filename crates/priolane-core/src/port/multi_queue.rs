//! Several FIFO queues that share a link, and the order in which they are served.
//!
//! Admission and marking are the same for all orders; [`Order`] picks the queue to serve next. The order is
//! notified when a packet becomes the head of a queue and when a queue is served, so an arrival behind other
//! packets costs nothing.

use super::backlog::{Backlog, Bounds};
use super::{Admission, Buffer, Discipline, PortSink, SortBy};
use crate::chunked_queue::ChunkedQueue;
use crate::ids::{CLASSES, Class, ClassSet};
use crate::packet::{Header, QueueItem};
use crate::units::Time;

/// Picks which of several non-empty queues is served next.
pub trait Order: std::fmt::Debug + Send {
    /// Called when a packet of `wire` bytes arrives at queue `q`, which was empty.
    fn begin(&mut self, q: usize, wire: u16);

    /// Returns the queue to serve now, among those whose bit is set in `occupied`, which is not 0.
    fn pick(&mut self, occupied: u32) -> usize;

    /// Called when the first packet of queue `q` was dequeued; `next` is the size of the one behind it, `None` if
    /// there is none.
    fn served(&mut self, q: usize, next: Option<u16>);

    /// Called for queue `q`, whose first packet has `wire` bytes, if it is paused and took no part in the last
    /// `pick`. Default: ignored.
    #[inline]
    fn passed_over(&mut self, q: usize, wire: u16) {
        let _ = (q, wire);
    }

    /// Called when nothing is queued and the link is free. Default: ignored.
    #[inline]
    fn idle(&mut self) {}
}

/// The time of a packet-hop through several queues, divided by that through one FIFO queue: 1.2 to 1.3 was measured with
/// three and eight queues.
pub(super) const COST: f64 = 1.25;

#[derive(Debug)]
pub(super) struct Queue<P> {
    pub(super) items: ChunkedQueue<P>,
    pub(super) backlog: Backlog,
}

/// Up to 16 queues served in the order `O`, without preemption.
#[derive(Debug)]
pub struct MultiQueue<P, O> {
    pub(super) queues: Vec<Queue<P>>,
    /// Bit `q` is set while queue `q` holds a packet.
    pub(super) occupied: u32,
    pub(super) total: Backlog,
    pub(super) bounds: Bounds,
    map: [u8; CLASSES],
    sort_by: SortBy,
    pub(super) order: O,
}

/// The mapping of packets to queues, and the number of queues.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sorting {
    pub(super) queues: u8,
    pub(super) map: [u8; CLASSES],
    pub(super) by: SortBy,
}

/// Returns the queue of `class` among `queues` queues.
pub(super) fn mapped(map: &[u8; CLASSES], queues: u8, class: Class) -> u8 {
    map[usize::from(class) % CLASSES].min(queues.saturating_sub(1))
}

impl<P: QueueItem, O: Order> MultiQueue<P, O> {
    pub(super) fn in_order(sorting: Sorting, buffer: Buffer, order: O) -> Self {
        let last = sorting.queues.clamp(1, CLASSES as u8) - 1;
        let queue = || Queue { items: ChunkedQueue::default(), backlog: Backlog::default() };
        Self {
            queues: (0..=last).map(|_| queue()).collect(),
            occupied: 0,
            total: Backlog::default(),
            bounds: buffer.into(),
            map: sorting.map.map(|q| q.min(last)),
            sort_by: sorting.by,
            order,
        }
    }

    #[inline]
    pub(super) fn queue_of(&self, header: &Header) -> usize {
        let key = match self.sort_by {
            SortBy::Class => header.class,
            SortBy::HostLevel => header.host_level,
        };
        usize::from(self.map[usize::from(key) % CLASSES])
    }

    /// Dequeues the first packet of queue `q`.
    #[inline]
    fn take(&mut self, q: usize) -> Option<&P> {
        let queue = self.queues.get_mut(q)?;
        let wire = queue.items.first()?.header().wire;
        queue.backlog.remove(wire);
        self.total.remove(wire);
        if queue.backlog.packets == 0 {
            self.occupied &= !(1 << q);
        }
        let next = queue.items.second().map(|next| next.header().wire);
        self.order.served(q, next);
        queue.items.pop()
    }

    /// Returns the queues whose first packet is of a class in `paused`.
    fn held(&self, paused: ClassSet) -> u32 {
        let is_held = |queue: &Queue<P>| queue.items.first().is_some_and(|p| paused.has(p.header().class));
        let bit = |(q, queue)| u32::from(is_held(queue)) << q;
        self.queues.iter().enumerate().map(bit).sum()
    }
}

impl<P: QueueItem, O: Order> Discipline<P> for MultiQueue<P, O> {
    #[inline]
    fn enqueue(&mut self, _now: Time, item: &P, _out: &mut dyn PortSink<P>) -> Admission {
        let header = item.header();
        let q = self.queue_of(header);
        let queue = &mut self.queues[q];
        let admission = self.bounds.admit(self.total, queue.backlog, header);
        if admission != Admission::Dropped {
            if queue.backlog.packets == 0 {
                self.order.begin(q, header.wire);
            }
            self.total.add(header.wire);
            queue.backlog.add(header.wire);
            admission.mark(queue.items.push(item));
            self.occupied |= 1 << q;
        }
        admission
    }

    #[inline]
    fn try_bypass(&mut self, _now: Time, header: &Header) -> Option<Admission> {
        self.order.idle();
        Some(self.bounds.admit_alone(header))
    }

    #[inline]
    fn next_eligible_time(&self) -> Option<Time> {
        if self.occupied == 0 { None } else { Some(Time::ZERO) }
    }

    #[inline]
    fn dequeue(&mut self, _t: Time, _out: &mut dyn PortSink<P>) -> Option<&P> {
        if self.occupied == 0 {
            return None;
        }
        let q = self.order.pick(self.occupied);
        self.take(q)
    }

    #[inline]
    fn packets(&self) -> u32 {
        self.total.packets
    }

    #[inline]
    fn bytes(&self) -> u64 {
        self.total.bytes
    }

    #[inline]
    fn bytes_before(&self, header: &Header) -> u64 {
        self.queues[self.queue_of(header)].backlog.bytes
    }

    fn packets_before(&self, header: &Header) -> u32 {
        self.queues[self.queue_of(header)].backlog.packets
    }

    fn is_ready(&self, paused: ClassSet) -> bool {
        self.occupied & !self.held(paused) != 0
    }

    fn dequeue_unpaused(&mut self, _t: Time, paused: ClassSet, _out: &mut dyn PortSink<P>) -> Option<&P> {
        let held = self.held(paused);
        let ready = self.occupied & !held;
        if ready == 0 {
            return None;
        }
        let q = self.order.pick(ready);
        for (other, queue) in self.queues.iter().enumerate().filter(|&(other, _)| held & 1 << other != 0) {
            if let Some(first) = queue.items.first() {
                self.order.passed_over(other, first.header().wire);
            }
        }
        self.take(q)
    }
}
