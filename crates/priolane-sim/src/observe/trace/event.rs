//! Events that nodes report to a tracer.

use priolane_core::endpoint::Endpoint;
use priolane_core::ids::{HostId, LinkId};
use priolane_core::packet::{Header, Packet};
use priolane_core::port::Admission;
use priolane_core::units::Time;

use super::flow_trace::{Backlog, Loss};

/// An event at a node.
pub(crate) enum TraceEvent<'a, B> {
    /// The transport of `host` was called.
    Called { host: HostId, at: Time, endpoint: &'a dyn Endpoint<Body = B> },
    /// A transport sent a packet.
    Made { at: Time, packet: Packet<B> },
    /// A packet arrives at a port with the backlog `ahead`.
    Offered { link: LinkId, at: Time, header: Header, ahead: Backlog },
    /// Result for the packet offered last.
    Admitted(Admission),
    /// A queued packet was evicted from a port.
    Evicted { link: LinkId, header: Header },
    /// A queued packet expired at a port.
    Expired { link: LinkId, header: Header },
    /// The packet whose transmission just started is lost on the link.
    Lost(Loss),
    /// A queued packet was trimmed.
    Trimmed { link: LinkId, before: Header },
    /// A port starts to transmit a packet.
    Started { link: LinkId, start: Time, left: Time, header: Header },
}

/// Identifies a packet on a link: the engine's number of its arrival event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Passage(pub(crate) u64);
