//! What transports have in common whose receivers say who may send (pHost, NDP, Homa).
//!
//! ```text
//! Host       the flows of a host, and the events and control packets that wait
//! Outgoing   a flow at its sender: cut into packets, counted, reported
//! Inbound    a flow at its receiver: which packets are here
//! Packets    which packets of a flow there are, and which have arrived
//! Pacer      one permission per packet time of the host's line
//! Place      which flow goes first
//! Note       what their packets say besides the header
//! ```
//!
//! A flow is cut at multiples of the largest payload, and a packet's number is its place in that. Every payload packet
//! names the flow's length, so a receiver knows of a flow whichever of its packets comes first.

#[cfg(test)]
pub(super) mod bench;
mod control_message;
mod host;
mod inbound;
mod order;
mod outgoing;
mod pacer;
mod packets;

pub(super) use control_message::answer;
pub use control_message::{ControlMessage, MessageType};
pub(super) use host::{HasInbound, HasOutgoing, Host, has_inbound, has_outgoing};
pub(super) use inbound::Inbound;
pub(super) use order::{Place, replace};
pub(super) use outgoing::{Outgoing, Transmission};
pub(super) use pacer::Pacer;
