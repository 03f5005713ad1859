//! Parameters of the window transport, independent of the congestion controller.

use super::control_class::ControlClass;
use crate::assign::DemotionThresholds;
use crate::keys::{
    Bounds, Bytes, Form, KeyConflict, KeyError, KeyValue, Keys, Schema, Value, Words, WrittenValue,
    truth_value,
};
use crate::packet::Frame;
use crate::units::{Limit, Span};

/// The handshake before a flow's first data packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Words)]
pub enum Handshake {
    /// No handshake: data is sent immediately.
    None,
    /// SYN, SYN/ACK, then an ACK and data: one round trip per flow.
    #[default]
    #[word("1rtt")]
    OneRtt,
    /// A handshake for the first flow from one host to another, none for later ones.
    Reuse,
}

/// The way in which losses are detected and repaired.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Words)]
pub enum LossRecovery {
    /// Selective acknowledgements (RFC 2018, RFC 6675).
    #[default]
    Sack,
    /// Duplicate ACKs and partial ACKs (RFC 6582).
    #[word("newreno")]
    NewReno,
    /// Retransmits everything after the hole; the receiver keeps no out-of-order data.
    #[word("gbn")]
    GoBackN,
    /// A segment is lost if its header arrives trimmed, which its receiver reports, or if the timer expires. Reordering
    /// is no loss, so that packets may be sprayed.
    #[word("trims")]
    Trims,
}

/// Whether lost data is retransmitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reliability {
    /// Lost data is retransmitted until all has arrived.
    #[default]
    Reliable,
    /// Lost data is not retransmitted. Instead a header-only [`crate::packet::Kind::Signal`] tells the receiver
    /// which bytes will not be sent (as RFC 3758's FORWARD TSN; docs/assumptions.md#unreliable).
    Unreliable,
}

truth_value!(Reliability: Unreliable, Reliable);

/// Whether the control packets (ACK, SYN, SYN/ACK) of an ECN transport are ECN-capable.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ControlEcn {
    /// Only data packets are (RFC 3168 §6.1.1, §6.1.4).
    #[default]
    No,
    /// All packets are, as in ns-3's DCTCP and in data centers (RFC 8257 §3.1 permits it for SYNs).
    Yes,
}

truth_value!(ControlEcn: No, Yes);

/// Parameters of all transports that use the window transport.
#[derive(Clone, Copy, PartialEq, Debug, Keys)]
#[keys(group = "window", check = Self::check)]
pub struct Config {
    /// Initial window of a flow, at least one packet.
    #[key(default = Limit::Packets(10), form = FirstWindow, source = "RFC 6928 §2")]
    pub init_window: Limit,
    /// The handshake before the first data packet.
    #[key(default = Handshake::OneRtt, source = "RFC 9293 §3.5")]
    pub handshake: Handshake,
    /// How losses are detected and repaired.
    #[key(default = LossRecovery::Sack, source = "RFC 2018, RFC 6675, RFC 6582; docs/assumptions.md#trims")]
    pub recovery: LossRecovery,
    /// Whether lost data is retransmitted; false for UDP-like traffic, not with recovery = gbn.
    #[key(
        name = "reliable",
        default = Reliability::Reliable,
        skip_default,
        source = "PACCP §III; docs/assumptions.md#unreliable"
    )]
    pub reliability: Reliability,
    /// Duplicate ACKs, or segments selectively acknowledged above a hole, that indicate loss.
    #[key(default = 3, range = "[1, 1000000000]", source = "RFC 5681 §3.2")]
    pub dup_threshold: u32,
    /// ACK every n-th packet in order; 1 acknowledges each. A change of the CE mark is always acknowledged
    /// immediately (RFC 8257 §3.2).
    #[key(default = 1, range = "[1, 255]", source = "docs/assumptions.md#ack-every")]
    pub ack_every: u8,
    /// How long a receiver may delay an ACK if `ack_every` is above 1.
    #[key(default = Span::from_ms(1), range = "(0, )", source = "RFC 9293 §3.8.6.3")]
    pub ack_delay: Span,
    /// Floor of the retransmission timeout.
    #[key(default = Span::from_ms(10), range = "(0, )", source = "docs/assumptions.md#min-rto")]
    pub min_rto: Span,
    /// Timeout before the first round-trip sample (RFC 6298 §2.1 has 1 s).
    #[key(default = Span::from_ms(10), range = "(0, )", source = "docs/assumptions.md#min-rto")]
    pub initial_rto: Span,
    /// Ceiling of the backed-off timeout.
    #[key(default = Span::from_ms(4_000), range = "(0, )", source = "RFC 6298 §2.5 allows a ceiling")]
    pub max_rto: Span,
    /// Maximum bytes in flight, in addition to the congestion window; the receiver's window.
    #[key(none = "unbounded", form = Bytes, range = "(0, )", source = "RFC 9293 §3.8.6")]
    pub max_window: Option<u64>,
    /// Whether ACKs and handshake packets of an ECN transport are ECN-capable.
    #[key(name = "ecn_control", default = ControlEcn::No, source = "RFC 3168 §6.1.4; true as ns-3's DCTCP mode")]
    pub control_ecn: ControlEcn,
    /// Class of ACKs, handshake packets and replies to probes: a number, or `"flow"` for the class of the packet that is
    /// answered.
    #[key(default = ControlClass::Fixed(0), skip_default, range = "[0, 15]", source = "docs/assumptions.md#classes")]
    pub control_class: ControlClass,
    /// Packet sizes of the experiment.
    #[keys(skip = Frame::ETHERNET)]
    pub frame: Frame,
    /// Maximum payload bytes of a flow in the host's transmit queue. A flow at this limit sends nothing more until
    /// a packet begins its transmission (Linux's TCP small queues). Default: no limit.
    #[keys(skip)]
    pub queue_limit: Option<u64>,
    /// Class on the wire as a function of bytes sent; added to the flow's own class, capped at 15.
    #[keys(skip = DemotionThresholds::FLAT)]
    pub class: DemotionThresholds,
    /// Level inside the host as a function of bytes sent (NOS2 §IV-B).
    #[keys(skip = DemotionThresholds::FLAT)]
    pub host_level: DemotionThresholds,
    /// Length of the monitor interval after which a sender reports; `None` (or zero) for a report at completion
    /// only.
    #[keys(skip)]
    pub monitor: Option<Span>,
}

/// Packets or bytes, above zero and finite.
#[derive(Clone, Copy, Debug)]
struct FirstWindow;

impl Form<Limit> for FirstWindow {
    const UNIT: &'static str = Limit::UNIT;

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Limit, KeyError> {
        match Limit::read(value, bounds)? {
            Limit::Packets(0) | Limit::Bytes(0) => {
                Err(KeyError::new("the window is zero", "at least \"1pkt\""))
            }
            Limit::Unlimited => {
                Err(KeyError::new("a new flow's window must be finite", "a finite window, such as \"10pkt\""))
            }
            limit => Ok(limit),
        }
    }

    fn write(value: &Limit) -> WrittenValue {
        value.write()
    }

    fn schema() -> Schema {
        Limit::schema()
    }
}

impl Config {
    /// Returns the defaults, for packets of `frame`.
    pub fn new(frame: Frame) -> Self {
        Self { frame, ..Self::default() }
    }

    /// Returns the initial window of a flow in bytes.
    pub(in crate::transport) fn first_window(&self) -> u64 {
        match self.init_window {
            Limit::Packets(packets) => u64::from(packets) * u64::from(self.frame.mss()),
            Limit::Bytes(bytes) => bytes,
            Limit::Unlimited => u64::MAX,
        }
    }

    fn check(&mut self) -> Result<(), KeyConflict> {
        if self.max_rto < self.min_rto.max(self.initial_rto) {
            return Err(KeyConflict::new(
                "max_rto is below min_rto or initial_rto",
                "a max_rto at least as long as both",
            ));
        }
        if self.reliability == Reliability::Unreliable && self.recovery == LossRecovery::GoBackN {
            return Err(KeyConflict::new(
                "recovery = \"gbn\" retransmits everything after a gap, but reliable = false retransmits \
                 nothing",
                "recovery = \"sack\" or \"newreno\"",
            ));
        }
        Ok(())
    }

    /// Returns the monitor interval if it is above zero.
    pub(super) fn monitor_interval(&self) -> Option<Span> {
        self.monitor.filter(|&interval| interval > Span::ZERO)
    }
}
