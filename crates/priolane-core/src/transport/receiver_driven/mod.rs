//! Parts shared by transports whose receivers decide who may send (pHost, NDP, Homa).
//!
//! ```text
//! Host       the flows of a host, and its queued events and control packets
//! Outgoing   a flow at its sender: cut into packets, counted, reported
//! Inbound    a flow at its receiver: which packets have arrived
//! Packets    how a flow is divided into packets, and which have arrived
//! Pacer      one permission per packet time of the host's link
//! Place      the position of a flow in an order
//! ControlMessage   the body of their packets
//! ```
//!
//! A flow is divided at multiples of the largest payload; packets are numbered in that order. Every data packet
//! carries the flow's length, so a receiver learns of a flow from whichever packet arrives first.

#[cfg(test)]
pub(super) mod bench;
mod control_message;
mod findings;
mod host;
mod inbound;
mod order;
mod outgoing;
mod pacer;
mod packets;

pub(super) use control_message::answer;
pub use control_message::{ControlMessage, MessageType};
pub(super) use findings::{RoundTripTimer, too_few};
pub(super) use host::{HasInbound, HasOutgoing, Host, Receiving, has_inbound, has_outgoing};
pub(super) use inbound::Inbound;
pub(super) use order::{OrderKey, replace};
pub(super) use outgoing::{Outgoing, Transmission};
pub(super) use pacer::Pacer;
