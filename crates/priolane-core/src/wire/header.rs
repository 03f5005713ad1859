//! The six bytes that begin each datagram.

use super::cursor::{Reader, Writer};
use super::error::DecodeError;
use super::format::{Format, VERSION};
use crate::ids::FlowId;
use crate::packet::Marks;

/// What each datagram says first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CommonHeader {
    /// Whose message it is.
    pub format: Format,
    /// Which of the format's messages it is, below 16.
    pub message: u8,
    /// Its marks; ECN-capable and CE are not among those that are read or written.
    pub marks: Marks,
    /// The flow.
    pub flow: FlowId,
}

/// The marks that travel, from the lowest bit.
const MARKS: [Marks; 4] = [Marks::ECHO, Marks::LAST, Marks::TRIMMED, Marks::RETURNED];

impl CommonHeader {
    /// Its length, in bytes.
    pub const BYTES: u16 = 6;

    /// Reads it. The datagram need not be one of a format that the host speaks: only version and format are checked.
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

    /// Writes it, without the marks that do not travel.
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
