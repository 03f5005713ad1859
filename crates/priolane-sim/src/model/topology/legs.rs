//! Lower bounds on the times of a flow before and after each link that it certainly crosses.

use priolane_core::units::Span;

/// Lower bounds of a flow at one link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkBounds {
    /// Minimum time from the flow's start to the arrival of its first packet at the link.
    pub head: Span,
    /// Minimum time from the end of its last transmission on the link to the arrival at the destination.
    pub tail: Span,
}

/// Lower bounds of a flow at the links that it certainly crosses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowLinkBounds {
    /// At the source's link.
    pub source: LinkBounds,
    /// At a link that leaves the source's rack, and at one that enters the destination's; `None` within a rack.
    pub racks: Option<[LinkBounds; 2]>,
    /// At the destination's link.
    pub destination: LinkBounds,
}
