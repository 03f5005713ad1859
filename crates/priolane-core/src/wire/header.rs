//! The common header: the first six bytes of each datagram.

use super::cursor::{Reader, Writer};
use super::error::DecodeError;
use super::format::{Format, VERSION};
use crate::ids::FlowId;
use crate::packet::Marks;

/// The common header of all datagrams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CommonHeader {
    /// The format of the message.
    pub format: Format,
    /// The message number within the format, below 16.
    pub message: u8,
    /// Its flags; ECN-capable and CE are neither read nor written.
    pub marks: Marks,
    /// The flow.
    pub flow: FlowId,
}

/// The flags in the header, from the lowest bit.
const MARKS: [Marks; 4] = [Marks::ECHO, Marks::LAST, Marks::TRIMMED, Marks::RETURNED];

impl CommonHeader {
    /// Its length, in bytes.
    pub const BYTES: u16 = 6;

    /// Reads the header. Checks only version and format; the format may be one that the host does not support.
    pub fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let first = input.u8("version and format")?;
        if first >> 4 != VERSION {
            return Err(DecodeError::Version(first >> 4));
        }
        let format = first & 0xf;
        let format = *Format::ALL.get(usize::from(format)).ok_or(DecodeError::UnknownFormat(format))?;
        let second = input.u8("marks and message")?;
        let mut marks = Marks::none();
        for (bit, mark) in MARKS.into_iter().enumerate() {
            if second >> (4 + bit) & 1 != 0 {
                marks = marks.with(mark);
            }
        }
        Ok(Self { format, message: second & 0xf, marks, flow: FlowId(input.u32("flow")?) })
    }

    /// Writes the header, without the flags that it does not carry.
    pub fn write(&self, out: &mut Writer<'_>) {
        let mut second = self.message & 0xf;
        for (bit, mark) in MARKS.into_iter().enumerate() {
            second |= u8::from(self.marks.has(mark)) << (4 + bit);
        }
        out.u8(VERSION << 4 | self.format as u8);
        out.u8(second);
        out.u32(self.flow.0);
    }
}
