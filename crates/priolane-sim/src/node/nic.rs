//! What stands between a host's transport and its line: nothing, or a transmit queue.

use priolane_core::endpoint::SendId;
use priolane_core::ids::{ClassSet, LinkId};
use priolane_core::packet::{Body, Header, Packet, Parcel};
use priolane_core::port::{AnyDiscipline, Discipline, PortContext, PortFactory, PortSink, Returns, SortBy};
use priolane_core::units::Time;

use crate::scenario::{PortSpec, Scenario};

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
pub(crate) type TransmitQueue<B> = AnyDiscipline<Outgoing<B>>;

/// An empty transmit queue in front of `link`.
pub(crate) fn transmit_queue<B: Body>(
    scenario: &Scenario,
    link: LinkId,
    port: &PortSpec,
    sort_by: SortBy,
) -> TransmitQueue<B> {
    let context =
        PortContext { buffer: port.buffer, sort_by, returns: Returns::Dropped, ..scenario.switch_port(link) };
    port.discipline.build(&context)
}

/// The next packet at `t`, of classes that are not in `paused`.
#[inline]
pub(crate) fn start<'q, B: Body>(
    queue: &'q mut TransmitQueue<B>,
    t: Time,
    paused: ClassSet,
    out: &mut dyn PortSink<Outgoing<B>>,
) -> Option<&'q Outgoing<B>> {
    if paused == ClassSet::NONE { queue.start(t, out) } else { queue.start_unpaused(t, paused, out) }
}
