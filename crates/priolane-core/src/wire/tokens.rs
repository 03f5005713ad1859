//! Messages of token transports.
//!
//! | message | number | fields after the common header (bytes) | bytes |
//! |---|---|---|---|
//! | DATA | 0 | offset (6), number (4) and stamp (4) of its token | 20 + payload |
//! | UNSCHEDULED | 1 | offset (6) | 12 + payload |
//! | SYNC | 2 | size of the flow (8), time to the deadline in ps (8), key (8), unscheduled packets (2), class (1) | 33 |
//! | TOKEN | 3 | number (4), stamp (4), packets that arrived in order (4) | 18 |
//! | MISS | 4 | the first missing packet (6), one more than the last (6) | 18 |
//! | STOP | 5 | | 6 |
//! | FIN | 6 | size of the flow (8) | 14 |
//! | DONE | 7 | | 6 |
//! | RESET | 8 | | 6 |
//! | EMPTY | 9 | | 6 |
//!
//! With 18 bytes, a UDP datagram over IPv4 is still a minimum frame, 84 bytes on the wire. This is why the TOKEN
//! counts packets where a header has an offset. The count saturates at 2^32 - 1; it is a lower bound. An unknown size
//! and a missing deadline are encoded as 2^64 - 1, a deadline that has passed as 0. The key is the header's rank, also where
//! packets carry their rank: a SYNC then has it twice, and a token takes 92 bytes on the wire.

use super::cursor::{Reader, Writer};
use super::error::{DecodeError, EncodeError, FieldRange, within};
use super::format::Format;
use super::header::CommonHeader;
use super::{Context, Message, Sizes, WireBody, class};
use crate::packet::{Header, Kind, Offset};
use crate::transport::Stamp;
use crate::transport::tokens::TokenMessage;
use crate::units::{Span, Time};

const DATA: u8 = 0;
const UNSCHEDULED: u8 = 1;
const SYNC: u8 = 2;
const TOKEN: u8 = 3;
const MISS: u8 = 4;
const STOP: u8 = 5;
const FIN: u8 = 6;
const DONE: u8 = 7;
const RESET: u8 = 8;
const EMPTY: u8 = 9;

/// Encodes an unknown size, or no deadline.
const NONE: u64 = u64::MAX;

impl WireBody for TokenMessage {
    const FORMAT: Format = Format::Tokens;

    const RANKED: Option<Format> = Some(Format::TokensRanked);

    const SIZES: Sizes = {
        let common = CommonHeader::BYTES;
        Sizes { data: common + 14, ack: common + 12, syn: common + 27, max: common + 27 }
    };

    fn message(&self, header: &Header) -> Result<u8, EncodeError> {
        let (number, kind) = match self {
            Self::Data { .. } => (DATA, Kind::Data),
            Self::Unscheduled => (UNSCHEDULED, Kind::Data),
            Self::Sync { .. } => (SYNC, Kind::Syn),
            Self::Token { .. } => (TOKEN, Kind::Credit),
            Self::Miss { .. } => (MISS, Kind::Signal),
            Self::Stop => (STOP, Kind::Signal),
            Self::Fin { .. } => (FIN, Kind::Signal),
            Self::Done => (DONE, Kind::Signal),
            Self::Reset => (RESET, Kind::Signal),
            Self::Empty => (EMPTY, Kind::Signal),
        };
        if kind == header.kind {
            Ok(number)
        } else {
            Err(EncodeError::Kind { format: Self::FORMAT, kind: header.kind })
        }
    }

    fn encode(&self, header: &Header, context: Context, out: &mut Writer<'_>) -> Result<(), EncodeError> {
        match *self {
            Self::Data { seq, stamp } => {
                out.u48(header.offset.get());
                out.u32(seq);
                out.u32(stamp.0);
            }
            Self::Unscheduled => out.u48(header.offset.get()),
            Self::Sync { size, deadline, unscheduled, asked } => {
                out.u64(check_size(size)?);
                out.u64(time_left(deadline, context.now));
                out.u64(header.rank);
                out.u16(unscheduled);
                out.u8(class(asked)?);
            }
            Self::Token { seq, stamp } => {
                out.u32(seq);
                out.u32(stamp.0);
                let packets = header.offset.get() / u64::from(context.mss);
                out.u32(u32::try_from(packets).unwrap_or(u32::MAX));
            }
            Self::Miss { first, end } => {
                // Clamps an open end, which is beyond any flow, such as that of an unknown size.
                let end = end.min(Offset::MAX);
                check_missing(first, end)?;
                out.u48(first);
                out.u48(end);
            }
            Self::Fin { size } => out.u64(check_size(size)?),
            Self::Stop | Self::Done | Self::Reset | Self::Empty => {}
        }
        Ok(())
    }

    fn decode(
        common: &CommonHeader,
        context: Context,
        input: &mut Reader<'_>,
    ) -> Result<Message<Self>, DecodeError> {
        let message = |kind, body| Message { kind, offset: Offset::default(), rank: None, body };
        Ok(match common.message {
            DATA => {
                let offset = Offset::new(input.u48("offset")?);
                let (seq, stamp) =
                    (input.u32("number of the token")?, Stamp(input.u32("stamp of the token")?));
                Message { offset, ..message(Kind::Data, Self::Data { seq, stamp }) }
            }
            UNSCHEDULED => {
                let offset = Offset::new(input.u48("offset")?);
                Message { offset, ..message(Kind::Data, Self::Unscheduled) }
            }
            SYNC => sync(context.now, input)?,
            TOKEN => {
                let (seq, stamp) =
                    (input.u32("number of the token")?, Stamp(input.u32("stamp of the token")?));
                let packets = u64::from(input.u32("packets in order")?);
                // Fewer than 2^32 packets of fewer than 2^16 bytes.
                let offset = Offset::new(packets * u64::from(context.mss));
                Message { offset, ..message(Kind::Credit, Self::Token { seq, stamp }) }
            }
            MISS => {
                let (first, end) =
                    (input.u48("first missing packet")?, input.u48("end of the missing packets")?);
                check_missing(first, end)?;
                message(Kind::Signal, Self::Miss { first, end })
            }
            STOP => message(Kind::Signal, Self::Stop),
            FIN => message(Kind::Signal, Self::Fin { size: check_size(input.u64("size of the flow")?)? }),
            DONE => message(Kind::Signal, Self::Done),
            RESET => message(Kind::Signal, Self::Reset),
            EMPTY => message(Kind::Signal, Self::Empty),
            number => return Err(DecodeError::UnknownMessage { format: Self::FORMAT, number }),
        })
    }
}

fn sync(now: Time, input: &mut Reader<'_>) -> Result<Message<TokenMessage>, DecodeError> {
    let size = check_size(input.u64("size of the flow")?)?;
    let deadline = match input.u64("time to the deadline")? {
        NONE => Time::NEVER,
        left => {
            let left = within("time to the deadline", left, 0, Span::LONGEST.0)?;
            Time(now.0.saturating_add(left))
        }
    };
    let rank = Some(input.u64("key")?);
    let (unscheduled, asked) = (input.u16("unscheduled packets")?, class(input.u8("class")?)?);
    let body = TokenMessage::Sync { size, deadline, unscheduled, asked };
    Ok(Message { kind: Kind::Syn, offset: Offset::default(), rank, body })
}

/// Returns the time left at `now` until `deadline`, in ps.
fn time_left(deadline: Time, now: Time) -> u64 {
    if deadline == Time::NEVER { NONE } else { deadline.since(now).min(Span::LONGEST).0 }
}

/// Checks the size of a flow, in bytes.
fn check_size(size: u64) -> Result<u64, FieldRange> {
    if size == NONE { Ok(size) } else { within("size of the flow", size, 1, Offset::MAX) }
}

/// Checks that a range of missing packets is not empty.
fn check_missing(first: u64, end: u64) -> Result<u64, FieldRange> {
    within("first missing packet", first, 0, end.saturating_sub(1))
}
