//! What token transports write in their packets: 24 bytes after the header.

use crate::ids::Class;
use crate::packet::{Body, Packet};
use crate::transport::common::Stamp;
use crate::units::Time;

/// The class that packets of payload carry: apart from the classes of tokens, so that ports' counts tell them apart.
pub const DATA_CLASS: Class = 13;
/// The class that unscheduled packets of payload carry.
pub const UNSCHEDULED_CLASS: Class = 14;
/// The class that signals (SYNC, STOP, MISS, FIN, DONE, RESET) carry.
pub const SIGNAL_CLASS: Class = 15;
/// Most classes of tokens.
pub const MAX_CLASSES: u8 = 13;

/// What a packet of a token transport says besides its header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TokenMessage {
    /// Nothing.
    #[default]
    Empty,
    /// A sender asks for tokens (ExpressPass: CREDIT_REQUEST).
    Sync {
        /// Payload bytes of the flow; `u64::MAX` where they are not known or without end.
        size: u64,
        /// The flow's deadline; never without one.
        deadline: Time,
        /// Packets that are on their way without tokens.
        unscheduled: u16,
        /// The class the flow asks for.
        asked: Class,
    },
    /// Permission to send one packet (ExpressPass: CREDIT). The header's offset is what arrived in order so far.
    Token {
        /// Its number among the flow's tokens.
        seq: u32,
        /// When it was given to the receiver's NIC, by the receiver's clock.
        stamp: Stamp,
    },
    /// Payload that a token called for, with what the token said.
    Data {
        /// The token's number.
        seq: u32,
        /// The token's stamp.
        stamp: Stamp,
    },
    /// Payload that no token called for.
    Unscheduled,
    /// Packets that did not arrive (ExpressPass: NACK).
    Miss {
        /// The first of them, counted from 0.
        first: u64,
        /// One more than the last of them.
        end: u64,
    },
    /// The sender needs no more tokens (ExpressPass: CREDIT_STOP), or asks whether all arrived.
    Stop,
    /// The sender of a flow of unknown size has sent all of it.
    Fin {
        /// Its payload bytes.
        size: u64,
    },
    /// All of the flow arrived.
    Done,
    /// The sender gave the flow up.
    Reset,
}

impl Body for TokenMessage {}

const _: () = assert!(size_of::<TokenMessage>() == 24);
const _: () = assert!(size_of::<Packet<TokenMessage>>() == 56);
