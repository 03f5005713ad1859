//! What nodes report to a tracer.

use priolane_core::endpoint::Endpoint;
use priolane_core::ids::{HostId, LinkId};
use priolane_core::packet::{Header, Packet};
use priolane_core::port::Admission;
use priolane_core::units::Time;

use super::flow_trace::{Backlog, Loss};

/// What a node does, as it tells its wire.
pub(crate) enum TraceEvent<'a, B> {
    /// The transport of `host` was called.
    Called { host: HostId, at: Time, endpoint: &'a dyn Endpoint<Body = B> },
    /// A transport made a packet.
    Made { at: Time, packet: Packet<B> },
    /// A packet comes to a port where `ahead` waits.
    Offered { link: LinkId, at: Time, header: Header, ahead: Backlog },
    /// What became of the packet offered last.
    Admitted(Admission),
    /// A packet that waited at a port was pushed out.
    Evicted { link: LinkId, header: Header },
    /// A packet waited too long at a port and was taken out.
    Expired { link: LinkId, header: Header },
    /// The packet that was put on its line just now is lost on it.
    Lost(Loss),
    /// The payload of a packet that waits at a port was cut off.
    Trimmed { link: LinkId, before: Header },
    /// A line begins to send a packet.
    Started { link: LinkId, start: Time, left: Time, header: Header },
}

/// A packet's journey over a link: the engine's number of the event that is its arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Passage(pub(crate) u64);
