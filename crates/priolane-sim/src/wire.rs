//! What nodes hand to the engine that drives them: packets on links, finished flows, broken invariants.

use priolane_core::ids::NodeId;
use priolane_core::packet::{Body, Packet};
use priolane_core::units::Time;

use crate::outcome::RunError;

/// Where a link ends: the node, and the place the link has in that node's order of simultaneous arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ingress {
    pub(crate) node: NodeId,
    pub(crate) rank: u32,
}

/// The engine, as a node sees it.
pub(crate) trait Wire<B: Body> {
    /// `packet` will arrive at `to` at the instant `at`.
    fn emit(&mut self, to: Ingress, at: Time, packet: &Packet<B>);

    /// A finite flow of the node came to its end at `at`.
    fn flow_done(&mut self, at: Time);

    /// The run cannot be trusted.
    fn violated(&mut self, error: RunError);
}

/// What happens at a node at one instant, in the order in which simultaneous things happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Kind {
    /// The line may start the next packet.
    Departure,
    /// A packet arrives.
    Arrival,
    /// A control message takes effect.
    Control,
    /// The application starts a flow.
    Open,
    /// A timer of the transport is due.
    Timer,
}
