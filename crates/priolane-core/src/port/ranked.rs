//! One queue sorted by the header's rank: the ideal port that schemes are measured against.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::backlog::{Backlog, admit};
use super::{Admission, Buffer, Discipline};
use crate::packet::{Body, Packet};
use crate::units::Time;

#[derive(Debug)]
struct Entry<B> {
    rank: u64,
    arrival: u64,
    packet: Packet<B>,
}

impl<B> PartialEq for Entry<B> {
    fn eq(&self, other: &Self) -> bool {
        (self.rank, self.arrival) == (other.rank, other.arrival)
    }
}

impl<B> Eq for Entry<B> {}

impl<B> PartialOrd for Entry<B> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<B> Ord for Entry<B> {
    /// Reversed: the heap's greatest entry is the smallest rank, the earliest of equals.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.rank, other.arrival).cmp(&(self.rank, self.arrival))
    }
}

/// Serves the smallest rank first, equal ranks in order of arrival; tail drop.
#[derive(Debug)]
pub struct Ranked<B> {
    heap: BinaryHeap<Entry<B>>,
    arrivals: u64,
    backlog: Backlog,
    buffer: Buffer,
}

impl<B: Body> Ranked<B> {
    /// An empty queue with this buffer.
    pub fn new(buffer: Buffer) -> Self {
        Self { heap: BinaryHeap::new(), arrivals: 0, backlog: Backlog::default(), buffer }
    }
}

impl<B: Body> Discipline<B> for Ranked<B> {
    fn enqueue(&mut self, _now: Time, mut packet: Packet<B>) -> Admission {
        let admission = admit(&self.buffer, self.backlog, self.backlog, &mut packet);
        if admission != Admission::Dropped {
            self.backlog.add(packet.header.wire);
            self.arrivals += 1;
            self.heap.push(Entry { rank: packet.header.rank, arrival: self.arrivals, packet });
        }
        admission
    }

    fn pass(&mut self, _now: Time, packet: &mut Packet<B>) -> Option<Admission> {
        Some(admit(&self.buffer, Backlog::default(), Backlog::default(), packet))
    }

    fn next_start(&self) -> Option<Time> {
        if self.heap.is_empty() { None } else { Some(Time::ZERO) }
    }

    fn start(&mut self, _t: Time) -> Option<Packet<B>> {
        let entry = self.heap.pop()?;
        self.backlog.remove(entry.packet.header.wire);
        Some(entry.packet)
    }

    fn packets(&self) -> u32 {
        self.backlog.packets
    }

    fn bytes(&self) -> u64 {
        self.backlog.bytes
    }
}
