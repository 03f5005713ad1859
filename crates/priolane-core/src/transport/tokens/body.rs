//! The body of packets of token transports: 24 bytes after the header.

use crate::ids::Class;
use crate::packet::{Body, Packet};
use crate::transport::common::Stamp;
use crate::units::Time;

/// The class of data packets. It differs from the classes of tokens, so that port counters distinguish them.
pub const DATA_CLASS: Class = 13;
/// The class of unscheduled data packets.
pub const UNSCHEDULED_CLASS: Class = 14;
/// The class of signals (SYNC, STOP, MISS, FIN, DONE, RESET).
pub const SIGNAL_CLASS: Class = 15;
/// Maximum number of token classes.
pub const MAX_CLASSES: u8 = 13;

/// The message of a packet of a token transport, besides its header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TokenMessage {
    /// No message.
    #[default]
    Empty,
    /// The sender asks for tokens (ExpressPass: CREDIT_REQUEST).
    Sync {
        /// Payload bytes of the flow; `u64::MAX` if unknown or unlimited.
        size: u64,
        /// The flow's deadline; `Time::NEVER` without one.
        deadline: Time,
        /// Number of packets sent without tokens.
        unscheduled: u16,
        /// The class that the flow requests.
        asked: Class,
    },
    /// Permission to send one packet (ExpressPass: CREDIT). The header's offset is the data received in order so
    /// far.
    Token {
        /// Its number among the flow's tokens.
        seq: u32,
        /// The time at which the token was passed to the receiver's NIC, by the receiver's clock.
        stamp: Stamp,
    },
    /// Data sent for a token, with the fields of the token.
    Data {
        /// The token's number.
        seq: u32,
        /// The token's stamp.
        stamp: Stamp,
    },
    /// Data sent without a token.
    Unscheduled,
    /// Packets that did not arrive (ExpressPass: NACK).
    Miss {
        /// The first missing packet, counted from 0.
        first: u64,
        /// One more than the last missing packet.
        end: u64,
    },
    /// The sender needs no more tokens (ExpressPass: CREDIT_STOP), or asks whether all data arrived.
    Stop,
    /// The sender of a flow of unknown size has sent all data.
    Fin {
        /// Its payload bytes.
        size: u64,
    },
    /// All data of the flow arrived.
    Done,
    /// The sender aborted the flow.
    Reset,
}

impl Body for TokenMessage {}

const _: () = assert!(size_of::<TokenMessage>() == 24);
const _: () = assert!(size_of::<Packet<TokenMessage>>() == 56);
