//! The ECN field of the IP header (RFC 3168 §5), which carries two of a packet's flags.

use crate::packet::Marks;

/// A codepoint of the ECN field.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum EcnCodepoint {
    /// Not ECN-capable.
    #[default]
    NotEct = 0b00,
    /// ECN-capable, ECT(1).
    Ect1 = 0b01,
    /// ECN-capable, ECT(0): the codepoint that is sent.
    Ect0 = 0b10,
    /// Congestion experienced.
    Ce = 0b11,
}

impl EcnCodepoint {
    /// Returns the codepoint in the lower two bits of `tos`, the IPv4 TOS or IPv6 traffic class byte.
    pub const fn from_bits(tos: u8) -> Self {
        match tos & 0b11 {
            0b00 => Self::NotEct,
            0b01 => Self::Ect1,
            0b10 => Self::Ect0,
            _ => Self::Ce,
        }
    }

    /// Returns the codepoint of a packet with `marks`.
    pub const fn of(marks: Marks) -> Self {
        if marks.has(Marks::CONGESTED) {
            Self::Ce
        } else if marks.has(Marks::ECN_CAPABLE) {
            Self::Ect0
        } else {
            Self::NotEct
        }
    }

    /// Returns the flags of the codepoint.
    pub const fn marks(self) -> Marks {
        match self {
            Self::NotEct => Marks::none(),
            Self::Ect0 | Self::Ect1 => Marks::ECN_CAPABLE,
            Self::Ce => Marks::ECN_CAPABLE.with(Marks::CONGESTED),
        }
    }
}
