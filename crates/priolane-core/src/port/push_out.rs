//! Strict priority with one shared buffer, in which better packets push out worse ones.
//!
//! A packet that does not fit evicts packets from the tail of the worst non-empty queue until it fits, as long as
//! that queue is strictly worse than its own. If that would not suffice, the packet itself is dropped and nothing
//! is evicted. So the backlog of a worse queue never causes a drop in a better one, which tail drop does not
//! guarantee. Equal packets do not push out each other (docs/assumptions.md#push-out).

use super::multi_queue::{self, mapped};
use super::{
    Admission, Buffer, BufferSpec, Discipline, Either, OfKind, PortContext, PortFactory, PortSetup, PortSink,
    Scope, SortBy, Strict, StrictSpec,
};
use crate::ids::{CLASSES, Class};
use crate::packet::{Header, QueueItem};
use crate::units::Time;

/// Strict priority over several queues, 0 first, that share a buffer with push-out. The buffer limit applies to all
/// queues together, regardless of its scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PushOutSpec {
    /// Number of queues, 1 to 16.
    pub queues: u8,
    /// The queue of each class, or of each level at a host; larger values mean the last queue.
    pub map: [u8; CLASSES],
}

/// A strict port with a push-out buffer uses [`PushOut`].
impl OfKind for StrictSpec {
    type Spec = Either<StrictSpec, PushOutSpec>;

    fn discipline(&self, setup: &PortSetup<'_>) -> Self::Spec {
        let (queues, map) = (self.queues, setup.map);
        match setup.buffer {
            BufferSpec::PushOut { .. } => Either::Second(PushOutSpec { queues, map }),
            _ => Either::First(StrictSpec { queues, map }),
        }
    }
}

impl PortFactory for PushOutSpec {
    type Port<P: QueueItem> = PushOut<P>;

    fn build<P: QueueItem>(&self, context: &PortContext) -> PushOut<P> {
        PushOut::new(self.queues, self.map, context.sort_by, context.buffer)
    }

    fn queue_of(&self, class: Class) -> u8 {
        mapped(&self.map, self.queues, class)
    }

    fn cost(&self) -> f64 {
        multi_queue::COST
    }

    fn without_qdisc(&self) -> &'static str {
        "ports where better packets push out worse ones: no qdisc does"
    }
}

/// N queues served in strict order, 0 first, that share a buffer with push-out.
#[derive(Debug)]
pub struct PushOut<P> {
    queues: Strict<P>,
}

impl<P: QueueItem> PushOut<P> {
    /// Creates `queues` empty queues (1 to 16); `map` is as in [`Strict::new`]. The limit of `buffer` applies to
    /// the whole port, regardless of its scope.
    pub fn new(queues: u8, map: [u8; CLASSES], sort_by: SortBy, buffer: Buffer) -> Self {
        let buffer = Buffer { limit_scope: Scope::Port, ..buffer };
        Self { queues: Strict::new(queues, map, sort_by, buffer) }
    }

    #[cold]
    fn make_room(&mut self, header: &Header, out: &mut dyn PortSink<P>) {
        if !self.queues.fits_without_worse(header) {
            return;
        }
        while !self.queues.fits(header)
            && let Some(item) = self.queues.evict_worse_than(header)
        {
            out.evicted(item);
        }
    }
}

impl<P: QueueItem> Discipline<P> for PushOut<P> {
    #[inline]
    fn enqueue(&mut self, now: Time, item: &P, out: &mut dyn PortSink<P>) -> Admission {
        if !self.queues.fits(item.header()) {
            self.make_room(item.header(), out);
        }
        self.queues.enqueue(now, item, out)
    }

    #[inline]
    fn try_bypass(&mut self, now: Time, header: &Header) -> Option<Admission> {
        self.queues.try_bypass(now, header)
    }

    #[inline]
    fn next_eligible_time(&self) -> Option<Time> {
        self.queues.next_eligible_time()
    }

    #[inline]
    fn dequeue(&mut self, t: Time, out: &mut dyn PortSink<P>) -> Option<&P> {
        self.queues.dequeue(t, out)
    }

    #[inline]
    fn packets(&self) -> u32 {
        self.queues.packets()
    }

    #[inline]
    fn bytes(&self) -> u64 {
        self.queues.bytes()
    }

    #[inline]
    fn bytes_before(&self, header: &Header) -> u64 {
        self.queues.bytes_before(header)
    }

    fn packets_before(&self, header: &Header) -> u32 {
        self.queues.packets_before(header)
    }
}

#[cfg(test)]
mod tests;
