//! Messages of pHost, NDP and Homa. The message number is the index of the message type.
//!
//! | message | number | fields after the common header (bytes) | bytes |
//! |---|---|---|---|
//! | DATA | 0 | offset (6), size of the flow (6), count (4), window (2) | 24 + payload |
//! | REQUEST | 1 | size of the flow (6), count (4), window (2) | 18 |
//! | TOKEN | 2 | offset (6), count (4) | 16 |
//! | PULL | 3 | count (4) | 10 |
//! | GRANT | 4 | offset (6), class (1) | 13 |
//! | ACK | 5 | offset (6), count (4) | 16 |
//! | NACK | 6 | offset (6), count (4) | 16 |
//! | RESEND | 7 | offset (6), end of the range (6) | 18 |
//! | BUSY | 8 | | 6 |
//! | UNKNOWN | 9 | | 6 |
//!
//! The fields are documented at [`ControlMessage`]. A data packet ends at or before the size of its flow.

use super::cursor::{Reader, Writer};
use super::error::{DecodeError, EncodeError, FieldRange, within};
use super::format::Format;
use super::header::CommonHeader;
use super::{Context, Message, Sizes, WireBody, class};
use crate::packet::{Header, Kind, Offset};
use crate::transport::receiver_driven::{ControlMessage, MessageType};

/// Message types with the kinds of their packets, in the order of their numbers.
const MESSAGES: [(MessageType, Kind); 10] = [
    (MessageType::Data, Kind::Data),
    (MessageType::Request, Kind::Syn),
    (MessageType::Token, Kind::Credit),
    (MessageType::Pull, Kind::Credit),
    (MessageType::Grant, Kind::Credit),
    (MessageType::Ack, Kind::Ack),
    (MessageType::Nack, Kind::Signal),
    (MessageType::Resend, Kind::Signal),
    (MessageType::Busy, Kind::Signal),
    (MessageType::Unknown, Kind::Signal),
];

impl WireBody for ControlMessage {
    const FORMAT: Format = Format::ReceiverDriven;

    const SIZES: Sizes = {
        let common = CommonHeader::BYTES;
        Sizes { data: common + 18, ack: common + 10, syn: common + 12, max: common + 18 }
    };

    fn message(&self, header: &Header) -> Result<u8, EncodeError> {
        let number = self.message_type as u8;
        match MESSAGES.get(usize::from(number)) {
            Some(&(_, kind)) if kind == header.kind => Ok(number),
            _ => Err(EncodeError::Kind { format: Self::FORMAT, kind: header.kind }),
        }
    }

    fn encode(&self, header: &Header, _context: Context, out: &mut Writer<'_>) -> Result<(), EncodeError> {
        let offset = header.offset.get();
        match self.message_type {
            MessageType::Data => {
                check_data(header.offset, self.size, usize::from(header.payload))?;
                out.u48(offset);
                out.u48(self.size);
                out.u32(self.count);
                out.u16(self.window);
            }
            MessageType::Request => {
                out.u48(check_size(self.size)?);
                out.u32(self.count);
                out.u16(self.window);
            }
            MessageType::Token | MessageType::Ack | MessageType::Nack => {
                out.u48(offset);
                out.u32(self.count);
            }
            MessageType::Pull => out.u32(self.count),
            MessageType::Grant => {
                out.u48(offset);
                out.u8(class(self.class)?);
            }
            MessageType::Resend => {
                check_range(header.offset, self.size)?;
                out.u48(offset);
                out.u48(self.size);
            }
            MessageType::Busy | MessageType::Unknown => {}
        }
        Ok(())
    }

    fn decode(
        common: &CommonHeader,
        _context: Context,
        input: &mut Reader<'_>,
    ) -> Result<Message<Self>, DecodeError> {
        let number = common.message;
        let unknown = DecodeError::UnknownMessage { format: Self::FORMAT, number };
        let &(message_type, kind) = MESSAGES.get(usize::from(number)).ok_or(unknown)?;
        let mut body = Self { message_type, ..Self::default() };
        let mut offset = Offset::default();
        match message_type {
            MessageType::Data => {
                offset = Offset::new(input.u48("offset")?);
                body.size = input.u48("size of the flow")?;
                body.count = input.u32("count")?;
                body.window = input.u16("window")?;
                check_data(offset, body.size, input.rest().len())?;
            }
            MessageType::Request => {
                body.size = check_size(input.u48("size of the flow")?)?;
                body.count = input.u32("count")?;
                body.window = input.u16("window")?;
            }
            MessageType::Token | MessageType::Ack | MessageType::Nack => {
                offset = Offset::new(input.u48("offset")?);
                body.count = input.u32("count")?;
            }
            MessageType::Pull => body.count = input.u32("count")?,
            MessageType::Grant => {
                offset = Offset::new(input.u48("offset")?);
                body.class = class(input.u8("class")?)?;
            }
            MessageType::Resend => {
                offset = Offset::new(input.u48("offset")?);
                body.size = input.u48("end of the range")?;
                check_range(offset, body.size)?;
            }
            MessageType::Busy | MessageType::Unknown => {}
        }
        Ok(Message { kind, offset, rank: None, body })
    }
}

/// Checks the size of a flow, in bytes.
fn check_size(size: u64) -> Result<u64, FieldRange> {
    within("size of the flow", size, 1, Offset::MAX)
}

/// Checks that a data packet, trimmed or not, is within its flow.
fn check_data(offset: Offset, size: u64, payload: usize) -> Result<u64, FieldRange> {
    within("size of the flow", size, offset.get() + payload.max(1) as u64, Offset::MAX)
}

/// Checks the range to retransmit.
fn check_range(offset: Offset, end: u64) -> Result<u64, FieldRange> {
    within("end of the range", end, offset.get() + 1, Offset::MAX)
}
