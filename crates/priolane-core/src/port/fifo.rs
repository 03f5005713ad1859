//! One queue, first in, first out.

use super::backlog::{Backlog, Bounds};
use super::{Admission, Buffer, Discipline, Pausable, PortSink};
use crate::ids::ClassSet;
use crate::packet::{Header, Parcel};
use crate::ring::Ring;
use crate::units::Time;

/// A first-in first-out queue with tail drop and threshold marking.
#[derive(Debug)]
pub struct Fifo<P> {
    queue: Ring<P>,
    bytes: u64,
    bounds: Bounds,
}

impl<P: Parcel> Fifo<P> {
    /// An empty queue with this buffer; the scope of its limits makes no difference.
    pub fn new(buffer: Buffer) -> Self {
        Self { queue: Ring::default(), bytes: 0, bounds: buffer.into() }
    }
}

impl<P: Parcel> Discipline<P> for Fifo<P> {
    #[inline]
    fn enqueue(&mut self, _now: Time, parcel: &P, _out: &mut dyn PortSink<P>) -> Admission {
        let header = parcel.header();
        let backlog = Backlog { packets: self.queue.len(), bytes: self.bytes };
        let admission = self.bounds.decide(backlog, backlog, header);
        if admission != Admission::Dropped {
            self.bytes += u64::from(header.wire);
            admission.mark(self.queue.push(parcel));
        }
        admission
    }

    #[inline]
    fn pass(&mut self, _now: Time, header: &Header) -> Option<Admission> {
        Some(self.bounds.admit_alone(header))
    }

    #[inline]
    fn next_start(&self) -> Option<Time> {
        if self.queue.is_empty() { None } else { Some(Time::ZERO) }
    }

    #[inline]
    fn start(&mut self, _t: Time, _out: &mut dyn PortSink<P>) -> Option<&P> {
        let parcel = self.queue.pop()?;
        self.bytes -= u64::from(parcel.header().wire);
        Some(parcel)
    }

    #[inline]
    fn packets(&self) -> u32 {
        self.queue.len()
    }

    #[inline]
    fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl<P: Parcel> Pausable<P> for Fifo<P> {
    fn is_ready(&self, paused: ClassSet) -> bool {
        self.queue.first().is_some_and(|first| !paused.has(first.header().class))
    }

    fn start_unpaused(&mut self, t: Time, paused: ClassSet) -> Option<&P> {
        if self.is_ready(paused) { self.start(t, &mut ()) } else { None }
    }
}
