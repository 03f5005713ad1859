//! What stands between a host's transport and its line: nothing, or a transmit queue.

use priolane_core::endpoint::SendId;
use priolane_core::packet::{Body, Header, Packet};
use priolane_core::port::{Admission, Discipline, Fifo, Ranked, SortBy, Strict};
use priolane_core::units::Time;

use crate::scenario::{PortSpec, Queues};

/// A queued packet's body, with the name under which the transport wants its transmission time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Named<B> {
    body: B,
    id: Option<SendId>,
}

impl<B: Body> Body for Named<B> {}

/// A host's transmit queue.
#[derive(Debug)]
pub(crate) enum TransmitQueue<B: Body> {
    Fifo(Fifo<Named<B>>),
    Strict(Strict<Named<B>>),
    Ranked(Ranked<Named<B>>),
}

impl<B: Body> TransmitQueue<B> {
    /// An empty queue. A rate-limited port is not a transmit queue: pacing is the transport's.
    pub(crate) fn new(spec: &PortSpec, sort_by: SortBy) -> Self {
        match spec.queues {
            Queues::Fifo | Queues::Limited { .. } => Self::Fifo(Fifo::new(spec.buffer)),
            Queues::Strict { queues, map } => Self::Strict(Strict::new(queues, map, sort_by, spec.buffer)),
            Queues::Ranked => Self::Ranked(Ranked::new(spec.buffer)),
        }
    }

    #[inline]
    pub(crate) fn enqueue(&mut self, now: Time, packet: Packet<B>, id: Option<SendId>) -> Admission {
        let packet = Packet { header: packet.header, body: Named { body: packet.body, id } };
        match self {
            Self::Fifo(q) => q.enqueue(now, packet),
            Self::Strict(q) => q.enqueue(now, packet),
            Self::Ranked(q) => q.enqueue(now, packet),
        }
    }

    #[inline]
    pub(crate) fn start(&mut self, t: Time) -> Option<(Packet<B>, Option<SendId>)> {
        let packet = match self {
            Self::Fifo(q) => q.start(t),
            Self::Strict(q) => q.start(t),
            Self::Ranked(q) => q.start(t),
        }?;
        Some((Packet { header: packet.header, body: packet.body.body }, packet.body.id))
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.backlog().0 == 0
    }

    /// Packets and bytes queued.
    #[inline]
    pub(crate) fn backlog(&self) -> (u32, u64) {
        match self {
            Self::Fifo(q) => (q.packets(), q.bytes()),
            Self::Strict(q) => (q.packets(), q.bytes()),
            Self::Ranked(q) => (q.packets(), q.bytes()),
        }
    }

    /// Takes out what is left at the end of a run.
    pub(crate) fn drain(&mut self, at: Time, mut take: impl FnMut(&Header)) {
        while let Some((packet, _)) = self.start(at) {
            take(&packet.header);
        }
    }
}
