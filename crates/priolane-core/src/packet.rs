//! The packet: a 32-byte header every part understands, and a body only its transport reads.

use crate::ids::{Class, FlowId, HostId};
use crate::telemetry::HopReading;

/// Marks a packet collects on its way; a set of bits.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Marks(u8);

impl Marks {
    /// The sender understands ECN (ECT).
    pub const ECN_CAPABLE: Self = Self(1);
    /// A queue on the way was above its marking threshold (CE).
    pub const CONGESTED: Self = Self(2);
    /// The receiver tells the sender that it saw CE (ECE).
    pub const ECHO: Self = Self(4);
    /// The payload was cut off on the way.
    pub const TRIMMED: Self = Self(8);
    /// The payload ends the flow's stream.
    pub const LAST: Self = Self(16);
    /// A switch sent the packet, without its payload, back to where it came from.
    pub const RETURNED: Self = Self(32);

    /// The bits of all marks.
    const ALL: u8 = 2 * Self::RETURNED.0 - 1;

    /// No mark.
    pub const fn none() -> Self {
        Self(0)
    }

    /// The set as a number, the constants above its bits.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The set with these bits; `None` if one of them is no mark.
    pub const fn from_bits(bits: u8) -> Option<Self> {
        if bits & !Self::ALL == 0 { Some(Self(bits)) } else { None }
    }

    /// These marks and `other`.
    #[inline]
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all of `other` is set.
    #[inline]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// What a packet is to its transport.
///
/// Ports and accounting tell payload from control by it; only the transport gives it more meaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Kind {
    /// Payload of a flow.
    #[default]
    Data,
    /// An acknowledgement.
    Ack,
    /// The first packet of a handshake.
    Syn,
    /// The answer to [`Kind::Syn`].
    SynAck,
    /// A credit, token, grant or pull: permission to send.
    Credit,
    /// A header-only question about path or peer; with [`Marks::ECHO`] the answer to one.
    Probe,
    /// Any other packet of a transport's own.
    Signal,
    /// A pause frame (PFC), from port to port: no transport sees it. Its rank is the set of paused classes.
    Pause,
}

/// A number that is no [`Kind`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0} is no kind of packet")]
pub struct UnknownKind(pub u8);

impl TryFrom<u8> for Kind {
    type Error = UnknownKind;

    /// The kind of which `number as u8` is the discriminant.
    fn try_from(number: u8) -> Result<Self, UnknownKind> {
        const ALL: [Kind; 8] = [
            Kind::Data,
            Kind::Ack,
            Kind::Syn,
            Kind::SynAck,
            Kind::Credit,
            Kind::Probe,
            Kind::Signal,
            Kind::Pause,
        ];
        ALL.get(usize::from(number)).copied().ok_or(UnknownKind(number))
    }
}

/// An offset in a flow's stream, below 2^48 bytes, in six bytes.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Offset([u16; 3]);

impl Offset {
    /// The largest offset a packet can carry: 256 TiB.
    pub const MAX: u64 = (1 << 48) - 1;

    /// `bytes` from the start of the stream.
    #[inline]
    pub const fn new(bytes: u64) -> Self {
        debug_assert!(bytes <= Self::MAX);
        Self([bytes as u16, (bytes >> 16) as u16, (bytes >> 32) as u16])
    }

    /// `bytes` from the start of the stream; `None` above [`Self::MAX`].
    pub const fn checked(bytes: u64) -> Option<Self> {
        if bytes <= Self::MAX { Some(Self::new(bytes)) } else { None }
    }

    /// Bytes from the start of the stream.
    #[inline]
    pub const fn get(self) -> u64 {
        self.0[0] as u64 | (self.0[1] as u64) << 16 | (self.0[2] as u64) << 32
    }
}

impl std::fmt::Debug for Offset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.get())
    }
}

/// The part of a packet that hosts, switches and accounting read (32 bytes).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Header {
    /// Order key for ports that sort (pFabric, ideal): smaller is served first. Elsewhere unused.
    pub rank: u64,
    /// The flow the packet belongs to.
    pub flow: FlowId,
    /// The host that sent this packet.
    pub src: HostId,
    /// The host this packet goes to.
    pub dst: HostId,
    /// Offset of the payload in the flow's stream; of an ACK: the cumulative acknowledgement.
    pub offset: Offset,
    /// What path choice is a function of, besides switch and destination; stamped by the host.
    pub entropy: u16,
    /// Bytes this packet takes on a link, with every header, padding and gap.
    pub wire: u16,
    /// Payload bytes.
    pub payload: u16,
    /// Priority on the wire, 0 first.
    pub class: Class,
    /// Priority inside the sending host, 0 first (NOS2 §IV-B: differs from `class`).
    pub host_level: u8,
    /// ECN and other marks.
    pub marks: Marks,
    /// What the packet is to its transport.
    pub kind: Kind,
}

/// What a transport writes in its packets, at most 24 bytes (more only where a port writes too, as INT).
pub trait Body: Copy + Default + std::fmt::Debug + Send + 'static {
    /// Whether switch ports stamp packets as they leave. Default: no, and none of it is compiled.
    const STAMPED: bool = false;

    /// Of an ACK: blocks received above the cumulative ACK, as (start, end) offsets from it; (0, 0) is none. For
    /// traces, never for the simulation. Default: none.
    fn blocks(&self) -> [(u32, u32); 2] {
        [(0, 0); 2]
    }

    /// A switch port starts to send this packet. Only called where [`Self::STAMPED`] is set; which packets take the
    /// reading is the body's own choice. Default: none.
    fn stamp(&mut self, header: &Header, reading: HopReading) {
        let _ = (header, reading);
    }
}

impl Body for () {}

/// A packet, moved by value.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Packet<B> {
    /// Read by everyone.
    pub header: Header,
    /// Read by the transport.
    pub body: B,
}

const _: () = assert!(size_of::<Header>() == 32);

/// What a queue holds: a packet, perhaps with something that never leaves the node.
pub trait QueueItem: Copy + Default + std::fmt::Debug + Send + 'static {
    /// The packet's header.
    fn header(&self) -> &Header;

    /// The packet's header, to be marked.
    fn header_mut(&mut self) -> &mut Header;
}

impl<B: Body> QueueItem for Packet<B> {
    #[inline]
    fn header(&self) -> &Header {
        &self.header
    }

    #[inline]
    fn header_mut(&mut self) -> &mut Header {
        &mut self.header
    }
}

/// Sizes of packets on the wire, stated by the experiment (`[frame]`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Frame {
    /// Largest network-layer packet: payload plus `header`, in bytes.
    pub mtu: u16,
    /// Network and transport headers of a data packet, in bytes.
    pub header: u16,
    /// Link-layer header and checksum, in bytes.
    pub link: u16,
    /// Smallest frame (link header included, gap not), in bytes; shorter ones are padded.
    pub minimum: u16,
    /// Preamble and gap between frames, in bytes.
    pub gap: u16,
    /// Network-layer size of an ACK, credit, probe or other control packet, in bytes.
    pub ack: u16,
    /// Network-layer size of SYN and SYN/ACK, in bytes.
    pub syn: u16,
}

impl Frame {
    /// Ethernet with 1500 B packets: 1460 B payload is 1538 B on the wire, a control packet 84 B.
    pub const ETHERNET: Self =
        Self { mtu: 1500, header: 40, link: 18, minimum: 64, gap: 20, ack: 40, syn: 40 };

    /// Largest payload of a packet (MSS), in bytes.
    #[inline]
    pub fn mss(&self) -> u16 {
        self.mtu - self.header
    }

    /// Bytes on the wire of a data packet with `payload` bytes.
    #[inline]
    pub fn data_wire(&self, payload: u16) -> u16 {
        self.on_wire(payload + self.header)
    }

    /// Bytes on the wire of a control packet.
    #[inline]
    pub fn ack_wire(&self) -> u16 {
        self.on_wire(self.ack)
    }

    /// Bytes on the wire of SYN and SYN/ACK.
    #[inline]
    pub(crate) fn syn_wire(&self) -> u16 {
        self.on_wire(self.syn)
    }

    /// Bytes on the wire of a data packet whose payload was cut off: its headers, but no less than the smallest
    /// packet there is.
    pub fn trimmed_wire(&self) -> u16 {
        self.data_wire(0).max(self.min_wire())
    }

    /// Bytes on the wire of the largest packet.
    pub fn max_wire(&self) -> u16 {
        self.data_wire(self.mss()).max(self.ack_wire()).max(self.syn_wire())
    }

    /// Bytes on the wire of the smallest packet.
    pub fn min_wire(&self) -> u16 {
        self.on_wire(self.ack.min(self.syn).min(self.header + 1))
    }

    /// Bytes on the wire that `payload` bytes of a flow take in full packets and one last packet.
    pub fn stream_wire(&self, payload: u64) -> u64 {
        let mss = u64::from(self.mss());
        let (full, rest) = (payload / mss, (payload % mss) as u16);
        let tail = if rest > 0 { u64::from(self.data_wire(rest)) } else { 0 };
        full * u64::from(self.data_wire(self.mss())) + tail
    }

    /// Bytes on the wire of a packet of `network` bytes, its network header included.
    #[inline]
    pub(crate) fn on_wire(&self, network: u16) -> u16 {
        (network + self.link).max(self.minimum) + self.gap
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ethernet_sizes_are_the_fields_usual_ones() {
        let frame = Frame::ETHERNET;
        assert_eq!((frame.mss(), frame.data_wire(1460)), (1460, 1538));
        assert_eq!((frame.ack_wire(), frame.syn_wire(), frame.min_wire()), (84, 84, 84));
        // A 1-byte payload: 1 + 40 + 18 = 59 is padded to 64, plus 20 of gap.
        assert_eq!(frame.data_wire(1), 84);
        assert_eq!(frame.stream_wire(1460 * 2 + 1), 2 * 1538 + 84);
    }

    #[test]
    fn offsets_up_to_48_bits_survive() {
        for bytes in [0, 1, 65_535, 65_536, 1 << 33, Offset::MAX] {
            assert_eq!(Offset::new(bytes).get(), bytes);
            assert_eq!(Offset::checked(bytes), Some(Offset::new(bytes)));
        }
        assert_eq!(Offset::checked(Offset::MAX + 1), None);
    }

    #[test]
    fn kinds_and_marks_are_read_from_their_numbers_and_no_others() {
        for number in 0..=u8::MAX {
            match Kind::try_from(number) {
                Ok(kind) => assert_eq!(kind as u8, number),
                Err(error) => assert!(number > Kind::Pause as u8 && error == UnknownKind(number)),
            }
            let marks = Marks::from_bits(number);
            assert_eq!(marks.map(Marks::bits), (number < 2 * Marks::RETURNED.bits()).then_some(number));
        }
    }
}
