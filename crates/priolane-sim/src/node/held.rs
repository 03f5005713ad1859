//! Queues of a switch with lossless classes: packets wait with the place they came from.

use priolane_core::ids::ClassSet;
use priolane_core::packet::{Body, Header, Packet, Parcel};
use priolane_core::port::{Admission, Buffer, Discipline, Fifo, Limit, Pausable, SortBy, Strict, Wfq};
use priolane_core::units::Time;

use crate::scenario::{PortSpec, Queues};

/// A packet that waits, and the ingress port it came by.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Held<B> {
    pub(crate) packet: Packet<B>,
    pub(crate) from: u32,
}

impl<B: Body> Parcel for Held<B> {
    #[inline]
    fn header(&self) -> &Header {
        &self.packet.header
    }

    #[inline]
    fn header_mut(&mut self) -> &mut Header {
        &mut self.packet.header
    }
}

/// The queues of a port, one or several; the switch's memory is their only limit.
#[derive(Debug)]
pub(crate) enum HeldQueue<B: Body> {
    Fifo(Fifo<Held<B>>),
    Strict(Strict<Held<B>>),
    Wfq(Box<Wfq<Held<B>>>),
}

impl<B: Body> HeldQueue<B> {
    /// Empty queues. Those that cannot be paused are refused before a run.
    pub(crate) fn new(spec: &PortSpec) -> Self {
        let buffer = Buffer { limit: Limit::Unlimited, ..spec.buffer };
        match spec.queues {
            Queues::Strict { queues, map } => Self::Strict(Strict::new(queues, map, SortBy::Class, buffer)),
            Queues::Wfq { weights, map } => {
                Self::Wfq(Box::new(Wfq::new(&weights, map, SortBy::Class, buffer)))
            }
            _ => Self::Fifo(Fifo::new(buffer)),
        }
    }

    /// What would become of a packet that finds the queues empty and the line free, if it need not be stored.
    pub(crate) fn pass(&mut self, now: Time, header: &Header) -> Option<Admission> {
        match self {
            Self::Fifo(q) => q.pass(now, header),
            Self::Strict(q) => q.pass(now, header),
            Self::Wfq(q) => q.pass(now, header),
        }
    }

    pub(crate) fn enqueue(&mut self, now: Time, held: &Held<B>) -> Admission {
        match self {
            Self::Fifo(q) => q.enqueue(now, held, &mut ()),
            Self::Strict(q) => q.enqueue(now, held, &mut ()),
            Self::Wfq(q) => q.enqueue(now, held, &mut ()),
        }
    }

    pub(crate) fn start_unpaused(&mut self, t: Time, paused: ClassSet) -> Option<&Held<B>> {
        match self {
            Self::Fifo(q) => q.start_unpaused(t, paused),
            Self::Strict(q) => q.start_unpaused(t, paused),
            Self::Wfq(q) => q.start_unpaused(t, paused),
        }
    }

    pub(crate) fn packets(&self) -> u32 {
        match self {
            Self::Fifo(q) => q.packets(),
            Self::Strict(q) => q.packets(),
            Self::Wfq(q) => q.packets(),
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::Fifo(q) => q.bytes(),
            Self::Strict(q) => q.bytes(),
            Self::Wfq(q) => q.bytes(),
        }
    }

    pub(crate) fn bytes_before(&self, header: &Header) -> u64 {
        match self {
            Self::Fifo(q) => q.bytes_before(header),
            Self::Strict(q) => q.bytes_before(header),
            Self::Wfq(q) => q.bytes_before(header),
        }
    }

    /// Takes out what is left at the end of a run.
    pub(crate) fn drain(&mut self, at: Time, mut take: impl FnMut(&Held<B>)) {
        while let Some(held) = self.start_unpaused(at, ClassSet::NONE) {
            take(held);
        }
    }
}
