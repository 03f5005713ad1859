//! The NIC: either no queue or a transmit queue between a host's transport and its link.

use priolane_core::endpoint::SendId;
use priolane_core::ids::LinkId;
use priolane_core::packet::{Body, Header, Packet, QueueItem};
use priolane_core::port::{AnyDiscipline, Buffer, FifoSpec, PortContext, PortFactory, Returns, SortBy};

use super::port::PortItem;
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
pub(crate) type TransmitQueue<B> = AnyDiscipline<Outgoing<B>>;

/// Creates the empty transmit queue of a host in front of `link`; if the NIC has none, a queue that stays empty.
pub(crate) fn transmit_queue<B: Body>(scenario: &Scenario, link: LinkId) -> TransmitQueue<B> {
    let (port, sort_by) = match scenario.nic {
        Nic::Pull => (PortSpec { discipline: FifoSpec.into(), buffer: Buffer::UNLIMITED }, SortBy::HostLevel),
        Nic::Queue { port, sort_by } => (port, sort_by),
    };
    let context =
        PortContext { buffer: port.buffer, sort_by, returns: Returns::Dropped, ..scenario.switch_port(link) };
    port.discipline.build(&context)
}
