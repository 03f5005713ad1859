//! Queues of a switch with lossless classes: packets are stored with their ingress port.

use priolane_core::ids::LinkId;
use priolane_core::packet::{Body, Header, Packet, QueueItem};
use priolane_core::port::pfc::Load;
use priolane_core::port::{AnyDiscipline, Buffer, PortContext, PortFactory};

use super::port::PortItem;
use crate::model::scenario::Scenario;
use priolane_core::units::Limit;

/// A queued packet with its ingress port.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BufferedPacket<B> {
    pub(crate) packet: Packet<B>,
    pub(crate) from: u32,
}

impl<B: Body> QueueItem for BufferedPacket<B> {
    #[inline]
    fn header(&self) -> &Header {
        &self.packet.header
    }

    #[inline]
    fn header_mut(&mut self) -> &mut Header {
        &mut self.packet.header
    }
}

impl<B: Body> PortItem for BufferedPacket<B> {
    type Body = B;
    type Tag = Load;

    const STAMPED: bool = B::STAMPED;

    #[inline]
    fn packet(&self) -> &Packet<B> {
        &self.packet
    }

    #[inline]
    fn tag(&self) -> Load {
        Load { from: self.from as usize, class: self.packet.header.class, wire: self.packet.header.wire }
    }
}

/// The queues of a port of a switch with lossless classes, with a discipline that can pause single classes.
pub(crate) type PausableQueue<B> = AnyDiscipline<BufferedPacket<B>>;

/// Creates the empty queues of the port of `link`; the switch's shared buffer is their only limit.
pub(crate) fn held_queue<B: Body>(scenario: &Scenario, link: LinkId) -> PausableQueue<B> {
    let context = scenario.switch_port(link);
    let buffer = Buffer { limit: Limit::Unlimited, ..context.buffer };
    scenario.ports[link.index()].discipline.build(&PortContext { buffer, ..context })
}
