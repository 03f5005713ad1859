//! Strict priority over one buffer in which better packets push out worse ones.
//!
//! A packet that does not fit evicts packets from the tail of the worst non-empty queue, as long as that queue is
//! strictly worse than its own, until it fits; it is dropped itself, and evicts nothing, where that would not
//! suffice. So no backlog of a worse queue ever costs a better one a packet, which a buffer with tail drop does
//! not promise. Equals do not push out each other (docs/assumptions.md#push-out).

use super::{Admission, Buffer, Discipline, PortSink, Scope, SortBy, Strict};
use crate::ids::CLASSES;
use crate::packet::{Header, Parcel};
use crate::units::Time;

/// N queues served in strict order, 0 first, that share a buffer by push-out.
#[derive(Debug)]
pub struct PushOut<P> {
    queues: Strict<P>,
}

impl<P: Parcel> PushOut<P> {
    /// `queues` empty queues (1 to 16); `map` as that of [`Strict::new`]. The limit of `buffer` counts the whole
    /// port, whatever its scope says.
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
            && let Some(parcel) = self.queues.evict_worse_than(header)
        {
            out.evicted(parcel);
        }
    }
}

impl<P: Parcel> Discipline<P> for PushOut<P> {
    #[inline]
    fn enqueue(&mut self, now: Time, parcel: &P, out: &mut dyn PortSink<P>) -> Admission {
        if !self.queues.fits(parcel.header()) {
            self.make_room(parcel.header(), out);
        }
        self.queues.enqueue(now, parcel, out)
    }

    #[inline]
    fn pass(&mut self, now: Time, header: &Header) -> Option<Admission> {
        self.queues.pass(now, header)
    }

    #[inline]
    fn next_start(&self) -> Option<Time> {
        self.queues.next_start()
    }

    #[inline]
    fn start(&mut self, t: Time, out: &mut dyn PortSink<P>) -> Option<&P> {
        self.queues.start(t, out)
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
}

#[cfg(test)]
mod tests;
