//! Strict priority: the first non-empty queue is served, at each packet boundary (NOS2 §III-A).

use super::backlog::{Backlog, admit, admit_alone};
use super::{Admission, Buffer, Discipline, SortBy};
use crate::ids::CLASSES;
use crate::packet::{Header, Parcel};
use crate::ring::Ring;
use crate::units::Time;

#[derive(Debug)]
struct Queue<P> {
    parcels: Ring<P>,
    backlog: Backlog,
}

/// N queues served in strict order, 0 first, without preemption.
#[derive(Debug)]
pub struct Strict<P> {
    queues: Vec<Queue<P>>,
    /// Bit `q` is set while queue `q` holds a packet.
    occupied: u32,
    total: Backlog,
    buffer: Buffer,
    map: [u8; CLASSES],
    sort_by: SortBy,
}

impl<P: Parcel> Strict<P> {
    /// `queues` empty queues (1 to 16). `map` gives the queue of each class; entries beyond the last queue
    /// mean the last.
    pub fn new(queues: u8, map: [u8; CLASSES], sort_by: SortBy, buffer: Buffer) -> Self {
        let last = queues.clamp(1, CLASSES as u8) - 1;
        let queue = || Queue { parcels: Ring::default(), backlog: Backlog::default() };
        Self {
            queues: (0..=last).map(|_| queue()).collect(),
            occupied: 0,
            total: Backlog::default(),
            buffer,
            map: map.map(|q| q.min(last)),
            sort_by,
        }
    }

    #[inline]
    fn queue_of(&self, header: &Header) -> usize {
        let key = match self.sort_by {
            SortBy::Class => header.class,
            SortBy::HostLevel => header.host_level,
        };
        usize::from(self.map[usize::from(key) % CLASSES])
    }

    /// Whether the port has room for a packet.
    #[inline]
    pub(super) fn fits(&self, header: &Header) -> bool {
        !self.total.exceeds_with(header.wire, self.buffer.limit)
    }

    /// Whether the port would have room for a packet if all queues worse than the packet's were empty.
    pub(super) fn fits_without_worse(&self, header: &Header) -> bool {
        let worse = &self.queues[self.queue_of(header) + 1..];
        let rest = worse.iter().fold(self.total, |rest, queue| rest.without(queue.backlog));
        !rest.exceeds_with(header.wire, self.buffer.limit)
    }

    /// Takes out the last packet of the worst non-empty queue, if that is worse than the packet's of `header`.
    pub(super) fn evict_worse_than(&mut self, header: &Header) -> Option<&P> {
        let q = self.occupied.checked_ilog2()? as usize;
        if q <= self.queue_of(header) {
            return None;
        }
        let queue = &mut self.queues[q];
        let parcel = queue.parcels.pop_last()?;
        queue.backlog.remove(parcel.header().wire);
        self.total.remove(parcel.header().wire);
        if queue.backlog.packets == 0 {
            self.occupied &= !(1 << q);
        }
        Some(parcel)
    }
}

impl<P: Parcel> Discipline<P> for Strict<P> {
    #[inline]
    fn enqueue(&mut self, _now: Time, parcel: &P) -> Admission {
        let header = parcel.header();
        let q = self.queue_of(header);
        let queue = &mut self.queues[q];
        let admission = admit(&self.buffer, self.total, queue.backlog, header);
        if admission != Admission::Dropped {
            self.total.add(header.wire);
            queue.backlog.add(header.wire);
            admission.mark(queue.parcels.push(parcel));
            self.occupied |= 1 << q;
        }
        admission
    }

    #[inline]
    fn pass(&mut self, _now: Time, header: &Header) -> Option<Admission> {
        Some(admit_alone(&self.buffer, header))
    }

    #[inline]
    fn next_start(&self) -> Option<Time> {
        if self.occupied == 0 { None } else { Some(Time::ZERO) }
    }

    #[inline]
    fn start(&mut self, _t: Time) -> Option<&P> {
        let q = self.occupied.trailing_zeros() as usize;
        let queue = self.queues.get_mut(q)?;
        let parcel = queue.parcels.pop()?;
        queue.backlog.remove(parcel.header().wire);
        self.total.remove(parcel.header().wire);
        if queue.backlog.packets == 0 {
            self.occupied &= !(1 << q);
        }
        Some(parcel)
    }

    #[inline]
    fn packets(&self) -> u32 {
        self.total.packets
    }

    #[inline]
    fn bytes(&self) -> u64 {
        self.total.bytes
    }
}
