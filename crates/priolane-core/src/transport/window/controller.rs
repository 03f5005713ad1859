//! The contract between the reliability machine and a congestion controller.

use crate::units::{Span, Time};

/// What one ACK tells a controller.
#[derive(Clone, Copy, Debug)]
pub struct AckSeen {
    /// When the ACK was processed.
    pub now: Time,
    /// Payload bytes this ACK acknowledged for the first time, cumulatively; 0 for a duplicate.
    pub acked: u64,
    /// First byte not yet acknowledged, after this ACK.
    pub una: u64,
    /// First byte not yet sent.
    pub next: u64,
    /// Whether the ACK echoes a congestion mark.
    pub marked: bool,
    /// Whether the sender is repairing losses: the window must not grow then.
    pub recovering: bool,
    /// Whether the window was what held the sender back (RFC 7661); it must not grow otherwise.
    pub limited: bool,
    /// Round-trip time of the packet acknowledged, if it can be told.
    pub rtt: Option<Span>,
}

/// How large a window may be: one controller per flow, driven by the reliability machine.
pub trait CongestionControl: Send + std::fmt::Debug {
    /// The parameters of this controller.
    type Config: Clone + Send + std::fmt::Debug;

    /// Whether its packets are ECN-capable.
    const ECN: bool;

    /// A controller for a new flow with segments of `mss` bytes.
    fn new(config: &Self::Config, mss: u64) -> Self;

    /// The congestion window, in bytes, at least one segment.
    fn window(&self) -> u64;

    /// An ACK arrived, duplicate or not.
    fn on_ack(&mut self, ack: &AckSeen);

    /// A loss was inferred from ACKs with `in_flight` bytes outstanding; once per recovery
    /// (RFC 5681 §3.2).
    fn on_loss(&mut self, now: Time, in_flight: u64);

    /// The retransmission timer fired with `in_flight` bytes outstanding; `first` unless it already fired
    /// for the same data (RFC 5681 §3.1).
    fn on_timeout(&mut self, now: Time, in_flight: u64, repeat: Repeat);
}

/// Whether a timeout is the first for the data at the head of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// The first.
    First,
    /// The timer was already backed off for the same data.
    Again,
}
