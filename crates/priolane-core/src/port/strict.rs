//! Strict priority: the first non-empty queue is served, at each packet boundary (NOS2 §III-A).

use std::collections::VecDeque;

use super::backlog::{Backlog, admit};
use super::{Admission, Buffer, Discipline, SortBy};
use crate::ids::CLASSES;
use crate::packet::{Body, Packet};
use crate::units::Time;

#[derive(Debug)]
struct Queue<B> {
    packets: VecDeque<Packet<B>>,
    backlog: Backlog,
}

/// N queues served in strict order, 0 first, without preemption.
#[derive(Debug)]
pub struct Strict<B> {
    queues: Vec<Queue<B>>,
    /// Bit `q` is set while queue `q` holds a packet.
    occupied: u32,
    total: Backlog,
    buffer: Buffer,
    map: [u8; CLASSES],
    sort_by: SortBy,
}

impl<B: Body> Strict<B> {
    /// `queues` empty queues (1 to 16). `map` gives the queue of each class; entries beyond the last queue
    /// mean the last.
    pub fn new(queues: u8, map: [u8; CLASSES], sort_by: SortBy, buffer: Buffer) -> Self {
        let last = queues.clamp(1, CLASSES as u8) - 1;
        let queue = || Queue { packets: VecDeque::new(), backlog: Backlog::default() };
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
    fn queue_of(&self, packet: &Packet<B>) -> usize {
        let key = match self.sort_by {
            SortBy::Class => packet.header.class,
            SortBy::HostLevel => packet.header.host_level,
        };
        usize::from(self.map[usize::from(key) % CLASSES])
    }
}

impl<B: Body> Discipline<B> for Strict<B> {
    #[inline]
    fn enqueue(&mut self, _now: Time, mut packet: Packet<B>) -> Admission {
        let q = self.queue_of(&packet);
        let admission = admit(&self.buffer, self.total, self.queues[q].backlog, &mut packet);
        if admission != Admission::Dropped {
            self.total.add(packet.header.wire);
            self.queues[q].backlog.add(packet.header.wire);
            self.queues[q].packets.push_back(packet);
            self.occupied |= 1 << q;
        }
        admission
    }

    #[inline]
    fn pass(&mut self, _now: Time, packet: &mut Packet<B>) -> Option<Admission> {
        Some(admit(&self.buffer, Backlog::default(), Backlog::default(), packet))
    }

    #[inline]
    fn next_start(&self) -> Option<Time> {
        if self.occupied == 0 { None } else { Some(Time::ZERO) }
    }

    #[inline]
    fn start(&mut self, _t: Time) -> Option<Packet<B>> {
        let q = self.occupied.trailing_zeros() as usize;
        let queue = self.queues.get_mut(q)?;
        let packet = queue.packets.pop_front()?;
        queue.backlog.remove(packet.header.wire);
        self.total.remove(packet.header.wire);
        if queue.packets.is_empty() {
            self.occupied &= !(1 << q);
        }
        Some(packet)
    }

    fn packets(&self) -> u32 {
        self.total.packets
    }

    fn bytes(&self) -> u64 {
        self.total.bytes
    }
}
