//! pFabric's rate control: start at line rate, slow down only after persistent losses (SIGCOMM 2013 §4.3).
//!
//! ```text
//! start           cwnd = init_window
//! ACK             cwnd < ssthresh: cwnd += MSS;  else cwnd += MSS per cwnd acknowledged;  at most max_cwnd
//! timeout         ssthresh = max(cwnd / 2, 2 MSS),  cwnd = MSS;  retransmit everything not acknowledged
//! probe mode      after `probe_after` timeouts in a row: header-only probes, one per timeout
//! any reply       ends probe mode and resets the count of timeouts
//! ```
//!
//! The rank of a packet is the number of bytes not yet acknowledged; ports drop and serve by rank
//! ([`crate::port::PFabric`]). The timeout is fixed: floor, ceiling and initial value of the RTO are equal,
//! and duplicate ACKs do not indicate loss. Decisions of this implementation:
//! docs/assumptions.md#pfabric-repair, #pfabric-probe.

use super::delay::Size;
use super::window::{
    AckEvent, CongestionControl, FlowStart, LossEvent, ProbeReply, Rank, Repeat, SendPermission,
};
use super::{ControllerParams, window};
use crate::endpoint::Path;
use crate::keys::{KeyConflict, Keys};
use crate::part::Part;
use crate::units::{Span, Time};

/// Parameters of pFabric's rate control.
#[derive(Clone, Copy, PartialEq, Debug, Keys, Part)]
#[keys(group = "pfabric")]
#[part(
    name = "pfabric",
    summary = "pFabric: starts at line rate with a fixed timeout; ports serve and drop by the remaining \
               bytes",
    source = "pFabric (SIGCOMM 2013) §4.3",
    provides = [Ranks],
    deploy = [UserStack, SizesKnown],
    paths = Whole,
    on_hosts = ["min_rto = 50ms, initial_rto = 50ms, max_rto = 50ms"],
    example = r#"min_rto = "45us", initial_rto = "45us", max_rto = "45us", dup_threshold = 1000000000"#,
    beside = r#"host = "srpt", port = "pfabric""#
)]
pub struct Config {
    /// Initial window of a flow; at least one packet is sent.
    #[key(name = "first_window", default = Size::Bdp(1.0), range = "(0, )", source = "pHost (CoNEXT 2015) §4.1")]
    pub init_window: Size,
    /// Ceiling of the window, at least a packet.
    #[key(
        name = "max_cwnd",
        default = Size::Bdp(1.0),
        range = "(0, )",
        source = "docs/assumptions.md#pfabric-repair"
    )]
    pub max_window: Size,
    /// Timeouts in a row after which the flow only probes.
    #[key(default = 5, range = "[1, 1000000000]", source = "docs/assumptions.md#pfabric-probe")]
    pub probe_after: u32,
}

impl ControllerParams for Config {
    fn fits(&self, window: &window::Config) -> Result<(), KeyConflict> {
        if window.min_rto == window.max_rto && window.min_rto == window.initial_rto {
            return Ok(());
        }
        Err(KeyConflict::new(
            "pFabric has a fixed timeout, but min_rto, initial_rto and max_rto differ",
            "the same value for all three, about three round trips, such as \"45us\"",
        ))
    }
}

/// The window of a pFabric flow.
#[derive(Clone, Debug)]
pub struct PFabric {
    config: Config,
    mss: u64,
    cwnd: u64,
    ceiling: u64,
    ssthresh: u64,
    /// Bytes acknowledged above ssthresh and not yet converted into a segment of window.
    credit: u64,
    /// Timeouts since the last arrival.
    timeouts: u32,
    /// In probe mode: when the next probe is due.
    probe_at: Option<Time>,
}

impl PFabric {
    fn starting(config: &Config, mss: u64, path: &Path) -> Self {
        let bytes = |size: Size| (size.bytes(mss, path) as u64).max(mss);
        let ceiling = bytes(config.max_window);
        Self {
            config: *config,
            mss,
            cwnd: bytes(config.init_window).min(ceiling),
            ceiling,
            ssthresh: u64::MAX,
            credit: 0,
            timeouts: 0,
            probe_at: None,
        }
    }

    /// Ends probe mode after an arrival.
    fn hear(&mut self) {
        self.timeouts = 0;
        self.probe_at = None;
    }
}

impl CongestionControl for PFabric {
    type Config = Config;

    type Telemetry = ();

    const ECN: bool = false;

    const PACED: bool = true;

    const RANK: Rank = Rank::BytesUnacked;

    fn new(config: &Config, mss: u64) -> Self {
        Self::starting(config, mss, &Path::NOMINAL)
    }

    fn open(&mut self, opening: &mut FlowStart<'_>) {
        *self = Self::starting(&self.config, self.mss, &(opening.path)());
    }

    fn on_path(&mut self, path: &Path) {
        self.ceiling = Self::starting(&self.config, self.mss, path).ceiling;
        self.cwnd = self.cwnd.min(self.ceiling);
    }

    #[inline]
    fn window(&self) -> u64 {
        self.cwnd
    }

    #[inline]
    fn gate(&self) -> SendPermission {
        self.probe_at.map_or(SendPermission::Open, SendPermission::Probe)
    }

    fn on_probe_sent(&mut self, now: Time, timeout: Span) {
        self.probe_at = Some(now + timeout);
    }

    fn on_probe_answer(&mut self, _answer: &ProbeReply) {
        self.hear();
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        self.hear();
        if ack.acked == 0 {
            return;
        }
        if self.cwnd < self.ssthresh {
            self.cwnd += self.mss;
        } else {
            self.credit += ack.acked;
            while self.credit >= self.cwnd {
                self.credit -= self.cwnd;
                self.cwnd += self.mss;
            }
        }
        self.cwnd = self.cwnd.min(self.ceiling);
    }

    fn on_loss(&mut self, _loss: &LossEvent) {}

    fn on_timeout(&mut self, loss: &LossEvent, _repeat: Repeat) {
        self.ssthresh = (self.cwnd / 2).max(2 * self.mss);
        self.cwnd = self.mss;
        self.credit = 0;
        self.timeouts = self.timeouts.saturating_add(1);
        if self.timeouts >= self.config.probe_after {
            self.probe_at.get_or_insert(loss.now);
        }
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        see("timeouts_in_a_row", f64::from(self.timeouts));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::window::Growth;

    const MSS: u64 = 1_460;

    fn flow() -> PFabric {
        let twelve =
            Config { init_window: Size::Packets(12.0), max_window: Size::Packets(15.0), probe_after: 5 };
        PFabric::new(&twelve, MSS)
    }

    fn ack(acked: u64) -> AckEvent {
        AckEvent {
            now: Time(1),
            acked,
            delivered: acked,
            in_flight: 0,
            una: 0,
            next: 0,
            marked: false,
            growth: Growth::NotLimited,
            rtt: None,
            srtt: Span::ZERO,
            one_way_ps: 0,
            host_delay: Span::ZERO,
        }
    }

    fn time_out(flow: &mut PFabric, us: u64) {
        let loss = LossEvent { now: Time(us * 1_000_000), in_flight: 0, next: 0 };
        flow.on_timeout(&loss, Repeat::First);
    }

    #[test]
    fn it_starts_at_the_window_grows_by_a_packet_an_ack_and_stops_at_the_ceiling() {
        let mut flow = flow();
        let windows: Vec<u64> = (0..5).map(|_| (flow.window() / MSS, flow.on_ack(&ack(MSS))).0).collect();
        assert_eq!(windows, [12, 13, 14, 15, 15]);
    }

    #[test]
    fn a_timeout_leaves_one_packet_and_half_as_threshold() {
        let mut flow = flow();
        time_out(&mut flow, 45);
        assert_eq!((flow.window(), flow.ssthresh), (MSS, 6 * MSS));
        // Five ACKs to reach six packets, then six for the seventh.
        let windows: Vec<u64> = (0..12).map(|_| (flow.on_ack(&ack(MSS)), flow.window() / MSS).1).collect();
        assert_eq!(windows, [2, 3, 4, 5, 6, 6, 6, 6, 6, 6, 7, 7]);
    }

    #[test]
    fn the_fifth_timeout_in_a_row_begins_to_probe_until_anything_comes_back() {
        let mut flow = flow();
        (1..5).for_each(|n| time_out(&mut flow, 45 * n));
        assert_eq!(flow.gate(), SendPermission::Open);
        time_out(&mut flow, 225);
        assert_eq!(flow.gate(), SendPermission::Probe(Time(225_000_000)));
        flow.on_probe_sent(Time(225_000_000), Span::from_us(45));
        assert_eq!(flow.gate(), SendPermission::Probe(Time(270_000_000)));
        flow.on_ack(&ack(0));
        assert_eq!((flow.gate(), flow.timeouts, flow.window()), (SendPermission::Open, 0, MSS));
        (1..5).for_each(|n| time_out(&mut flow, 300 + 45 * n));
        assert_eq!(flow.gate(), SendPermission::Open);
    }
}
