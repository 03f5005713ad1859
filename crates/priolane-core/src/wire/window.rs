//! Messages of window transports. The message number is that of the packet's [`Kind`].
//!
//! | message | number | fields after the common header (bytes) | bytes |
//! |---|---|---|---|
//! | DATA | 0 | offset (6), stamp (4), telemetry | 16 + payload |
//! | ACK | 1 | cumulative offset (6), echoed stamp (4), one-way delay (4), telemetry, up to two SACK blocks | 20 + 8 a block |
//! | SYN | 2 | stamp (4) | 10 |
//! | SYN/ACK | 3 | echoed stamp (4) | 10 |
//! | PROBE | 5 | stamp (4) | 10 |
//! | PROBE with ECHO, the reply | 5 | echoed stamp (4), one-way delay (4) | 14 |
//! | GIVEN UP | 6 | offset (6), stamp (4), bytes that will not be sent (4) | 20 |
//! | GIVEN UP with ECHO, a CNP | 6 | stamp of the marked packet (4) | 10 |
//!
//! Stamps and delays are in ticks of 1024 ps. A SACK block has a start (4 bytes) and an end (4), both relative to the
//! cumulative offset; the length of the datagram gives their number. An empty block, (0, 0), is written only before
//! another block. In the format with rank, the rank of the packet (8) precedes the fields of each message. Telemetry takes no bytes in the format without INT, and 1 to 193 in the format with it.

use super::cursor::{Reader, Writer};
use super::error::{DecodeError, EncodeError, FieldRange, within};
use super::format::Format;
use super::header::CommonHeader;
use super::telemetry::WireTelemetry;
use super::{Context, Message, Sizes, WireBody};
use crate::packet::{Header, Kind, Marks, Offset};
use crate::transport::Stamp;
use crate::transport::window::Segment;

/// Length of a SACK block, in bytes.
const BLOCK: u16 = 8;

impl<T: WireTelemetry> WireBody for Segment<T> {
    const FORMAT: Format = T::FORMAT;

    const RANKED: Option<Format> = T::RANKED;

    const SIZES: Sizes = {
        let (data, ack) = (CommonHeader::BYTES + 10 + T::MAX, CommonHeader::BYTES + 14 + T::MAX);
        Sizes { data, ack, syn: CommonHeader::BYTES + 4, max: ack + 2 * BLOCK }
    };

    fn message(&self, header: &Header) -> Result<u8, EncodeError> {
        match header.kind {
            Kind::Credit | Kind::Pause => Err(EncodeError::Kind { format: T::FORMAT, kind: header.kind }),
            kind => Ok(kind as u8),
        }
    }

    fn encode(&self, header: &Header, _context: Context, out: &mut Writer<'_>) -> Result<(), EncodeError> {
        if has_offset(header.kind, header.marks) {
            out.u48(header.offset.get());
        }
        out.u32(self.stamp.0);
        if has_one_way(header.kind, header.marks) {
            out.u32(self.one_way);
        }
        match header.kind {
            Kind::Data => self.telemetry.encode(out),
            Kind::Ack => {
                self.telemetry.encode(out);
                let count = 2 - self.sack.iter().rev().take_while(|&&block| block == NO_BLOCK).count();
                for &block in &self.sack[..count] {
                    if block != NO_BLOCK {
                        check_block(header.offset, block)?;
                    }
                    out.u32(block.0);
                    out.u32(block.1);
                }
            }
            Kind::Signal if !header.marks.has(Marks::ECHO) => {
                let (_, bytes) = self.sack[0];
                given_up(header.offset, bytes)?;
                out.u32(bytes);
            }
            _ => {}
        }
        Ok(())
    }

    fn decode(
        common: &CommonHeader,
        _context: Context,
        input: &mut Reader<'_>,
    ) -> Result<Message<Self>, DecodeError> {
        let unknown = DecodeError::UnknownMessage { format: T::FORMAT, number: common.message };
        let kind = Kind::try_from(common.message)
            .ok()
            .filter(|kind| !matches!(kind, Kind::Credit | Kind::Pause))
            .ok_or(unknown)?;
        let offset = Offset::new(if has_offset(kind, common.marks) { input.u48("offset")? } else { 0 });
        let mut body = Self { stamp: Stamp(input.u32("stamp")?), ..Self::default() };
        if has_one_way(kind, common.marks) {
            body.one_way = input.u32("one-way delay")?;
        }
        match kind {
            Kind::Data => body.telemetry = T::decode(input)?,
            Kind::Ack => {
                body.telemetry = T::decode(input)?;
                body.sack = blocks(offset, input)?;
            }
            Kind::Signal if !common.marks.has(Marks::ECHO) => {
                let bytes = input.u32("bytes given up")?;
                given_up(offset, bytes)?;
                body.sack[0] = (0, bytes);
            }
            _ => {}
        }
        Ok(Message { kind, offset, rank: None, body })
    }
}

/// The value of an absent block in a body.
const NO_BLOCK: (u32, u32) = (0, 0);

fn has_offset(kind: Kind, marks: Marks) -> bool {
    matches!(kind, Kind::Data | Kind::Ack) || kind == Kind::Signal && !marks.has(Marks::ECHO)
}

fn has_one_way(kind: Kind, marks: Marks) -> bool {
    kind == Kind::Ack || kind == Kind::Probe && marks.has(Marks::ECHO)
}

/// Reads the blocks in the rest of an ACK.
fn blocks(cumulative: Offset, input: &mut Reader<'_>) -> Result<[(u32, u32); 2], DecodeError> {
    let mut blocks = [NO_BLOCK; 2];
    for block in &mut blocks {
        if input.rest().is_empty() {
            break;
        }
        *block = (input.u32("start of a SACK block")?, input.u32("end of a SACK block")?);
        // An empty block is valid only before another block.
        if *block != NO_BLOCK || input.rest().is_empty() {
            check_block(cumulative, *block)?;
        }
    }
    Ok(blocks)
}

/// Checks a non-empty block.
fn check_block(cumulative: Offset, (start, end): (u32, u32)) -> Result<(), FieldRange> {
    let (start, end) = (u64::from(start), u64::from(end));
    within("end of a SACK block", end, start + 1, Offset::MAX - cumulative.get()).map(|_| ())
}

/// Checks the range that a sender gives up.
fn given_up(offset: Offset, bytes: u32) -> Result<(), FieldRange> {
    within("bytes given up", u64::from(bytes), 1, Offset::MAX - offset.get()).map(|_| ())
}
