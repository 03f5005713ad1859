//! The kinds of datagrams, by their first byte, and the parts of a datagram that switches read.
//!
//! ```text
//! upper four bits   0 control message (peers)   1 packet of a transport (core's wire format)   15 sealed with a key
//! ```

use std::fmt;

use priolane_core::packet::{Frame, Header, Kind, Marks};
use priolane_core::telemetry::Path;
use priolane_core::transport::receiver_driven::ControlMessage;
use priolane_core::transport::tokens::TokenMessage;
use priolane_core::transport::window::Segment;
use priolane_core::units::Time;
use priolane_core::wire::{Codec, DecodeError, IpVersion, MtuError, RecvMeta, VERSION, WireBody};

use crate::peers::SEALED;

/// The kind of a datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DatagramKind {
    /// A control message, which hosts exchange in addition to packets of their transport.
    Control,
    /// A packet of a transport.
    Packet,
    /// A datagram that is encrypted with a key that only hosts have.
    Sealed,
    /// A datagram of another program.
    Foreign,
}

impl DatagramKind {
    /// Returns the kind of a datagram with these bytes. A packet may still be malformed.
    pub fn of(bytes: &[u8]) -> Self {
        match bytes.first().map(|first| first >> 4) {
            Some(0) => Self::Control,
            Some(VERSION) => Self::Packet,
            Some(version) if version == SEALED >> 4 => Self::Sealed,
            _ => Self::Foreign,
        }
    }
}

/// A codec for packets of any body.
trait HeaderCodec: Send {
    fn frame(&self) -> Frame;

    fn header(&self, datagram: &[u8], meta: &RecvMeta) -> Result<Header, DecodeError>;

    /// Writes the packet without its payload, with `marks` in addition to its own, and returns the number of bytes.
    fn cut(&self, datagram: &[u8], meta: &RecvMeta, marks: Marks, out: &mut [u8]) -> Option<usize>;
}

impl<B: WireBody> HeaderCodec for Codec<B> {
    fn frame(&self) -> Frame {
        Self::frame(self)
    }

    fn header(&self, datagram: &[u8], meta: &RecvMeta) -> Result<Header, DecodeError> {
        self.decode(datagram, meta).map(|(packet, _)| packet.header)
    }

    fn cut(&self, datagram: &[u8], meta: &RecvMeta, marks: Marks, out: &mut [u8]) -> Option<usize> {
        let (mut packet, _) = self.decode(datagram, meta).ok()?;
        packet.header.payload = 0;
        packet.header.marks = packet.header.marks.with(marks);
        self.encode(&packet, meta.at, out).ok()
    }
}

/// Reads the header of a datagram of any transport for a switch. No state is kept between datagrams.
pub struct HeaderReader {
    /// The codecs by the number of their format.
    codecs: [Box<dyn HeaderCodec>; 6],
    /// The size of the IP and UDP headers in bytes.
    overhead: u16,
}

impl fmt::Debug for HeaderReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeaderReader").field("overhead", &self.overhead).finish_non_exhaustive()
    }
}

impl HeaderReader {
    /// The largest size of a packet without its payload in bytes.
    pub const LONGEST: usize = 256;

    /// Creates a reader for hosts whose IP packets have at most `mtu` bytes.
    ///
    /// # Errors
    /// Returns an error if the packets of a transport do not fit `mtu`.
    pub fn new(mtu: u16, ip: IpVersion) -> Result<Self, MtuError> {
        let window = Codec::<Segment>::new(mtu, ip)?;
        let ranked = Codec::<Segment>::with_ranks(mtu, ip).unwrap_or(Ok(window))?;
        let tokens = Codec::<TokenMessage>::new(mtu, ip)?;
        let ranked_tokens = Codec::<TokenMessage>::with_ranks(mtu, ip).unwrap_or(Ok(tokens))?;
        let overhead = window.frame().ack - Segment::<()>::SIZES.ack;
        let codecs: [Box<dyn HeaderCodec>; 6] = [
            Box::new(window),
            Box::new(Codec::<Segment<Path>>::new(mtu, ip)?),
            Box::new(tokens),
            Box::new(Codec::<ControlMessage>::new(mtu, ip)?),
            Box::new(ranked),
            Box::new(ranked_tokens),
        ];
        Ok(Self { codecs, overhead })
    }

    /// Returns the codec of a packet's format, if that format is known.
    fn codec(&self, datagram: &[u8]) -> Option<&dyn HeaderCodec> {
        self.codecs.get(usize::from(datagram.first()? & 0xf)).map(|codec| &**codec)
    }

    /// Returns the packet sizes of the format with this number, or those of the first format if the number is unknown.
    pub fn frame(&self, format: u8) -> Frame {
        self.codecs.get(usize::from(format)).unwrap_or(&self.codecs[0]).frame()
    }

    /// Returns the header of the datagram `bytes`. The header of a control message has the kind [`Kind::Signal`].
    /// Returns `None` for sealed, malformed and foreign datagrams: see [`Self::foreign`].
    pub fn header(&self, bytes: &[u8], meta: &RecvMeta) -> Option<Header> {
        match DatagramKind::of(bytes) {
            DatagramKind::Packet => self.codec(bytes)?.header(bytes, meta).ok(),
            DatagramKind::Control => {
                Some(Header { class: meta.class, ..self.foreign(self.overhead + bytes.len() as u16, meta) })
                    .map(|header| Header { kind: Kind::Signal, payload: 0, rank: 0, ..header })
            }
            DatagramKind::Sealed | DatagramKind::Foreign => None,
        }
    }

    /// Returns a header for a foreign IP packet of `network` bytes: payload of the last class.
    pub fn foreign(&self, network: u16, meta: &RecvMeta) -> Header {
        Header {
            rank: u64::MAX,
            src: meta.src,
            dst: meta.dst,
            wire: Frame::ETHERNET.on_wire(network.min(u16::MAX - 64)),
            payload: network.saturating_sub(self.overhead),
            class: priolane_core::ids::CLASSES as u8 - 1,
            marks: meta.ecn.marks(),
            kind: Kind::Data,
            ..Header::default()
        }
    }

    /// Writes a packet without its payload to `out`, with `marks` in addition to its own, and returns the number of
    /// bytes. Returns `None` if the datagram is not a packet of a transport or does not fit; [`Self::LONGEST`] bytes
    /// suffice.
    pub fn cut(&self, bytes: &[u8], meta: &RecvMeta, marks: Marks, out: &mut [u8]) -> Option<usize> {
        let meta = RecvMeta { at: Time::ZERO, ..*meta };
        self.codec(bytes)?.cut(bytes, &meta, marks, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use priolane_core::ids::{FlowId, HostId};
    use priolane_core::packet::{Offset, Packet};
    use priolane_core::transport::receiver_driven::MessageType;
    use priolane_core::wire::{EcnCodepoint, Format};

    const META: RecvMeta =
        RecvMeta { src: HostId(1), dst: HostId(2), class: 3, ecn: EcnCodepoint::Ect0, at: Time::ZERO };

    fn reader() -> HeaderReader {
        HeaderReader::new(1_500, IpVersion::V4).unwrap()
    }

    fn ndp_data(payload: u16) -> Vec<u8> {
        let header = Header {
            flow: FlowId(5),
            offset: Offset::new(2_896),
            payload,
            kind: Kind::Data,
            marks: Marks::LAST,
            ..Header::default()
        };
        let body =
            ControlMessage { message_type: MessageType::Data, size: 10_000, count: 2, ..Default::default() };
        let mut bytes = vec![7; 24 + usize::from(payload)];
        let codec = Codec::<ControlMessage>::new(1_500, IpVersion::V4).unwrap();
        assert_eq!(codec.encode(&Packet { header, body }, Time::ZERO, &mut bytes), Ok(24));
        bytes
    }

    #[test]
    fn a_switch_reads_what_it_needs() {
        let header = reader().header(&ndp_data(1_448), &META).unwrap();
        assert_eq!((header.kind, header.payload, header.wire, header.class), (Kind::Data, 1_448, 1_538, 3));
        assert_eq!((header.src, header.dst, header.flow), (HostId(1), HostId(2), FlowId(5)));
        assert_eq!(header.marks, Marks::ECN_CAPABLE.with(Marks::LAST));
    }

    #[test]
    fn codecs_are_in_the_order_of_their_formats() {
        let sizes = Format::ALL.map(|format| reader().frame(format as u8).mss());
        assert_eq!(sizes, [1_456, 1_263, 1_452, 1_448, 1_448, 1_444]);
    }

    #[test]
    fn what_is_left_of_a_packet_without_payload_is_one() {
        let mut out = [0; HeaderReader::LONGEST];
        let cut = reader().cut(&ndp_data(1_448), &META, Marks::TRIMMED, &mut out).unwrap();
        assert_eq!(cut, 24);
        let header = reader().header(&out[..cut], &META).unwrap();
        assert!(header.marks.has(Marks::TRIMMED) && header.marks.has(Marks::LAST));
        // 28 + 24 + 18 + 20.
        assert_eq!((header.payload, header.wire, header.offset.get()), (0, 90, 2_896));
        assert_eq!(reader().cut(&[0; 44], &META, Marks::TRIMMED, &mut [0; 8]), None);
    }

    #[test]
    fn control_messages_are_signals_of_their_class_and_the_rest_is_not_read() {
        let header = reader().header(&[0x05; 17], &META).unwrap();
        assert_eq!((header.kind, header.class, header.wire, header.rank), (Kind::Signal, 3, 84, 0));
        for unread in [&[][..], &[0xf3; 40], &[0x50; 40], &[0x13; 5], &[0x1f; 40]] {
            assert_eq!(reader().header(unread, &META), None, "{unread:?}");
        }
        let foreign = reader().foreign(1_500, &META);
        assert_eq!((foreign.class, foreign.rank, foreign.wire), (15, u64::MAX, 1_538));
    }

    #[test]
    fn no_bytes_make_a_reader_panic() {
        let mut stream = priolane_core::rng::Stream::new(3, priolane_core::rng::Purpose::Port, 0);
        let mut out = [0; HeaderReader::LONGEST];
        let (reader, mut read) = (reader(), 0);
        for _ in 0..20_000 {
            let mut bytes: Vec<u8> = (0..stream.bits() % 80).map(|_| stream.bits() as u8).collect();
            if let Some(first) = bytes.first_mut() {
                *first = 0x10 | (*first % 7);
            }
            read += u32::from(reader.header(&bytes, &META).is_some());
            reader.cut(&bytes, &META, Marks::RETURNED, &mut out);
        }
        assert!(read > 50, "{read} of 20000 were packets");
    }
}
