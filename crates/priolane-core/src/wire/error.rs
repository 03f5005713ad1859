//! What can be wrong with a packet to be sent, or with the bytes of one that came.

use super::format::{Format, VERSION};
use crate::packet::Kind;

/// A field with a value that it must not have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{field} is {value}, not within {least} to {most}")]
pub struct FieldRange {
    /// The field.
    pub field: &'static str,
    /// Its value.
    pub value: u64,
    /// The smallest value it may have.
    pub least: u64,
    /// The largest value it may have.
    pub most: u64,
}

/// `value`, if it is within `least` to `most`.
pub(super) fn within(field: &'static str, value: u64, least: u64, most: u64) -> Result<u64, FieldRange> {
    if (least..=most).contains(&value) { Ok(value) } else { Err(FieldRange { field, value, least, most }) }
}

/// Why bytes are no packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The bytes end before the field does.
    #[error("the datagram ends before {field}")]
    Truncated {
        /// The field.
        field: &'static str,
    },
    /// Another version of the wire format.
    #[error("wire format version {0}, not {VERSION}")]
    Version(u8),
    /// A format that this version does not have.
    #[error("unknown format {0}")]
    UnknownFormat(u8),
    /// A packet of another transport.
    #[error("a packet of format {found}, not {expected}")]
    OtherFormat {
        /// Its format.
        found: Format,
        /// The format that is spoken here.
        expected: Format,
    },
    /// A message that the format does not have.
    #[error("format {format} has no message {number}")]
    UnknownMessage {
        /// The format.
        format: Format,
        /// The message.
        number: u8,
    },
    /// A field has a value that it must not have.
    #[error(transparent)]
    Field(#[from] FieldRange),
    /// Bytes after the last field.
    #[error("{0} bytes after the last field")]
    TrailingBytes(usize),
}

/// Why a packet cannot be sent.
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
    /// A field has a value that does not fit, or that no receiver would take.
    #[error(transparent)]
    Field(#[from] FieldRange),
    /// The buffer is too small.
    #[error("the packet takes {needed} bytes, the buffer has {room}")]
    Room {
        /// Bytes that the packet takes without payload.
        needed: usize,
        /// Bytes of the buffer.
        room: usize,
    },
}

/// An MTU at which a format cannot be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("an MTU of {mtu} bytes, format {format} takes {least} to {most}")]
pub struct MtuError {
    /// The MTU, in bytes.
    pub mtu: u16,
    /// The format.
    pub format: Format,
    /// The smallest MTU, in bytes: that of the largest message, or of one byte of payload.
    pub least: u16,
    /// The largest MTU, in bytes: a packet's size on the wire is a number of 16 bits.
    pub most: u16,
}
