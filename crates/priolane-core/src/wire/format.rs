//! The version of the wire format, and whose messages a datagram carries.

use std::fmt;

/// The version of the wire format, below 16.
pub const VERSION: u8 = 1;

/// Whose messages a datagram carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Format {
    /// The window machine's.
    Window = 0,
    /// The window machine's with in-band telemetry.
    WindowInt = 1,
    /// Those of token transports.
    Tokens = 2,
    /// Those of pHost, NDP and Homa.
    ReceiverDriven = 3,
}

impl Format {
    /// Every format, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Window, Self::WindowInt, Self::Tokens, Self::ReceiverDriven];
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Window => "window",
            Self::WindowInt => "window with INT",
            Self::Tokens => "tokens",
            Self::ReceiverDriven => "receiver-driven",
        })
    }
}
