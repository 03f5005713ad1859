//! The reliability machine: handshake, cumulative and selective ACKs, retransmission, completion.

mod config;
mod controller;

pub use config::{Config, Handshake, LossRecovery};
pub use controller::{AckSeen, CongestionControl, Repeat};
