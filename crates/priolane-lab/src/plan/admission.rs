//! What an admission policy takes from the network.

use priolane_core::ids::HostId;
use priolane_core::packet::Frame;
use priolane_core::units::Span;
use priolane_sim::topology::Topology;

use crate::scheme::Scheme;

/// How often the transport of `scheme` reports for its admission policy; `None` where only whole flows count.
pub(super) fn interval(scheme: &Scheme, topology: &Topology, frame: &Frame) -> Option<Span> {
    scheme.admit.part().interval().length(round_trip(topology, frame))
}

/// The round trip of a packet of one byte between the first and the last host, nothing in its way.
pub(crate) fn round_trip(topology: &Topology, frame: &Frame) -> Span {
    let (first, last) = (HostId(0), HostId((topology.hosts - 1) as u16));
    let one_way = |from, to| topology.bare_fct(frame, from, to, 0, 1);
    one_way(first, last) + one_way(last, first)
}
