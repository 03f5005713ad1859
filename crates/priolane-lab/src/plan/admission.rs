//! Network parameters of admission policies.

use priolane_core::ids::HostId;
use priolane_core::packet::Frame;
use priolane_core::units::Span;
use priolane_sim::topology::Topology;

use crate::scheme::Scheme;

/// Returns the report interval of the transport of `scheme` for its admission policy; `None` if only whole flows count.
pub(super) fn interval(scheme: &Scheme, topology: &Topology, frame: &Frame) -> Option<Span> {
    scheme.admit.part().interval().length(round_trip(topology, frame))
}

/// Returns the round-trip time of a one-byte packet between the first and the last host of an idle network.
pub(crate) fn round_trip(topology: &Topology, frame: &Frame) -> Span {
    let (first, last) = (HostId(0), HostId((topology.hosts - 1) as u16));
    let one_way = |from, to| topology.bare_fct(frame, from, to, 0, 1);
    one_way(first, last) + one_way(last, first)
}
