//! The wire format: packets as bytes in UDP datagrams of real hosts.
//!
//! A datagram has the common header, the fields of its message, and the payload if there is any. Integers are
//! little-endian. Lengths are exact: bytes after the last field are an error, and so is any value out of range. Each
//! packet has exactly one encoding.
//!
//! | at | bytes | common header |
//! |---|---|---|
//! | 0 | 1 | version (upper 4 bits, [`VERSION`]) and [`Format`] (lower 4 bits) |
//! | 1 | 1 | flags (upper 4 bits: ECHO 16, LAST 32, TRIMMED 64, RETURNED 128) and message (lower 4 bits, a number per format) |
//! | 2 | 4 | flow; its lowest byte comes first, so that a socket filter can steer by it |
//!
//! Each format has a module with the layout of its messages:
//!
//! | format | number | body | module |
//! |---|---|---|---|
//! | window | 0 | [`Segment`](crate::transport::window::Segment) | `window` |
//! | window with INT | 1 | [`Segment`](crate::transport::window::Segment) with [`Path`](crate::telemetry::Path) | `window`, `telemetry` |
//! | tokens | 2 | [`TokenMessage`](crate::transport::tokens::TokenMessage) | `tokens` |
//! | receiver-driven | 3 | [`ControlMessage`](crate::transport::receiver_driven::ControlMessage) | `receiver_driven` |
//! | window with rank | 4 | [`Segment`](crate::transport::window::Segment) | `window`, after the packet's rank (8 bytes) |
//! | tokens with rank | 5 | [`TokenMessage`](crate::transport::tokens::TokenMessage) | `tokens`, after the packet's rank (8 bytes) |
//!
//! The datagram does not repeat what IP carries: source and destination are addresses, the class is the DSCP,
//! ECN-capable and CE are the ECN field, and the payload length follows from that of the datagram. State of one host
//! or of the simulator is not sent: the level inside the host, the entropy, and the rank except in a token transport's
//! SYNC and in the formats that have it. Absolute times are not sent either, as hosts have no common clock: a deadline is sent as the time left.
//!
//! ```text
//! Codec::new(mtu, ip)        sizes of packets ([`Codec::frame`]), for the transport's configuration
//! encode(packet, now, out)   common header and message; the caller appends the payload
//! decode(datagram, meta)     the packet and its payload, or a [`DecodeError`]
//! ```

mod any;
mod codec;
mod cursor;
mod ecn;
mod error;
mod format;
mod header;
mod receiver_driven;
mod telemetry;
mod tokens;
mod window;

pub use any::{PacketCodec, codec_of};
pub use codec::{Codec, IpVersion, RecvMeta};
pub use cursor::{Reader, Writer};
pub use ecn::EcnCodepoint;
pub use error::{DecodeError, EncodeError, FieldRange, MtuError};
pub use format::{Format, Ranks, VERSION};
use header::CommonHeader;
pub use telemetry::WireTelemetry;

use crate::ids::Class;
use crate::packet::{Body, Header, Kind, Offset};
use crate::units::Time;

/// A body that can be encoded in a datagram.
pub trait WireBody: Body {
    /// The format of its messages.
    const FORMAT: Format;

    /// The format of its messages with the rank of the packet. Default: there is none.
    const RANKED: Option<Format> = None;

    /// Sizes of its messages without a rank, in bytes.
    const SIZES: Sizes;

    /// Returns the message number of a packet with this header and body, below 16.
    ///
    /// # Errors
    /// [`EncodeError::Kind`] if the transport has no packets of the header's kind.
    fn message(&self, header: &Header) -> Result<u8, EncodeError>;

    /// Writes the fields of the message.
    ///
    /// # Errors
    /// [`EncodeError::Field`] if a value is out of range.
    fn encode(&self, header: &Header, context: Context, out: &mut Writer<'_>) -> Result<(), EncodeError>;

    /// Reads the fields of the message that `common` names; the rest of `input` is then the payload.
    ///
    /// # Errors
    /// Returns the mistake in the bytes.
    fn decode(
        common: &CommonHeader,
        context: Context,
        input: &mut Reader<'_>,
    ) -> Result<Message<Self>, DecodeError>;
}

/// The content of a message besides the common header.
#[derive(Clone, Copy, Debug)]
pub struct Message<B> {
    /// The packet's kind.
    pub kind: Kind,
    /// The packet's offset; 0 if the message has none.
    pub offset: Offset,
    /// The packet's rank; `None` if the message has none of its own.
    pub rank: Option<u64>,
    /// The packet's body; fields that are not in the message have their defaults.
    pub body: B,
}

/// Context of encoding and decoding.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    /// Largest payload of a packet, in bytes.
    pub mss: u16,
    /// The time at which the datagram is sent or received, by the clock of that host.
    pub now: Time,
}

/// Sizes of a format's messages in bytes, including the common header, without payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sizes {
    /// A data packet, including telemetry of maximum size.
    pub data: u16,
    /// An ACK without SACK blocks, including telemetry of maximum size; or a token.
    pub ack: u16,
    /// The packet that opens a flow.
    pub syn: u16,
    /// The largest message.
    pub max: u16,
}

/// Checks the class of a message.
fn class(class: Class) -> Result<Class, FieldRange> {
    let last = crate::ids::CLASSES as u64 - 1;
    error::within("class", u64::from(class), 0, last).map(|_| class)
}
