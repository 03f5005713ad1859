//! Tiers of links.

use std::fmt;

/// A tier of links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// The links of senders.
    Senders,
    /// The links out of racks.
    Core,
    /// The link of the receiver that is offered most.
    Receiver,
    /// The links into racks.
    IntoRack,
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Senders => "the links of senders",
            Self::Core => "the links out of racks",
            Self::Receiver => "the link of a receiver",
            Self::IntoRack => "the links into racks",
        })
    }
}
