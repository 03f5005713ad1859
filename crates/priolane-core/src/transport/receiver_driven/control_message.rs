//! The body of packets of receiver-driven transports: 16 bytes.

use crate::ids::Class;
use crate::packet::{Body, Header, Kind, Packet};

/// The type of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum MessageType {
    /// The packet carries payload.
    #[default]
    Data,
    /// Announces a flow (pHost's RTS).
    Request,
    /// Asks for one packet (pHost's token).
    Token,
    /// Asks for as many packets as `count` exceeds that of the last pull (NDP).
    Pull,
    /// Permits sending up to this offset (Homa).
    Grant,
    /// The packet arrived; in pHost and Homa: the whole flow arrived.
    Ack,
    /// The packet arrived without its payload (NDP).
    Nack,
    /// Asks for a retransmission (Homa).
    Resend,
    /// The data will follow; the sender serves other flows first (Homa).
    Busy,
    /// The flow is unknown and should be forgotten.
    Unknown,
}

/// Body of a packet of a receiver-driven transport.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ControlMessage {
    /// Length of the flow in bytes, in packets of its sender; in a resend, the end of the range.
    pub size: u64,
    /// Counter: the number of a token and of the packet sent for it, or the number of pulls so far.
    pub count: u32,
    /// Packets that the sender may send, or has sent, unsolicited.
    pub window: u16,
    /// The class that packets must carry (Homa's grants).
    pub class: Class,
    /// The type of the packet.
    pub message_type: MessageType,
}

impl Body for ControlMessage {}

/// Returns the header of a reply to a packet.
#[inline]
pub(in crate::transport) fn answer(to: &Header, kind: Kind) -> Header {
    Header { flow: to.flow, dst: to.src, offset: to.offset, entropy: to.entropy, kind, ..Header::default() }
}

const _: () = assert!(size_of::<ControlMessage>() == 16);
const _: () = assert!(size_of::<Packet<ControlMessage>>() == 48);
