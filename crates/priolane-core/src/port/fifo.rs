//! One queue, first in, first out.

use std::collections::VecDeque;

use super::backlog::{Backlog, admit};
use super::{Admission, Buffer, Discipline};
use crate::packet::{Body, Packet};
use crate::units::Time;

/// A first-in first-out queue with tail drop and threshold marking.
#[derive(Debug)]
pub struct Fifo<B> {
    queue: VecDeque<Packet<B>>,
    backlog: Backlog,
    buffer: Buffer,
}

impl<B: Body> Fifo<B> {
    /// An empty queue with this buffer; the scope of its limits makes no difference.
    pub fn new(buffer: Buffer) -> Self {
        Self { queue: VecDeque::new(), backlog: Backlog::default(), buffer }
    }
}

impl<B: Body> Discipline<B> for Fifo<B> {
    #[inline]
    fn enqueue(&mut self, _now: Time, mut packet: Packet<B>) -> Admission {
        let admission = admit(&self.buffer, self.backlog, self.backlog, &mut packet);
        if admission != Admission::Dropped {
            self.backlog.add(packet.header.wire);
            self.queue.push_back(packet);
        }
        admission
    }

    #[inline]
    fn pass(&mut self, _now: Time, packet: &mut Packet<B>) -> Option<Admission> {
        Some(admit(&self.buffer, Backlog::default(), Backlog::default(), packet))
    }

    #[inline]
    fn next_start(&self) -> Option<Time> {
        if self.queue.is_empty() { None } else { Some(Time::ZERO) }
    }

    #[inline]
    fn start(&mut self, _t: Time) -> Option<Packet<B>> {
        let packet = self.queue.pop_front()?;
        self.backlog.remove(packet.header.wire);
        Some(packet)
    }

    fn packets(&self) -> u32 {
        self.backlog.packets
    }

    fn bytes(&self) -> u64 {
        self.backlog.bytes
    }
}
