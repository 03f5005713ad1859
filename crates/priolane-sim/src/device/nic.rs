//! The NIC: either no queue or a transmit queue between a host's transport and its link.
//!
//! Most transmit queues are FIFOs. The host's port therefore contains a FIFO itself, whose code is inlined in the host.
//! Every other discipline is called by its kind.

use priolane_core::endpoint::SendId;
use priolane_core::ids::{ClassSet, LinkId};
use priolane_core::packet::{Body, Header, Packet, QueueItem};
use priolane_core::port::{
    Admission, AnyDiscipline, Buffer, Discipline, DisciplineSpec, Fifo, FifoSpec, PortContext, PortFactory,
    PortSink, Returns, SortBy,
};
use priolane_core::units::Time;

use super::port::{Port, PortItem};
use crate::device::event_sink::EventSink;
use crate::model::scenario::{Nic, PortSpec, Scenario};

/// A packet in a transmit queue, with the identifier by which the transport requested its transmission time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outgoing<B> {
    pub(crate) packet: Packet<B>,
    pub(crate) id: Option<SendId>,
}

impl<B: Body> QueueItem for Outgoing<B> {
    #[inline]
    fn header(&self) -> &Header {
        &self.packet.header
    }

    #[inline]
    fn header_mut(&mut self) -> &mut Header {
        &mut self.packet.header
    }
}

impl<B: Body> PortItem for Outgoing<B> {
    type Body = B;
    type Tag = Option<SendId>;

    const STAMPED: bool = false;

    #[inline]
    fn packet(&self) -> &Packet<B> {
        &self.packet
    }

    #[inline]
    fn tag(&self) -> Option<SendId> {
        self.id
    }
}

/// Whether a host has a transmit queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NicMode {
    /// It has none: the link polls the transport.
    Pull,
    /// It has one, filled as soon as the transport allows.
    Queue,
}

/// A host's transmit queue.
#[derive(Debug)]
pub(crate) enum TransmitQueue<B: Body> {
    /// One FIFO queue.
    Fifo(Fifo<Outgoing<B>>),
    /// A queue of another discipline.
    Other(AnyDiscipline<Outgoing<B>>),
}

/// Calls a method of the discipline in a transmit queue.
macro_rules! discipline {
    ($queue:expr, $method:ident($($argument:expr),*)) => {
        match $queue {
            TransmitQueue::Fifo(queue) => queue.$method($($argument),*),
            TransmitQueue::Other(queue) => queue.$method($($argument),*),
        }
    };
}

impl<B: Body> Discipline<Outgoing<B>> for TransmitQueue<B> {
    #[inline(always)]
    fn enqueue(&mut self, now: Time, item: &Outgoing<B>, out: &mut dyn PortSink<Outgoing<B>>) -> Admission {
        discipline!(self, enqueue(now, item, out))
    }

    #[inline(always)]
    fn try_bypass(&mut self, now: Time, header: &Header) -> Option<Admission> {
        discipline!(self, try_bypass(now, header))
    }

    #[inline]
    fn expire(&mut self, now: Time, out: &mut dyn PortSink<Outgoing<B>>) {
        discipline!(self, expire(now, out));
    }

    #[inline]
    fn prefetch(&self) {
        if let Self::Fifo(queue) = self {
            queue.prefetch();
        }
    }

    #[inline]
    fn next_eligible_time(&self) -> Option<Time> {
        discipline!(self, next_eligible_time())
    }

    #[inline(always)]
    fn dequeue(&mut self, t: Time, out: &mut dyn PortSink<Outgoing<B>>) -> Option<&Outgoing<B>> {
        discipline!(self, dequeue(t, out))
    }

    fn is_ready(&self, paused: ClassSet) -> bool {
        discipline!(self, is_ready(paused))
    }

    fn dequeue_unpaused(
        &mut self,
        t: Time,
        paused: ClassSet,
        out: &mut dyn PortSink<Outgoing<B>>,
    ) -> Option<&Outgoing<B>> {
        discipline!(self, dequeue_unpaused(t, paused, out))
    }

    #[inline]
    fn packets(&self) -> u32 {
        discipline!(self, packets())
    }

    #[inline]
    fn bytes(&self) -> u64 {
        discipline!(self, bytes())
    }

    #[inline]
    fn payload_bytes(&self) -> u64 {
        discipline!(self, payload_bytes())
    }

    #[inline]
    fn bytes_before(&self, header: &Header) -> u64 {
        discipline!(self, bytes_before(header))
    }
}

impl<B: Body> Port<TransmitQueue<B>> {
    /// As [`Port::enqueue`] if the queue is a FIFO, which reports no event: no sink for events is made. `None` if it is
    /// of another discipline.
    #[inline(always)]
    pub(crate) fn enqueue_fifo<W: EventSink<B>>(
        &mut self,
        now: Time,
        packet: &Packet<B>,
        id: Option<SendId>,
        sink: &mut W,
    ) -> Option<Admission> {
        let TransmitQueue::Fifo(queue) = &mut self.queue else { return None };
        let admission = queue.enqueue(now, &Outgoing { packet: *packet, id }, &mut ());
        self.enqueued(now, &packet.header, admission, sink);
        Some(admission)
    }

    /// As [`Port::start`] with no class paused, if the queue is a FIFO, which reports no event. `None` if it is empty or
    /// of another discipline.
    #[inline(always)]
    pub(crate) fn start_fifo<W: EventSink<B>>(&mut self, t: Time, sink: &mut W) -> Option<Option<SendId>> {
        let TransmitQueue::Fifo(queue) = &mut self.queue else { return None };
        let Outgoing { packet, id } = queue.dequeue(t, &mut ())?;
        self.counts.dequeued(t, &packet.header);
        self.line.transmit(t, packet, &mut self.counts, sink);
        Some(*id)
    }
}

/// Creates the empty transmit queue of a host in front of `link`; if the NIC has none, a queue that stays empty.
pub(crate) fn transmit_queue<B: Body>(scenario: &Scenario, link: LinkId) -> TransmitQueue<B> {
    let none = PortSpec { discipline: FifoSpec.into(), buffer: Buffer::UNLIMITED };
    let (port, sort_by) = match &scenario.nic {
        Nic::Pull => (&none, SortBy::HostLevel),
        Nic::Queue { port, sort_by } => (port, *sort_by),
    };
    let context =
        PortContext { buffer: port.buffer, sort_by, returns: Returns::Dropped, ..scenario.switch_port(link) };
    match &port.discipline {
        DisciplineSpec::Fifo(fifo) => TransmitQueue::Fifo(fifo.build(&context)),
        other => TransmitQueue::Other(other.build(&context)),
    }
}
