//! What stands between a host's transport and its line: nothing, or a transmit queue.

use priolane_core::endpoint::SendId;
use priolane_core::ids::ClassSet;
use priolane_core::packet::{Body, Header, Packet, Parcel};
use priolane_core::port::{
    Admission, Aifo, Discipline, Fifo, Overflow, PFabric, Pausable, PortSink, PushOut, Ranked, RateLimited,
    RealTimeWfq, SortBy, Strict, TokenGroup, Trimming, TrimmingSpec, Wfq,
};
use priolane_core::rng::{Purpose, Stream};
use priolane_core::units::Time;

use super::egress::Drained;
use super::switch::Seat;
use crate::scenario::Queues;

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
    /// pFabric's, AIFO's and trimming queues.
    Other(Box<dyn Discipline<Outgoing<B>>>),
    /// One that keeps to a rate.
    Limited(Box<RateLimited<Fifo<Outgoing<B>>>>),
}

impl<B: Body> TransmitQueue<B> {
    /// An empty queue in front of the host's line, which `seat` says. What a trimming queue has no room for as a header
    /// it drops: nobody is before it to send it back to.
    pub(crate) fn new(seat: &Seat, sort_by: SortBy) -> Self {
        let buffer = seat.spec.buffer;
        match seat.spec.queues {
            Queues::Fifo => Self::Fifo(Fifo::new(buffer)),
            Queues::Tokens(tokens) => Self::Tokens(Box::new(TokenGroup::new(&tokens, seat.rate, buffer))),
            Queues::Strict { queues, map } => Self::Strict(Strict::new(queues, map, sort_by, buffer)),
            Queues::PushOut { queues, map } => Self::PushOut(PushOut::new(queues, map, sort_by, buffer)),
            Queues::Wfq { weights, map } => Self::Wfq(Box::new(Wfq::new(&weights, map, sort_by, buffer))),
            Queues::RealTimeWfq { weights, map } => {
                Self::RealTimeWfq(Box::new(RealTimeWfq::new(&weights, map, (sort_by, seat.rate), buffer)))
            }
            Queues::Ranked => Self::Ranked(Ranked::new(buffer)),
            Queues::PFabric => Self::Other(Box::new(PFabric::new(buffer))),
            Queues::Aifo { spec, map } => Self::Other(Box::new(Aifo::new(spec, map, buffer))),
            Queues::Trimming { headers, .. } => {
                let trimmed_wire = seat.frame.trimmed_wire();
                let spec = TrimmingSpec { headers, trimmed_wire, overflow: Overflow::Drop };
                let coin = Stream::new(seat.seed, Purpose::Port, u64::from(seat.link.0));
                Self::Other(Box::new(Trimming::new(spec, buffer, coin)))
            }
            Queues::Limited { rate, burst } => {
                Self::Limited(Box::new(RateLimited::new(Fifo::new(buffer), rate, burst)))
            }
        }
    }

    #[inline]
    pub(crate) fn enqueue(
        &mut self,
        now: Time,
        outgoing: &Outgoing<B>,
        out: &mut dyn PortSink<Outgoing<B>>,
    ) -> Admission {
        match self {
            Self::Fifo(q) => q.enqueue(now, outgoing, out),
            Self::Strict(q) => q.enqueue(now, outgoing, out),
            Self::PushOut(q) => q.enqueue(now, outgoing, out),
            Self::Ranked(q) => q.enqueue(now, outgoing, out),
            Self::Wfq(q) => q.enqueue(now, outgoing, out),
            Self::RealTimeWfq(q) => q.enqueue(now, outgoing, out),
            Self::Tokens(q) => q.enqueue(now, outgoing, out),
            Self::Other(q) => q.enqueue(now, outgoing, out),
            Self::Limited(q) => q.enqueue(now, outgoing, out),
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
            Self::Other(q) => q.pass(now, header),
            Self::Limited(q) => q.pass(now, header),
        }
    }

    /// Whether the queue may hold a packet back although the line is free.
    pub(crate) fn is_limited(&self) -> bool {
        matches!(self, Self::Tokens(_) | Self::Limited(_))
    }

    /// The earliest instant at which something may start, if the line is free; `Time::ZERO` unless it is limited.
    #[inline]
    pub(crate) fn next_start(&self) -> Time {
        match self {
            Self::Tokens(q) => q.next_start().unwrap_or(Time::NEVER),
            Self::Limited(q) => q.next_start().unwrap_or(Time::NEVER),
            _ => Time::ZERO,
        }
    }

    /// Discards the packets that have waited too long at `now`.
    #[inline]
    pub(crate) fn expire(&mut self, now: Time, out: &mut dyn PortSink<Outgoing<B>>) {
        if let Self::Tokens(q) = self {
            q.expire(now, out);
        }
    }

    /// The next packet, of classes that are not in `paused`. Queues that cannot be paused by class stand still.
    #[inline]
    pub(crate) fn start(
        &mut self,
        t: Time,
        paused: ClassSet,
        out: &mut dyn PortSink<Outgoing<B>>,
    ) -> Option<&Outgoing<B>> {
        if paused != ClassSet::NONE {
            return self.start_unpaused(t, paused);
        }
        match self {
            Self::Fifo(q) => q.start(t, out),
            Self::Strict(q) => q.start(t, out),
            Self::PushOut(q) => q.start(t, out),
            Self::Ranked(q) => q.start(t, out),
            Self::Wfq(q) => q.start(t, out),
            Self::RealTimeWfq(q) => q.start(t, out),
            Self::Other(q) => q.start(t, out),
            Self::Tokens(q) => q.start(t, out),
            Self::Limited(q) => q.start(t, out),
        }
    }

    #[cold]
    fn start_unpaused(&mut self, t: Time, paused: ClassSet) -> Option<&Outgoing<B>> {
        match self {
            Self::Fifo(q) => q.start_unpaused(t, paused),
            Self::Strict(q) => q.start_unpaused(t, paused),
            Self::Wfq(q) => q.start_unpaused(t, paused),
            Self::RealTimeWfq(q) => q.start_unpaused(t, paused),
            Self::PushOut(_) | Self::Ranked(_) | Self::Tokens(_) | Self::Other(_) | Self::Limited(_) => None,
        }
    }

    /// Whether something could be served while these classes are paused.
    pub(crate) fn is_ready(&self, paused: ClassSet) -> bool {
        match self {
            Self::Fifo(q) => q.is_ready(paused),
            Self::Strict(q) => q.is_ready(paused),
            Self::Wfq(q) => q.is_ready(paused),
            Self::RealTimeWfq(q) => q.is_ready(paused),
            Self::PushOut(_) | Self::Ranked(_) | Self::Tokens(_) | Self::Other(_) | Self::Limited(_) => {
                paused == ClassSet::NONE
            }
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
            Self::Other(q) => (q.packets(), q.bytes()),
            Self::Limited(q) => (q.packets(), q.bytes()),
        }
    }

    /// Takes out what is left at the end of a run.
    pub(crate) fn drain(&mut self, at: Time, mut take: impl FnMut(&Header)) {
        while self.backlog().0 > 0 {
            let at = at.max(self.next_start());
            let mut expired = |outgoing: &Outgoing<B>| take(&outgoing.packet.header);
            let mut expired = Drained(&mut expired);
            if let Some(outgoing) = self.start(at, ClassSet::NONE, &mut expired) {
                take(&outgoing.packet.header);
            }
        }
    }
}
