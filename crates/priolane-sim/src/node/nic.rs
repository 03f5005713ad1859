//! What stands between a host's transport and its line: nothing, or a transmit queue.

use priolane_core::endpoint::SendId;
use priolane_core::ids::ClassSet;
use priolane_core::packet::{Body, Header, Packet, Parcel};
use priolane_core::port::{
    Admission, Discipline, Fifo, Pausable, PushOut, Ranked, RealTimeWfq, SortBy, Strict, TokenGroup, Wfq,
};
use priolane_core::units::{Rate, Time};

use crate::scenario::{PortSpec, Queues};

/// A packet in a transmit queue, with the name under which the transport wants its transmission time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outgoing<B> {
    pub(crate) packet: Packet<B>,
    pub(crate) id: Option<SendId>,
}

impl<B: Body> Parcel for Outgoing<B> {
    #[inline]
    fn header(&self) -> &Header {
        &self.packet.header
    }

    #[inline]
    fn header_mut(&mut self) -> &mut Header {
        &mut self.packet.header
    }
}

/// A host's transmit queue.
#[derive(Debug)]
pub(crate) enum TransmitQueue<B: Body> {
    Fifo(Fifo<Outgoing<B>>),
    Strict(Strict<Outgoing<B>>),
    PushOut(PushOut<Outgoing<B>>),
    Ranked(Ranked<Outgoing<B>>),
    Wfq(Box<Wfq<Outgoing<B>>>),
    RealTimeWfq(Box<RealTimeWfq<Outgoing<B>>>),
    Tokens(Box<TokenGroup<Outgoing<B>>>),
}

impl<B: Body> TransmitQueue<B> {
    /// An empty queue in front of a line of `rate`. No port that is rate-limited, trims or refuses by rank is a transmit queue:
    /// pacing is the transport's, and hosts do not trim. That of pFabric is a ranked one here.
    pub(crate) fn new(spec: &PortSpec, sort_by: SortBy, rate: Rate) -> Self {
        match spec.queues {
            Queues::Fifo | Queues::Limited { .. } | Queues::Trimming { .. } | Queues::Aifo { .. } => {
                Self::Fifo(Fifo::new(spec.buffer))
            }
            Queues::Tokens(tokens) => Self::Tokens(Box::new(TokenGroup::new(&tokens, rate, spec.buffer))),
            Queues::Strict { queues, map } => Self::Strict(Strict::new(queues, map, sort_by, spec.buffer)),
            Queues::PushOut { queues, map } => Self::PushOut(PushOut::new(queues, map, sort_by, spec.buffer)),
            Queues::Wfq { weights, map } => {
                Self::Wfq(Box::new(Wfq::new(&weights, map, sort_by, spec.buffer)))
            }
            Queues::RealTimeWfq { weights, map } => {
                Self::RealTimeWfq(Box::new(RealTimeWfq::new(&weights, map, (sort_by, rate), spec.buffer)))
            }
            Queues::Ranked | Queues::PFabric => Self::Ranked(Ranked::new(spec.buffer)),
        }
    }

    #[inline]
    pub(crate) fn enqueue(&mut self, now: Time, outgoing: &Outgoing<B>) -> Admission {
        match self {
            Self::Fifo(q) => q.enqueue(now, outgoing),
            Self::Strict(q) => q.enqueue(now, outgoing),
            Self::PushOut(q) => q.enqueue(now, outgoing),
            Self::Ranked(q) => q.enqueue(now, outgoing),
            Self::Wfq(q) => q.enqueue(now, outgoing),
            Self::RealTimeWfq(q) => q.enqueue(now, outgoing),
            Self::Tokens(q) => q.enqueue(now, outgoing),
        }
    }

    /// A packet finds nothing queued and the line free.
    #[inline]
    pub(crate) fn pass(&mut self, now: Time, header: &Header) -> Option<Admission> {
        match self {
            Self::Fifo(q) => q.pass(now, header),
            Self::Strict(q) => q.pass(now, header),
            Self::PushOut(q) => q.pass(now, header),
            Self::Ranked(q) => q.pass(now, header),
            Self::Wfq(q) => q.pass(now, header),
            Self::RealTimeWfq(q) => q.pass(now, header),
            Self::Tokens(q) => q.pass(now, header),
        }
    }

    /// The next packet that made way for the one enqueued last.
    #[inline]
    pub(crate) fn pop_evicted(&mut self) -> Option<Outgoing<B>> {
        match self {
            Self::Fifo(_) | Self::Strict(_) | Self::Ranked(_) | Self::Wfq(_) | Self::RealTimeWfq(_) => None,
            Self::PushOut(q) => q.pop_evicted(),
            Self::Tokens(q) => q.pop_evicted(),
        }
    }

    /// Whether the queue may hold a packet back although the line is free.
    pub(crate) fn is_limited(&self) -> bool {
        matches!(self, Self::Tokens(_))
    }

    /// The earliest instant at which something may start, if the line is free; `Time::ZERO` unless it is limited.
    #[inline]
    pub(crate) fn next_start(&self) -> Time {
        match self {
            Self::Tokens(q) => q.next_start().unwrap_or(Time::NEVER),
            _ => Time::ZERO,
        }
    }

    /// The next packet that has waited too long at `now`.
    #[inline]
    pub(crate) fn pop_expired(&mut self, now: Time) -> Option<Outgoing<B>> {
        match self {
            Self::Tokens(q) => q.pop_expired(now),
            _ => None,
        }
    }

    /// The next packet, of classes that are not in `paused`. Queues that cannot be paused by class stand still.
    #[inline]
    pub(crate) fn start(&mut self, t: Time, paused: ClassSet) -> Option<&Outgoing<B>> {
        if paused != ClassSet::NONE {
            return self.start_unpaused(t, paused);
        }
        match self {
            Self::Fifo(q) => q.start(t),
            Self::Strict(q) => q.start(t),
            Self::PushOut(q) => q.start(t),
            Self::Ranked(q) => q.start(t),
            Self::Wfq(q) => q.start(t),
            Self::RealTimeWfq(q) => q.start(t),
            Self::Tokens(q) => {
                if q.next_start()? <= t {
                    q.start(t)
                } else {
                    None
                }
            }
        }
    }

    #[cold]
    fn start_unpaused(&mut self, t: Time, paused: ClassSet) -> Option<&Outgoing<B>> {
        match self {
            Self::Fifo(q) => q.start_unpaused(t, paused),
            Self::Strict(q) => q.start_unpaused(t, paused),
            Self::Wfq(q) => q.start_unpaused(t, paused),
            Self::RealTimeWfq(q) => q.start_unpaused(t, paused),
            Self::PushOut(_) | Self::Ranked(_) | Self::Tokens(_) => None,
        }
    }

    /// Whether something could be served while these classes are paused.
    pub(crate) fn is_ready(&self, paused: ClassSet) -> bool {
        match self {
            Self::Fifo(q) => q.is_ready(paused),
            Self::Strict(q) => q.is_ready(paused),
            Self::Wfq(q) => q.is_ready(paused),
            Self::RealTimeWfq(q) => q.is_ready(paused),
            Self::PushOut(_) | Self::Ranked(_) | Self::Tokens(_) => paused == ClassSet::NONE,
        }
    }

    /// Packets and bytes queued.
    #[inline]
    pub(crate) fn backlog(&self) -> (u32, u64) {
        match self {
            Self::Fifo(q) => (q.packets(), q.bytes()),
            Self::Strict(q) => (q.packets(), q.bytes()),
            Self::PushOut(q) => (q.packets(), q.bytes()),
            Self::Ranked(q) => (q.packets(), q.bytes()),
            Self::Wfq(q) => (q.packets(), q.bytes()),
            Self::RealTimeWfq(q) => (q.packets(), q.bytes()),
            Self::Tokens(q) => (q.packets(), q.bytes()),
        }
    }

    /// Takes out what is left at the end of a run.
    pub(crate) fn drain(&mut self, at: Time, mut take: impl FnMut(&Header)) {
        while self.backlog().0 > 0 {
            let at = at.max(self.next_start());
            while let Some(outgoing) = self.pop_expired(at) {
                take(&outgoing.packet.header);
            }
            if let Some(outgoing) = self.start(at, ClassSet::NONE) {
                take(&outgoing.packet.header);
            }
        }
    }
}
