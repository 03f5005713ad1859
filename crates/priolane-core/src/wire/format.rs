//! The version of the wire format, and the message formats of transports.

use std::fmt;

/// The version of the wire format, below 16.
pub const VERSION: u8 = 1;

/// The message format of a datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Format {
    /// Messages of window transports.
    Window = 0,
    /// Messages of window transports with in-band telemetry.
    WindowInt = 1,
    /// Messages of token transports.
    Tokens = 2,
    /// Messages of pHost, NDP and Homa.
    ReceiverDriven = 3,
    /// Messages of window transports with the rank of the packet.
    WindowRanked = 4,
    /// Messages of token transports with the rank of the packet.
    TokensRanked = 5,
}

impl Format {
    /// All formats, in the order of their numbers.
    pub const ALL: [Self; 6] = [
        Self::Window,
        Self::WindowInt,
        Self::Tokens,
        Self::ReceiverDriven,
        Self::WindowRanked,
        Self::TokensRanked,
    ];
}

/// Whether packets carry their rank, for switches that sort by it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ranks {
    /// They do not.
    #[default]
    Absent,
    /// Each does, in 8 bytes after the common header.
    Carried,
}

impl Ranks {
    /// Returns the bytes of a rank in a packet.
    pub(super) const fn bytes(self) -> u16 {
        match self {
            Self::Absent => 0,
            Self::Carried => 8,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Window => "window",
            Self::WindowInt => "window with INT",
            Self::Tokens => "tokens",
            Self::ReceiverDriven => "receiver-driven",
            Self::WindowRanked => "window with rank",
            Self::TokensRanked => "tokens with rank",
        })
    }
}
