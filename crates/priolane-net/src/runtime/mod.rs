//! The thread of a host: it drives one endpoint over one socket.
//!
//! ```text
//! loop   what applications ask ─▶ open, abort, weights
//!        datagrams ─▶ held, if the line is to be longer ─▶ peers (who, sealed?) ─▶ codec ─▶ assembly (bytes) ─▶ on_packet
//!        timers that are due ─▶ on_timer
//!        poll_transmit ─▶ nic (line, tokens) ─▶ codec ─▶ peers (seal) ─▶ socket; what finds no room stays
//!        events ─▶ messages that arrived, receipts
//!        nothing to do: sleep until a datagram, a timer, an application
//! ```

mod changes;
mod driver;
mod flow;
mod held;
mod messages;
mod receive;
mod start;
#[cfg(test)]
mod tests;
mod transmit;

pub(crate) use start::{HostThread, start};
