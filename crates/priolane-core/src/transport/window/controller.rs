//! The contract between the reliability machine and a congestion controller.

use crate::endpoint::{FlowRequest, Path};
use crate::ids::Class;
use crate::rng::Stream;
use crate::telemetry::Telemetry;
use crate::units::{Rate, Span, Time};

/// What one ACK tells a controller.
#[derive(Clone, Copy, Debug)]
pub struct AckEvent {
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
    /// Whether the window may grow.
    pub growth: Growth,
    /// Round-trip time of the packet acknowledged, if it can be told.
    pub rtt: Option<Span>,
    /// Smoothed round-trip time (RFC 6298 §2), this ACK's sample included; zero before the first.
    pub srtt: Span,
    /// Picoseconds from the packet's transmission, by its sender's clock, to its arrival, by its receiver's: below
    /// zero where that clock is behind. Wraps beyond 2.1 s.
    pub one_way_ps: i64,
    /// How long this host took from the ACK's arrival to its processing.
    pub host_delay: Span,
}

/// What the answer to a probe tells a controller.
#[derive(Clone, Copy, Debug)]
pub struct ProbeReply {
    /// When the answer was processed.
    pub now: Time,
    /// First byte not yet sent.
    pub next: u64,
    /// From the probe's transmission to the processing of the answer.
    pub rtt: Span,
    /// As [`AckEvent::one_way_ps`], of the probe.
    pub one_way_ps: i64,
}

/// What a controller is told when its flow starts.
pub struct FlowStart<'a> {
    /// The flow.
    pub flow: &'a FlowRequest,
    /// When it starts to send (a handshake, if there is one, before that).
    pub now: Time,
    /// Finds the flow's way through the network.
    pub path: &'a dyn Fn() -> Path,
    /// How much lateness of packets that are paced is made up ([`crate::endpoint::RealHost::catch_up`]); zero in a simulator.
    pub catch_up: Span,
    /// The host's random stream, from which a controller that chooses at random seeds a stream of its own.
    pub rng: &'a mut Stream,
}

impl std::fmt::Debug for FlowStart<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opening").field("flow", self.flow).field("now", &self.now).finish_non_exhaustive()
    }
}

/// What holds a flow back besides its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendPermission {
    /// Nothing.
    Open,
    /// Pacing: no data before this instant.
    NotBefore(Time),
    /// No data at all; a probe at this instant, at once if it has passed.
    Probe(Time),
}

/// What a packet's rank counts, for ports that go by it: fewer are served first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rank {
    /// The flow's bytes from the packet's first one on.
    BytesLeft,
    /// The flow's bytes that are not acknowledged when the packet is sent (pFabric).
    BytesUnacked,
}

/// Whether an ACK may grow the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// It may: the window is what held the sender back. Also while losses are repaired after a timeout: the
    /// window then grows from one segment again (RFC 5681 §3.1).
    Allowed,
    /// It may not: the data acknowledged was never sent with a full window (RFC 7661 §4.1).
    NotLimited,
    /// It may not: the sender is in fast recovery, whose loss has already cut the window.
    Recovering,
}

/// What a controller is told when data is inferred lost.
#[derive(Clone, Copy, Debug)]
pub struct LossEvent {
    /// When the loss was inferred.
    pub now: Time,
    /// `FlightSize` of RFC 5681 §3.1: bytes sent and not acknowledged, without those that limited
    /// transmit sent beyond the window (docs/assumptions.md#flight-size).
    pub in_flight: u64,
    /// First byte not yet sent: a reduction covers everything before it (RFC 3168 §6.1.2).
    pub next: u64,
}

/// How large a window may be: one controller per flow, driven by the reliability machine.
pub trait CongestionControl: Send + std::fmt::Debug {
    /// The parameters of this controller.
    type Config: Clone + Send + std::fmt::Debug;

    /// What it wants switches to tell of the way: `()` for nothing, [`crate::telemetry::Path`] for every hop.
    type Telemetry: Telemetry;

    /// Whether its packets are ECN-capable.
    const ECN: bool;

    /// Whether it ever holds its flow back besides by its window: only then is [`Self::gate`] asked and
    /// [`Self::on_sent`] called.
    const PACED: bool = false;

    /// What the rank of its packets is. Default: what is left from the packet on.
    const RANK: Rank = Rank::BytesLeft;

    /// A controller for a new flow with segments of `mss` bytes.
    fn new(config: &Self::Config, mss: u64) -> Self;

    /// The flow starts; called once, before anything else. Default: nothing.
    fn open(&mut self, opening: &mut FlowStart<'_>) {
        let _ = opening;
    }

    /// The flow's way is now known to be another one than it was told by `open`: parts of it that the driver does not know
    /// were measured. Never called where all is known. Default: nothing.
    fn on_path(&mut self, path: &Path) {
        let _ = path;
    }

    /// The congestion window, in bytes; a segment goes out whatever it is if nothing is in flight.
    fn window(&self) -> u64;

    /// What holds the flow back besides the window, as of the last call that changed something. Default: nothing.
    fn gate(&self) -> SendPermission {
        SendPermission::Open
    }

    /// A segment was sent. Default: nothing.
    fn on_sent(&mut self, now: Time) {
        let _ = now;
    }

    /// The probe that [`SendPermission::Probe`] asked for was sent; without an answer after `timeout` it is taken for lost. The
    /// gate must not ask for another one at this instant. Default: nothing.
    fn on_probe_sent(&mut self, now: Time, timeout: Span) {
        let _ = (now, timeout);
    }

    /// The answer to a probe arrived, perhaps late or twice. Default: nothing.
    fn on_probe_answer(&mut self, answer: &ProbeReply) {
        let _ = answer;
    }

    /// The class of the flow's packets from now on. Default: nothing.
    fn set_class(&mut self, class: Class) {
        let _ = class;
    }

    /// What switches told the packet that an ACK answers; called before [`Self::on_ack`] with that ACK, where they tell
    /// anything. Default: nothing.
    fn on_telemetry(&mut self, told: &Self::Telemetry) {
        let _ = told;
    }

    /// An ACK arrived, duplicate or not.
    fn on_ack(&mut self, ack: &AckEvent);

    /// A loss was inferred from ACKs; once per recovery (RFC 5681 §3.2).
    fn on_loss(&mut self, loss: &LossEvent);

    /// The retransmission timer fired (RFC 5681 §3.1); `repeat` says whether for new data.
    fn on_timeout(&mut self, loss: &LossEvent, repeat: Repeat);

    /// Fast recovery without selective ACKs ended with `in_flight` bytes outstanding: the window may be
    /// limited so that it does not burst (RFC 6582 §3.2 step 3, option 1). Default: nothing.
    fn on_recovered(&mut self, in_flight: u64) {
        let _ = in_flight;
    }

    /// The flow's minimum rate and weight (in thousandths of a best-effort flow's) from now on. Default:
    /// not honoured.
    fn set_weights(&mut self, theta: Option<Rate>, w_milli: u32) {
        let _ = (theta, w_milli);
    }

    /// Tells `see` what it knows besides the window, as [`crate::endpoint::Endpoint::inspect`] does. Default:
    /// nothing.
    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        let _ = see;
    }
}

/// Whether a timeout is the first for the data at the head of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// The first.
    First,
    /// The timer was already backed off for the same data.
    Again,
}
