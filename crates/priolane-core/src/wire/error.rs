//! Errors of packets to encode and of datagrams to decode.

use super::format::{Format, VERSION};
use crate::packet::Kind;

/// A field whose value is out of range.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{field} is {value}, not within {least} to {most}")]
pub struct FieldRange {
    /// The field.
    pub field: &'static str,
    /// Its value.
    pub value: u64,
    /// The smallest valid value.
    pub least: u64,
    /// The largest valid value.
    pub most: u64,
}

/// Returns `value` if it is within `least` to `most`.
pub(super) fn within(field: &'static str, value: u64, least: u64, most: u64) -> Result<u64, FieldRange> {
    if (least..=most).contains(&value) { Ok(value) } else { Err(FieldRange { field, value, least, most }) }
}

/// The reason why bytes are not a valid packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The datagram ends before this field.
    #[error("the datagram ends before {field}")]
    Truncated {
        /// The field.
        field: &'static str,
    },
    /// Another version of the wire format.
    #[error("the wire format version is {0}, not {VERSION}")]
    Version(u8),
    /// A format that this version does not have.
    #[error("unknown format {0}")]
    UnknownFormat(u8),
    /// A packet of another transport's format.
    #[error("the packet has format {found}, not {expected}")]
    OtherFormat {
        /// The format of the packet.
        found: Format,
        /// The format of this codec.
        expected: Format,
    },
    /// A message that the format does not have.
    #[error("format {format} has no message {number}")]
    UnknownMessage {
        /// The format.
        format: Format,
        /// The message number.
        number: u8,
    },
    /// The value of a field is out of range.
    #[error(transparent)]
    Field(#[from] FieldRange),
    /// Bytes after the last field.
    #[error("{0} bytes follow the last field")]
    TrailingBytes(usize),
}

/// The reason why a packet cannot be encoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// The transport has no packets of this kind.
    #[error("format {format} has no packets of kind {kind:?}")]
    Kind {
        /// The transport's format.
        format: Format,
        /// The kind.
        kind: Kind,
    },
    /// The value of a field does not fit, or a receiver would reject it.
    #[error(transparent)]
    Field(#[from] FieldRange),
    /// The buffer is too small.
    #[error("the packet needs {needed} bytes, but the buffer has {room}")]
    Room {
        /// Bytes of the packet without payload.
        needed: usize,
        /// Capacity of the buffer, in bytes.
        room: usize,
    },
}

/// An MTU that a format does not support.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the MTU is {mtu} bytes, but format {format} supports {least} to {most}")]
pub struct MtuError {
    /// The MTU, in bytes.
    pub mtu: u16,
    /// The format.
    pub format: Format,
    /// The smallest MTU, in bytes: that of the largest message, or of one byte of payload.
    pub least: u16,
    /// The largest MTU, in bytes: a packet's size on the wire has 16 bits.
    pub most: u16,
}
