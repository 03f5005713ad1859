//! The interface between the window transport and a congestion controller.

use super::notifications::Notification;
use crate::endpoint::{FlowRequest, Path};
use crate::ids::Class;
use crate::rng::Stream;
use crate::telemetry::Telemetry;
use crate::units::{Rate, Span, Time};

/// An ACK, as passed to a controller.
#[derive(Clone, Copy, Debug)]
pub struct AckEvent {
    /// The time at which the ACK was processed.
    pub now: Time,
    /// Payload bytes that this ACK acknowledged cumulatively for the first time; 0 for a duplicate.
    pub acked: u64,
    /// Payload bytes that this ACK reports as arrived for the first time, cumulatively or selectively.
    pub delivered: u64,
    /// Payload bytes in the network after this ACK, as far as the sender knows (RFC 6675 §4, `SetPipe`).
    pub in_flight: u64,
    /// First byte not yet acknowledged, after this ACK.
    pub una: u64,
    /// First byte not yet sent.
    pub next: u64,
    /// Whether the ACK echoes an ECN mark.
    pub marked: bool,
    /// Whether the window may grow.
    pub growth: Growth,
    /// Round-trip time of the acknowledged packet, if it could be measured.
    pub rtt: Option<Span>,
    /// Smoothed round-trip time (RFC 6298 §2), this ACK's sample included; zero before the first.
    pub srtt: Span,
    /// Picoseconds from the packet's transmission, by the sender's clock, to its arrival, by the receiver's clock.
    /// Negative if the receiver's clock is behind. Wraps beyond 2.1 s.
    pub one_way_ps: i64,
    /// Time from the ACK's arrival at this host to its processing.
    pub host_delay: Span,
}

/// The reply to a probe, as passed to a controller.
#[derive(Clone, Copy, Debug)]
pub struct ProbeReply {
    /// The time at which the reply was processed.
    pub now: Time,
    /// First byte not yet sent.
    pub next: u64,
    /// From the probe's transmission to the processing of the reply.
    pub rtt: Span,
    /// As [`AckEvent::one_way_ps`], for the probe.
    pub one_way_ps: i64,
}

/// The context of a flow's start, as passed to a controller.
pub struct FlowStart<'a> {
    /// The flow.
    pub flow: &'a FlowRequest,
    /// The time at which the flow starts to send (after the handshake, if there is one).
    pub now: Time,
    /// Returns the flow's path through the network.
    pub path: &'a dyn Fn() -> Path,
    /// The lateness of paced packets that is made up for ([`crate::endpoint::RealHost::catch_up`]); zero in a
    /// simulator.
    pub catch_up: Span,
    /// The host's random stream. A randomized controller seeds a stream of its own from it.
    pub rng: &'a mut Stream,
}

impl std::fmt::Debug for FlowStart<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opening").field("flow", self.flow).field("now", &self.now).finish_non_exhaustive()
    }
}

/// Limits on a flow besides its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendPermission {
    /// No limit.
    Open,
    /// Pacing: no data before this time.
    NotBefore(Time),
    /// No data at all; send a probe at this time, or immediately if it has passed.
    Probe(Time),
}

/// The rank of a packet, for ports that sort by rank: lower ranks are served first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rank {
    /// The flow's bytes from the packet's first byte to its end.
    BytesLeft,
    /// The flow's bytes not acknowledged when the packet is sent (pFabric).
    BytesUnacked,
    /// The value that [`CongestionControl::rank`] returns.
    Own,
}

/// Whether an ACK may grow the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// Growth is allowed: the window limited the sender. Also while losses are repaired after a timeout, when the
    /// window grows from one segment again (RFC 5681 §3.1).
    Allowed,
    /// No growth: the acknowledged data was never sent with a full window (RFC 7661 §4.1).
    NotLimited,
    /// No growth: the sender is in fast recovery and has already reduced the window for the loss.
    Recovering,
}

/// A loss inferred from ACKs or a timeout, as passed to a controller.
#[derive(Clone, Copy, Debug)]
pub struct LossEvent {
    /// The time at which the loss was inferred.
    pub now: Time,
    /// `FlightSize` of RFC 5681 §3.1: bytes sent and not acknowledged, except those sent beyond the window by
    /// limited transmit (docs/assumptions.md#flight-size).
    pub in_flight: u64,
    /// First byte not yet sent: a reduction covers everything before it (RFC 3168 §6.1.2).
    pub next: u64,
}

/// A segment whose payload a switch cut off, as passed to a controller.
#[derive(Clone, Copy, Debug)]
pub struct TrimEvent {
    /// The time at which the receiver's report was processed.
    pub now: Time,
    /// The payload bytes that were cut off.
    pub bytes: u64,
    /// Payload bytes in the network before the report, those bytes included.
    pub in_flight: u64,
    /// From the transmission of the segment to the processing of the report.
    pub rtt: Span,
}

/// A congestion controller: computes the window of one flow from events of the window transport.
pub trait CongestionControl: Send + std::fmt::Debug {
    /// The parameters of this controller.
    type Config: Clone + Send + std::fmt::Debug;

    /// The telemetry it requests from switches: `()` for none, [`crate::telemetry::Path`] for every hop.
    type Telemetry: Telemetry;

    /// Whether its packets are ECN-capable.
    const ECN: bool;

    /// Whether it limits its flow by other means than its window. Only then does the transport call [`Self::gate`]
    /// and [`Self::on_sent`].
    const PACED: bool = false;

    /// Whether it asks to be called at instants of its own. Only then does the transport call [`Self::wake`] and
    /// [`Self::on_wake`].
    const TIMED: bool = false;

    /// Whether receivers may tell its senders of marks by packets of their own (CNPs). Only then does the transport call
    /// [`Self::notification`] and [`Self::on_notification`].
    const NOTIFIED: bool = false;

    /// The rank of its packets. Default: the bytes left from the packet on.
    const RANK: Rank = Rank::BytesLeft;

    /// Creates a controller for a new flow with segments of `mss` bytes.
    fn new(config: &Self::Config, mss: u64) -> Self;

    /// Called once when the flow starts, before any other method. Default: does nothing.
    fn open(&mut self, opening: &mut FlowStart<'_>) {
        let _ = opening;
    }

    /// Called when the measured path differs from the one known so far. Never called if the driver knows all of the
    /// path. Default: does nothing.
    fn on_path(&mut self, path: &Path) {
        let _ = path;
    }

    /// Returns the congestion window in bytes. If nothing is in flight, one segment may be sent regardless.
    fn window(&self) -> u64;

    /// Returns whether the flow's packets are ECN-capable, where [`Self::ECN`] allows it. Constant for a flow. Default:
    /// they are.
    fn is_ecn_capable(&self) -> bool {
        true
    }

    /// Returns the rank of the packet that begins at byte `offset` of the flow; `una` is the first byte that is not
    /// acknowledged, and `left` are the bytes from `offset` to the end of the flow. Called for each data packet if
    /// [`Self::RANK`] is [`Rank::Own`]. Default: `left`.
    fn rank(&self, offset: u64, una: u64, left: u64) -> u64 {
        let _ = (offset, una);
        left
    }

    /// Returns limits besides the window, as of the last call that changed something. Default: none.
    fn gate(&self) -> SendPermission {
        SendPermission::Open
    }

    /// Called when a segment was sent. Default: does nothing.
    fn on_sent(&mut self, now: Time) {
        let _ = now;
    }

    /// Called when the probe requested by [`SendPermission::Probe`] was sent; without a reply after `timeout` it
    /// counts as lost. The gate must not request another probe at the same time. Default: does nothing.
    fn on_probe_sent(&mut self, now: Time, timeout: Span) {
        let _ = (now, timeout);
    }

    /// Called when a reply to a probe arrives, possibly late or twice. Default: does nothing.
    fn on_probe_answer(&mut self, answer: &ProbeReply) {
        let _ = answer;
    }

    /// Returns when [`Self::on_wake`] is due, as of the last call that changed something; `Time::NEVER` for never.
    /// Default: never.
    fn wake(&self) -> Time {
        Time::NEVER
    }

    /// Called at the instant of [`Self::wake`], or later by a real host whose timer is late; the answer of that method
    /// is then above `now`. Default: does nothing.
    fn on_wake(&mut self, now: Time) {
        let _ = now;
    }

    /// Returns how receivers tell senders of marks, in addition to the echo in ACKs. Default: not at all.
    fn notification(config: &Self::Config) -> Option<Notification> {
        let _ = config;
        None
    }

    /// Called when a CNP arrives for the flow. Default: does nothing.
    fn on_notification(&mut self, now: Time) {
        let _ = now;
    }

    /// Called when the class of the flow's packets changes. Default: does nothing.
    fn set_class(&mut self, class: Class) {
        let _ = class;
    }

    /// Called with the telemetry of the packet that an ACK answers, before [`Self::on_ack`] with that ACK, if there
    /// is any telemetry. Default: does nothing.
    fn on_telemetry(&mut self, telemetry: &Self::Telemetry) {
        let _ = telemetry;
    }

    /// Called for each ACK, duplicate or not.
    fn on_ack(&mut self, ack: &AckEvent);

    /// Called when a loss is inferred from ACKs; once per recovery (RFC 5681 §3.2).
    fn on_loss(&mut self, loss: &LossEvent);

    /// Called for each segment whose trimmed header reached the receiver, with `recovery = "trims"`; for the first of a
    /// recovery after [`Self::on_loss`]. Default: does nothing.
    fn on_trim(&mut self, trim: &TrimEvent) {
        let _ = trim;
    }

    /// Called when the retransmission timer expires (RFC 5681 §3.1); `repeat` tells whether it expired before for
    /// the same data.
    fn on_timeout(&mut self, loss: &LossEvent, repeat: Repeat);

    /// Called when fast recovery without selective ACKs ends with `in_flight` bytes outstanding. The controller may
    /// limit the window to avoid a burst (RFC 6582 §3.2 step 3, option 1). Default: does nothing.
    fn on_recovered(&mut self, in_flight: u64) {
        let _ = in_flight;
    }

    /// Called before a connection sends again after it has sent nothing for longer than its retransmission timeout, with
    /// `first_window`, the initial window in bytes. Default: does nothing, so that the window stays.
    fn restart(&mut self, first_window: u64) {
        let _ = first_window;
    }

    /// Sets the flow's minimum rate and weight (in thousandths of a best-effort flow's). Default: ignored.
    fn set_weights(&mut self, theta: Option<Rate>, w_milli: u32) {
        let _ = (theta, w_milli);
    }

    /// Passes internal state other than the window to `see`, as [`crate::endpoint::Endpoint::inspect`] does.
    /// Default: none.
    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        let _ = see;
    }
}

/// Whether a timeout is the first for the data at the head of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// The first timeout for this data.
    First,
    /// The timer was already backed off for the same data.
    Again,
}

#[cfg(test)]
mod tests;
