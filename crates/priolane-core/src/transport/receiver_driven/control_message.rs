//! What packets of receiver-driven transports say besides the header: 16 bytes.

use crate::ids::Class;
use crate::packet::{Body, Header, Kind, Packet};

/// What a packet asks or tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum MessageType {
    /// Here is payload.
    #[default]
    Data,
    /// I have a flow for you (pHost's RTS).
    Request,
    /// Send one packet (pHost's token).
    Token,
    /// Send as many packets more as this count is above the last (NDP).
    Pull,
    /// Send up to this offset (Homa).
    Grant,
    /// The packet arrived; of pHost and Homa: all of the flow did.
    Ack,
    /// The packet arrived without its payload (NDP).
    Nack,
    /// Send this once more (Homa).
    Resend,
    /// It is still to come, others go first (Homa).
    Busy,
    /// I do not know this flow: forget it.
    Unknown,
}

/// Body of a packet of a receiver-driven transport.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ControlMessage {
    /// Length of the flow in bytes, in packets of its sender; of a resend: the end of the range.
    pub size: u64,
    /// A number: of a token and of the packet sent on it, of pulls so far.
    pub count: u32,
    /// Packets that the sender may send, or has sent, without being asked.
    pub window: u16,
    /// The class that packets are to carry (Homa's grants).
    pub class: Class,
    /// What the packet asks or tells.
    pub message_type: MessageType,
}

impl Body for ControlMessage {}

/// The header of an answer to a packet.
#[inline]
pub(in crate::transport) fn answer(to: &Header, kind: Kind) -> Header {
    Header { flow: to.flow, dst: to.src, offset: to.offset, entropy: to.entropy, kind, ..Header::default() }
}

const _: () = assert!(size_of::<ControlMessage>() == 16);
const _: () = assert!(size_of::<Packet<ControlMessage>>() == 48);
