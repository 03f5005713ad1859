//! The least times of a flow before and after each link that it is sure to cross.

use priolane_core::units::Span;

/// A flow at a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Leg {
    /// From the flow's start to the arrival of its first packet at the link, at least.
    pub head: Span,
    /// From the end of its last transmission on the link to its arrival at the destination, at least.
    pub tail: Span,
}

/// A flow at the links that it is sure to cross.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Legs {
    /// The source's own.
    pub source: Leg,
    /// One that leaves the source's rack, and one that enters the destination's; `None` within a rack.
    pub racks: Option<[Leg; 2]>,
    /// The destination's own.
    pub destination: Leg,
}
