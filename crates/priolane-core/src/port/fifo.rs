//! One queue, first in, first out.

use super::backlog::{Backlog, admit, admit_alone};
use super::{Admission, Buffer, Discipline};
use crate::packet::{Header, Parcel};
use crate::ring::Ring;
use crate::units::Time;

/// A first-in first-out queue with tail drop and threshold marking.
#[derive(Debug)]
pub struct Fifo<P> {
    queue: Ring<P>,
    backlog: Backlog,
    buffer: Buffer,
}

impl<P: Parcel> Fifo<P> {
    /// An empty queue with this buffer; the scope of its limits makes no difference.
    pub fn new(buffer: Buffer) -> Self {
        Self { queue: Ring::default(), backlog: Backlog::default(), buffer }
    }
}

impl<P: Parcel> Discipline<P> for Fifo<P> {
    #[inline]
    fn enqueue(&mut self, _now: Time, parcel: &P) -> Admission {
        let header = parcel.header();
        let admission = admit(&self.buffer, self.backlog, self.backlog, header);
        if admission != Admission::Dropped {
            self.backlog.add(header.wire);
            admission.mark(self.queue.push(parcel));
        }
        admission
    }

    #[inline]
    fn pass(&mut self, _now: Time, header: &Header) -> Option<Admission> {
        Some(admit_alone(&self.buffer, header))
    }

    #[inline]
    fn next_start(&self) -> Option<Time> {
        if self.queue.is_empty() { None } else { Some(Time::ZERO) }
    }

    #[inline]
    fn start(&mut self, _t: Time) -> Option<&P> {
        let parcel = self.queue.pop()?;
        self.backlog.remove(parcel.header().wire);
        Some(parcel)
    }

    #[inline]
    fn packets(&self) -> u32 {
        self.backlog.packets
    }

    #[inline]
    fn bytes(&self) -> u64 {
        self.backlog.bytes
    }
}
