//! Encoding of a transport's packets as datagrams, and decoding.

use std::marker::PhantomData;

use super::cursor::{Reader, Writer};
use super::ecn::EcnCodepoint;
use super::error::{DecodeError, EncodeError, FieldRange, MtuError, within};
use super::format::{Format, Ranks};
use super::header::CommonHeader;
use super::{Context, WireBody};
use crate::ids::{Class, HostId};
use crate::packet::{Frame, Header, Kind, Marks, Offset, Packet};
use crate::units::Time;

/// The IP version below UDP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IpVersion {
    /// A header of 20 bytes.
    V4,
    /// A header of 40 bytes.
    V6,
}

/// Length of the UDP header, in bytes.
const UDP: u16 = 8;

impl IpVersion {
    /// Returns the bytes of the IP and UDP headers.
    fn overhead(self) -> u16 {
        match self {
            Self::V4 => 20 + UDP,
            Self::V6 => 40 + UDP,
        }
    }
}

/// The properties of a datagram that the receiving host knows in addition to its bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecvMeta {
    /// The host of its source address.
    pub src: HostId,
    /// The receiving host.
    pub dst: HostId,
    /// The class of its DSCP, below 16.
    pub class: Class,
    /// Its ECN field.
    pub ecn: EcnCodepoint,
    /// The time at which the datagram arrived, by the receiving host's clock.
    pub at: Time,
}

/// Encodes packets with bodies of type `B` as datagrams, and decodes them. Both ends of a flow use the same MTU and IP
/// version.
#[derive(Clone, Copy, Debug)]
pub struct Codec<B> {
    format: Format,
    ranks: Ranks,
    frame: Frame,
    overhead: u16,
    body: PhantomData<fn() -> B>,
}

impl<B: WireBody> Codec<B> {
    /// Creates the codec for Ethernet with IP packets of at most `mtu` bytes.
    ///
    /// # Errors
    /// If the MTU is below the format's largest message or above the largest packet size.
    pub fn new(mtu: u16, ip: IpVersion) -> Result<Self, MtuError> {
        Self::of(B::FORMAT, Ranks::Absent, mtu, ip)
    }

    /// Creates the codec whose packets carry their rank; `None` if there is no such format for `B`.
    pub fn with_ranks(mtu: u16, ip: IpVersion) -> Option<Result<Self, MtuError>> {
        B::RANKED.map(|format| Self::of(format, Ranks::Carried, mtu, ip))
    }

    fn of(format: Format, ranks: Ranks, mtu: u16, ip: IpVersion) -> Result<Self, MtuError> {
        let Frame { link, minimum, gap, .. } = Frame::ETHERNET;
        let (overhead, sizes, rank) = (ip.overhead(), B::SIZES, ranks.bytes());
        let (least, most) = (overhead + rank + sizes.max.max(sizes.data + 1), u16::MAX - link - gap);
        if !(least..=most).contains(&mtu) {
            return Err(MtuError { mtu, format, least, most });
        }
        let [header, ack, syn] = [sizes.data, sizes.ack, sizes.syn].map(|bytes| overhead + rank + bytes);
        let frame = Frame { mtu, header, link, minimum, gap, ack, syn };
        Ok(Self { format, ranks, frame, overhead, body: PhantomData })
    }

    /// Returns the format of its messages.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns the sizes of packets on the wire, for the configuration of the transport.
    ///
    /// The largest payload and the sizes of data packets are exact. An ACK takes 8 bytes more than `ack` for each SACK
    /// block, and control packets of token and receiver-driven transports differ by a few bytes.
    pub fn frame(&self) -> Frame {
        self.frame
    }

    fn context(&self, now: Time) -> Context {
        Context { mss: self.frame.mss(), now }
    }

    /// Checks the payload length of a packet, in bytes.
    fn payload(&self, kind: Kind, marks: Marks, bytes: usize) -> Result<u16, FieldRange> {
        let (least, most) = match kind {
            Kind::Data if !marks.has(Marks::TRIMMED) => (1, u64::from(self.frame.mss())),
            _ => (0, 0),
        };
        within("payload", bytes as u64, least, most).map(|bytes| bytes as u16)
    }

    /// Writes a packet without its payload to the start of `out` and returns the number of bytes. The next
    /// `packet.header.payload` bytes of the datagram are those of the stream from the packet's offset on.
    ///
    /// `now` is the time of sending by this host's clock. The caller sets class and ECN capability
    /// ([`EcnCodepoint::of`]) in the IP header.
    ///
    /// # Errors
    /// If the buffer is too small ([`super::Sizes::max`] bytes suffice, and 8 for a rank), or a receiver would reject the packet.
    pub fn encode(&self, packet: &Packet<B>, now: Time, out: &mut [u8]) -> Result<usize, EncodeError> {
        let Packet { header, body } = packet;
        self.payload(header.kind, header.marks, usize::from(header.payload))?;
        end_of(header.offset, header.payload)?;
        let message = body.message(header)?;
        let mut out = Writer::new(out);
        CommonHeader { format: self.format, message, marks: header.marks, flow: header.flow }.write(&mut out);
        if self.ranks == Ranks::Carried {
            out.u64(header.rank);
        }
        body.encode(header, self.context(now), &mut out)?;
        let (needed, room) = (out.len_written(), out.room());
        if needed > room { Err(EncodeError::Room { needed, room }) } else { Ok(needed) }
    }

    /// Returns the packet of a datagram, and its payload.
    ///
    /// # Errors
    /// Returns the mistake in the bytes. Never panics, whatever the bytes.
    pub fn decode<'a>(
        &self,
        datagram: &'a [u8],
        meta: &RecvMeta,
    ) -> Result<(Packet<B>, &'a [u8]), DecodeError> {
        let mut input = Reader::new(datagram);
        let common = CommonHeader::read(&mut input)?;
        if common.format != self.format {
            return Err(DecodeError::OtherFormat { found: common.format, expected: self.format });
        }
        let rank = match self.ranks {
            Ranks::Absent => None,
            Ranks::Carried => Some(input.u64("rank")?),
        };
        let message = B::decode(&common, self.context(meta.at), &mut input)?;
        let rank = match (rank, message.rank) {
            // A message that has a key of its own has one rank.
            (Some(rank), Some(key)) => within("key", key, rank, rank)?,
            (Some(rank), None) | (None, Some(rank)) => rank,
            (None, None) => 0,
        };
        let rest = input.rest();
        if message.kind != Kind::Data && !rest.is_empty() {
            return Err(DecodeError::TrailingBytes(rest.len()));
        }
        let payload = self.payload(message.kind, common.marks, rest.len())?;
        end_of(message.offset, payload)?;
        let header = Header {
            rank,
            flow: common.flow,
            src: meta.src,
            dst: meta.dst,
            offset: message.offset,
            // At most the MTU: fields and payload are bounded.
            wire: self.frame.on_wire(self.overhead + datagram.len() as u16),
            payload,
            class: super::class(meta.class)?,
            marks: common.marks.with(meta.ecn.marks()),
            kind: message.kind,
            ..Header::default()
        };
        Ok((Packet { header, body: message.body }, rest))
    }
}

/// Checks the end offset of a packet's payload.
fn end_of(offset: Offset, payload: u16) -> Result<u64, FieldRange> {
    within("end of the payload", offset.get() + u64::from(payload), 0, Offset::MAX)
}
