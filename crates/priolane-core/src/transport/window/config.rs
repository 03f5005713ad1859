//! Parameters of the reliability machine, independent of the congestion controller.

use crate::assign::Ladder;
use crate::ids::Class;
use crate::packet::Frame;
use crate::units::Span;

/// What happens before a flow's first payload packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Handshake {
    /// Payload at once.
    None,
    /// SYN, SYN/ACK, then an ACK and payload: one round trip per flow.
    #[default]
    OneRtt,
    /// A handshake for the first flow from one host to another, none for the later ones.
    Reuse,
}

/// How lost packets are found and repaired.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LossRecovery {
    /// Selective acknowledgements (RFC 2018, RFC 6675).
    #[default]
    Sack,
    /// Duplicate ACKs and partial ACKs (RFC 6582).
    NewReno,
    /// Everything after the hole again; the receiver keeps nothing out of order.
    GoBackN,
}

/// Whether lost payload is sent again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reliability {
    /// It is, until all has arrived.
    #[default]
    Reliable,
    /// It is given up: instead of it a header-only [`crate::packet::Kind::Signal`] tells the receiver which bytes
    /// will not come (as RFC 3758's FORWARD TSN; docs/assumptions.md#unreliable).
    Unreliable,
}

/// Whether control packets (ACK, SYN, SYN/ACK) of an ECN transport are ECN-capable themselves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ControlEcn {
    /// Only payload packets are (RFC 3168 §6.1.1, §6.1.4).
    #[default]
    No,
    /// All packets are, as ns-3's DCTCP and data-centre practice (RFC 8257 §3.1 permits it for SYNs).
    Yes,
}

/// Parameters every window transport shares.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// Packet sizes of the experiment.
    pub frame: Frame,
    /// What happens before the first payload packet. Default `OneRtt`.
    pub handshake: Handshake,
    /// How losses are repaired. Default `Sack`.
    pub recovery: LossRecovery,
    /// Whether what is lost is sent again. Default `Reliable`.
    pub reliability: Reliability,
    /// Duplicate ACKs (or segments SACKed above a hole) that mean loss, at least 1. Default 3 (RFC 5681 §3.2).
    pub dup_threshold: u32,
    /// ACK every n-th packet in order; 1 acknowledges each. A change of the CE mark is always acknowledged
    /// at once (RFC 8257 §3.2). Default 1.
    pub ack_every: u8,
    /// How long a receiver may hold an ACK back when `ack_every > 1`. Default 1 ms.
    pub ack_delay: Span,
    /// Floor of the retransmission timeout. Default 10 ms (docs/assumptions.md#min-rto).
    pub min_rto: Span,
    /// Timeout before the first round-trip sample (RFC 6298 §2.1 has 1 s). Default 10 ms.
    pub initial_rto: Span,
    /// Ceiling of the backed-off timeout. Default 4 s.
    pub max_rto: Span,
    /// Most bytes in flight whatever the congestion window says; the receiver's window. Default unlimited.
    pub max_window: u64,
    /// Payload bytes of a flow that may wait in the host's transmit queue: a flow with as many there sends
    /// nothing more until one begins its transmission (Linux's TCP small queues). Default no limit.
    pub queue_limit: Option<u64>,
    /// Class of ACKs, SYNs and other control packets, 0 first. Default 0 (PIAS-NS2: highest queue).
    pub control_class: Class,
    /// Whether ACKs and SYNs of an ECN transport are ECN-capable. Default `No`.
    pub control_ecn: ControlEcn,
    /// Class on the wire by bytes sent; added to the flow's own class, capped at 15.
    pub class: Ladder,
    /// Level inside the host by bytes sent (NOS2 §IV-B).
    pub host_level: Ladder,
    /// Length of the monitor interval after which a sender reports; `None` (or zero) reports at completion
    /// only.
    pub monitor: Option<Span>,
}

impl Config {
    /// The defaults above, for packets of `frame`.
    pub fn new(frame: Frame) -> Self {
        Self {
            frame,
            handshake: Handshake::OneRtt,
            recovery: LossRecovery::Sack,
            reliability: Reliability::Reliable,
            dup_threshold: 3,
            ack_every: 1,
            ack_delay: Span::from_ms(1),
            min_rto: Span::from_ms(10),
            initial_rto: Span::from_ms(10),
            max_rto: Span::from_ms(4_000),
            max_window: u64::MAX,
            queue_limit: None,
            control_class: 0,
            control_ecn: ControlEcn::No,
            class: Ladder::FLAT,
            host_level: Ladder::FLAT,
            monitor: None,
        }
    }

    /// The monitor interval, above zero.
    pub(super) fn monitor_interval(&self) -> Option<Span> {
        self.monitor.filter(|&interval| interval > Span::ZERO)
    }
}
