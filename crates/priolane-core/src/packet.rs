//! The packet: a 32-byte header that every device reads, and a body that only its transport reads.

use crate::ids::{Class, FlowId, HostId};
use crate::telemetry::HopReading;

/// Flags that a packet collects on its path; a set of bits.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Marks(u8);

impl Marks {
    /// The sender supports ECN (ECT).
    pub const ECN_CAPABLE: Self = Self(1);
    /// A queue on the path was above its marking threshold (CE).
    pub const CONGESTED: Self = Self(2);
    /// The receiver echoes CE to the sender (ECE).
    pub const ECHO: Self = Self(4);
    /// A switch cut the payload off.
    pub const TRIMMED: Self = Self(8);
    /// The payload is the end of the flow's stream.
    pub const LAST: Self = Self(16);
    /// A switch removed the payload and returned the packet to its source.
    pub const RETURNED: Self = Self(32);

    /// The first bit of the number of the transport that a packet belongs to ([`Self::transport`]).
    const TRANSPORT_SHIFT: u32 = 6;

    /// The number of transports that can share a network.
    pub const TRANSPORTS: usize = 4;

    /// The bits of all flags.
    const ALL: u8 = 2 * Self::RETURNED.0 - 1;

    /// Returns the empty set.
    pub const fn none() -> Self {
        Self(0)
    }

    /// Returns the set as an integer, with the bits of the constants above.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Returns the set with these bits; `None` if a bit is not a flag.
    pub const fn from_bits(bits: u8) -> Option<Self> {
        if bits & !Self::ALL == 0 { Some(Self(bits)) } else { None }
    }

    /// Returns the number of the transport that the packet belongs to, below [`Self::TRANSPORTS`]; 0 if a run has one.
    /// The number is not a flag: it exists in simulations only and never on a wire.
    #[inline]
    pub(crate) const fn transport(self) -> u8 {
        self.0 >> Self::TRANSPORT_SHIFT
    }

    /// Returns the flags with the number of a transport, which is below [`Self::TRANSPORTS`].
    #[inline]
    #[must_use]
    pub(crate) const fn of_transport(self, number: u8) -> Self {
        Self(self.0 & Self::ALL | number << Self::TRANSPORT_SHIFT)
    }

    /// Returns the union of these flags and `other`.
    #[inline]
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns whether all flags of `other` are set.
    #[inline]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// The type of a packet.
///
/// Ports and accounting use it to tell payload from control packets; only the transport gives it more meaning.
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
    /// The reply to [`Kind::Syn`].
    SynAck,
    /// Permission to send: a credit, token, grant or pull.
    Credit,
    /// A header-only probe of a path or peer; with [`Marks::ECHO`], the reply to a probe.
    Probe,
    /// Any other packet specific to a transport.
    Signal,
    /// A PFC pause frame from port to port, invisible to transports. Its rank is the set of paused classes.
    Pause,
}

/// A number that is not the discriminant of any [`Kind`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0} is not a kind of packet")]
pub struct UnknownKind(pub u8);

impl TryFrom<u8> for Kind {
    type Error = UnknownKind;

    /// Returns the kind whose discriminant is `number`.
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

/// An offset in a flow's stream, below 2^48 bytes, stored in six bytes.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Offset([u16; 3]);

impl Offset {
    /// The largest offset that a packet can carry: 256 TiB.
    pub const MAX: u64 = (1 << 48) - 1;

    /// Creates the offset `bytes` from the start of the stream.
    #[inline]
    pub const fn new(bytes: u64) -> Self {
        debug_assert!(bytes <= Self::MAX);
        Self([bytes as u16, (bytes >> 16) as u16, (bytes >> 32) as u16])
    }

    /// Creates the offset `bytes` from the start of the stream; `None` above [`Self::MAX`].
    pub const fn checked(bytes: u64) -> Option<Self> {
        if bytes <= Self::MAX { Some(Self::new(bytes)) } else { None }
    }

    /// Returns the bytes from the start of the stream.
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
    /// Sort key for ports that sort (pFabric, ideal): smaller is served first. Unused by other ports.
    pub rank: u64,
    /// The flow the packet belongs to.
    pub flow: FlowId,
    /// The host that sends this packet.
    pub src: HostId,
    /// The host that receives this packet.
    pub dst: HostId,
    /// Offset of the payload in the flow's stream; in an ACK, the cumulative acknowledgement.
    pub offset: Offset,
    /// Input of the path hash, besides switch and destination; set by the host.
    pub entropy: u16,
    /// Bytes on the wire: payload, all headers, padding and inter-frame gap.
    pub wire: u16,
    /// Payload bytes.
    pub payload: u16,
    /// Priority on the wire; 0 is served first.
    pub class: Class,
    /// Priority inside the sending host; 0 is served first (NOS2 §IV-B: differs from `class`).
    pub host_level: u8,
    /// ECN and other flags.
    pub marks: Marks,
    /// The type of the packet.
    pub kind: Kind,
}

/// The part of a packet that its transport writes, at most 24 bytes (more only if switch ports write it too, as INT).
pub trait Body: Copy + Default + std::fmt::Debug + Send + 'static {
    /// Whether switch ports stamp packets at dequeue. Default: no; the stamping code is then compiled out.
    const STAMPED: bool = false;

    /// In an ACK: SACK blocks above the cumulative ACK, as (start, end) offsets from it; (0, 0) is no block. Used by
    /// traces, never by the simulation. Default: no blocks.
    fn blocks(&self) -> [(u32, u32); 2] {
        [(0, 0); 2]
    }

    /// Records that a switch port starts to transmit this packet. Called only if [`Self::STAMPED`] is set; the body
    /// decides which packets keep the reading. Default: does nothing.
    fn stamp(&mut self, header: &Header, reading: HopReading) {
        let _ = (header, reading);
    }
}

impl Body for () {}

/// A packet, moved by value.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Packet<B> {
    /// Read by every device.
    pub header: Header,
    /// Read by the transport only.
    pub body: B,
}

const _: () = assert!(size_of::<Header>() == 32);

/// An item of a queue: a packet, possibly with metadata that never leaves the node.
pub trait QueueItem: Copy + Default + std::fmt::Debug + Send + 'static {
    /// Returns the packet's header.
    fn header(&self) -> &Header;

    /// Returns the packet's header for marking.
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

/// Packet sizes on the wire, set by the experiment (`[frame]`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Frame {
    /// Largest network-layer packet: payload plus `header`, in bytes.
    pub mtu: u16,
    /// Network and transport headers of a data packet, in bytes.
    pub header: u16,
    /// Link-layer header and checksum, in bytes.
    pub link: u16,
    /// Smallest frame, link header included and gap excluded, in bytes; shorter frames are padded.
    pub minimum: u16,
    /// Preamble and inter-frame gap, in bytes.
    pub gap: u16,
    /// Network-layer size of an ACK, credit, probe or other control packet, in bytes.
    pub ack: u16,
    /// Network-layer size of SYN and SYN/ACK, in bytes.
    pub syn: u16,
}

impl Frame {
    /// Ethernet with 1500 B packets: 1460 B of payload take 1538 B on the wire, a control packet takes 84 B.
    pub const ETHERNET: Self =
        Self { mtu: 1500, header: 40, link: 18, minimum: 64, gap: 20, ack: 40, syn: 40 };

    /// Returns the largest payload of a packet (MSS), in bytes.
    #[inline]
    pub fn mss(&self) -> u16 {
        self.mtu - self.header
    }

    /// Returns the bytes on the wire of a data packet with `payload` bytes.
    #[inline]
    pub fn data_wire(&self, payload: u16) -> u16 {
        self.on_wire(payload + self.header)
    }

    /// Returns the bytes on the wire of a control packet.
    #[inline]
    pub fn ack_wire(&self) -> u16 {
        self.on_wire(self.ack)
    }

    /// Returns the bytes on the wire of SYN and SYN/ACK.
    #[inline]
    pub(crate) fn syn_wire(&self) -> u16 {
        self.on_wire(self.syn)
    }

    /// Returns the bytes on the wire of a trimmed data packet: its headers, but at least the smallest packet.
    pub fn trimmed_wire(&self) -> u16 {
        self.data_wire(0).max(self.min_wire())
    }

    /// Returns the bytes on the wire of the largest packet.
    pub fn max_wire(&self) -> u16 {
        self.data_wire(self.mss()).max(self.ack_wire()).max(self.syn_wire())
    }

    /// Returns the bytes on the wire of the smallest packet.
    pub fn min_wire(&self) -> u16 {
        self.on_wire(self.ack.min(self.syn).min(self.header + 1))
    }

    /// Returns a lower bound of the bytes on the wire of any packet of any transport: 64, or the smallest packet of the
    /// frame if that is smaller. A transport with sizes of its own refuses smaller ones.
    pub fn least_wire(&self) -> u16 {
        self.min_wire().min(64)
    }

    /// Returns the bytes on the wire of `payload` bytes of a flow, sent as full packets and one last packet.
    pub fn stream_wire(&self, payload: u64) -> u64 {
        let mss = u64::from(self.mss());
        let (full, rest) = (payload / mss, (payload % mss) as u16);
        let tail = if rest > 0 { u64::from(self.data_wire(rest)) } else { 0 };
        full * u64::from(self.data_wire(self.mss())) + tail
    }

    /// Returns the bytes on the wire of a packet of `network` bytes, network header included.
    #[inline]
    pub fn on_wire(&self, network: u16) -> u16 {
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
        // A 1-byte payload: 1 + 40 + 18 = 59 is padded to 64, plus a gap of 20.
        assert_eq!(frame.data_wire(1), 84);
        assert_eq!(frame.stream_wire(1460 * 2 + 1), 2 * 1538 + 84);
        assert_eq!(frame.least_wire(), 64);
        let small = Frame { minimum: 0, gap: 0, link: 0, ..frame };
        assert_eq!((small.min_wire(), small.least_wire()), (40, 40));
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
