//! A FIFO queue.

use super::backlog::{Backlog, Bounds};
use super::{
    Admission, Buffer, Discipline, KindRules, OfKind, PortContext, PortFactory, PortSetup, PortSink,
};
use crate::chunked_queue::ChunkedQueue;
use crate::ids::ClassSet;
use crate::keys::Keys;
use crate::packet::{Header, QueueItem};
use crate::part::Part;
use crate::units::Time;

/// A FIFO queue; it has no parameters but the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys, Part)]
#[part(
    name = "fifo",
    summary = "one first-in first-out queue for all classes",
    source = "docs/assumptions.md#ports",
    provides = [ClassPause],
    serves = "have one queue",
    example = r#"buffer = { shared = "240pkt" }"#
)]
pub struct FifoSpec;

impl OfKind for FifoSpec {
    type Spec = Self;

    fn discipline(&self, _: &PortSetup<'_>) -> Self::Spec {
        *self
    }
}

impl KindRules for FifoSpec {}

impl PortFactory for FifoSpec {
    type Port<P: QueueItem> = Fifo<P>;

    fn build<P: QueueItem>(&self, context: &PortContext) -> Fifo<P> {
        Fifo::new(context.buffer)
    }

    fn is_pausable(&self) -> bool {
        true
    }
}

/// A FIFO queue with tail drop and threshold marking.
#[derive(Debug)]
pub struct Fifo<P> {
    queue: ChunkedQueue<P>,
    bytes: u64,
    bounds: Bounds,
}

impl<P: QueueItem> Fifo<P> {
    /// Creates an empty queue with this buffer; the scope of the limits has no effect.
    pub fn new(buffer: Buffer) -> Self {
        Self { queue: ChunkedQueue::default(), bytes: 0, bounds: buffer.into() }
    }
}

impl<P: QueueItem> Discipline<P> for Fifo<P> {
    // Inlined as measured: a call costs half of the work, and needs the sink in memory, which a FIFO never uses.
    #[inline(always)]
    fn enqueue(&mut self, _now: Time, item: &P, _out: &mut dyn PortSink<P>) -> Admission {
        let header = item.header();
        let backlog = Backlog { packets: self.queue.len(), bytes: self.bytes };
        let admission = self.bounds.decide(backlog, backlog, header);
        if admission != Admission::Dropped {
            self.bytes += u64::from(header.wire);
            admission.mark(self.queue.push(item));
        }
        admission
    }

    #[inline]
    fn try_bypass(&mut self, _now: Time, header: &Header) -> Option<Admission> {
        Some(self.bounds.admit_alone(header))
    }

    #[inline]
    fn prefetch(&self) {
        self.queue.prefetch();
    }

    #[inline]
    fn next_eligible_time(&self) -> Option<Time> {
        if self.queue.is_empty() { None } else { Some(Time::ZERO) }
    }

    #[inline]
    fn dequeue(&mut self, _t: Time, _out: &mut dyn PortSink<P>) -> Option<&P> {
        let item = self.queue.pop()?;
        self.bytes -= u64::from(item.header().wire);
        Some(item)
    }

    #[inline]
    fn packets(&self) -> u32 {
        self.queue.len()
    }

    #[inline]
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn is_ready(&self, paused: ClassSet) -> bool {
        self.queue.first().is_some_and(|first| !paused.has(first.header().class))
    }

    fn dequeue_unpaused(&mut self, t: Time, paused: ClassSet, out: &mut dyn PortSink<P>) -> Option<&P> {
        if self.is_ready(paused) { self.dequeue(t, out) } else { None }
    }
}
