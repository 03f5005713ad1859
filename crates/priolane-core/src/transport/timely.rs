//! TIMELY: rate control by the gradient of the round-trip time (SIGCOMM 2015, Algorithm 1).
//!
//! ```text
//! once per round trip       diff = (1 - alpha) diff + alpha (rtt - rtt before),  gradient = diff / min_rtt
//! rtt < t_low               rate += delta
//! rtt > t_high              rate *= 1 - beta (1 - t_high / rtt)
//! otherwise gradient <= 0   rate += N delta,  N = 5 from the fifth such update in a row, else 1         (§4.3)
//!           gradient > 0    rate *= 1 - beta gradient, not below 0
//! pace                      a packet every MSS / rate, between min_rate and the link rate
//! ```
//!
//! A flow has a rate and no window. Decisions where the paper is silent: docs/assumptions.md#timely.

use super::ControllerParams;
use super::window::{AckEvent, CongestionControl, FlowStart, LossEvent, Pacer, Repeat, SendPermission};
use crate::endpoint::Path;
use crate::finding::{Finding, NetworkFacts, PathFacts};
use crate::keys::{KeyConflict, Keys};
use crate::part::Part;
use crate::quantity::{about_span, show_rate};
use crate::units::{PS_PER_S, Rate, Span, Time};

/// The rate grows faster from this number of consecutive updates with a gradient of at most 0.
const HYPERACTIVE_FROM: u32 = 5;
/// Factor of the faster growth (N).
const HYPERACTIVE: f64 = 5.0;
/// A window larger than the data that any flow has in flight.
const NO_WINDOW: u64 = 1 << 40;

/// Parameters of TIMELY.
#[derive(Clone, Copy, PartialEq, Debug, Keys, Part)]
#[keys(group = "timely", check = Self::check)]
#[part(
    name = "timely",
    summary = "TIMELY: rates from the gradient of the round-trip time",
    source = "TIMELY (SIGCOMM 2015) Algorithm 1",
    provides = [Ranks, Connections],
    findings = Self::findings,
    deploy = [CongestionModule],
    on_hosts = ["t_low = 1ms, t_high = 5ms"]
)]
pub struct Config {
    /// Round-trip time below which the rate increases regardless of the gradient.
    #[key(default = Span::from_us(50), range = "(0, )", source = "TIMELY (SIGCOMM 2015) §4.4")]
    pub t_low: Span,
    /// Round-trip time above which the rate decreases regardless of the gradient.
    #[key(default = Span::from_us(500), range = "(0, )", source = "TIMELY (SIGCOMM 2015) §4.4")]
    pub t_high: Span,
    /// Weight of the newest RTT difference.
    #[key(default = 0.875, range = "(0, 1]", source = "docs/assumptions.md#timely")]
    pub alpha: f64,
    /// Multiplicative decrease factor.
    #[key(default = 0.8, range = "(0, 1]", source = "TIMELY (SIGCOMM 2015) §4.3")]
    pub beta: f64,
    /// Additive increase step.
    #[key(default = Rate::from_bps(10_000_000).expect("above zero"), source = "TIMELY (SIGCOMM 2015) §4.3")]
    pub delta: Rate,
    /// The minimum RTT that gradients are normalized by; without it, or with "0ps", the round-trip time of the flow's
    /// empty path.
    #[key(auto = "0ps", source = "TIMELY (SIGCOMM 2015) §4.3")]
    pub min_rtt: Option<Span>,
    /// Floor of the rate.
    #[key(default = Rate::from_bps(10_000_000).expect("above zero"), source = "docs/assumptions.md#timely")]
    pub min_rate: Rate,
}

impl Config {
    fn check(&self) -> Result<(), KeyConflict> {
        if self.t_low <= self.t_high {
            return Ok(());
        }
        Err(KeyConflict::of("t_low", "t_low is above t_high", "a time of at most t_high"))
    }

    fn findings(&self, network: &NetworkFacts<'_>) -> Vec<Finding> {
        [self.above_idle(network), self.never_reached(network), self.floor(network)]
            .into_iter()
            .flatten()
            .collect()
    }

    /// Round trips of the empty path above `t_high` decrease the rate forever.
    fn above_idle(&self, network: &NetworkFacts<'_>) -> Option<Finding> {
        let (path, severity) = network.worst(|path| self.t_high <= path.path.data.round_trip)?;
        let what = format!(
            "t_high is {}, but on {} a round trip takes {} when nothing waits: the rate falls to min_rate, {}, on an \
             idle network",
            about_span(self.t_high),
            path.name(),
            about_span(path.path.data.round_trip),
            show_rate(self.min_rate)
        );
        let fix =
            format!("t_high = {:?}, and t_low below it", about_span(path.path.data.round_trip.times(4)));
        Some(Finding::new(severity, "t_high", what, fix))
    }

    /// A full queue whose round trip is below `t_low` never decreases the rate.
    fn never_reached(&self, network: &NetworkFacts<'_>) -> Option<Finding> {
        let full = |path: &PathFacts| {
            let wait = path.full_queue(&network.frame).filter(|_| network.lossless.is_none())?;
            Some(Span(path.path.data.round_trip.0.saturating_add(wait.0)))
        };
        let (path, _) = network.worst(|path| full(path).is_some_and(|full| full <= self.t_low))?;
        let what = format!(
            "t_low is {}, but on {} a round trip through a full queue takes {}: packets are lost before the rate \
             decreases",
            about_span(self.t_low),
            path.name(),
            about_span(full(path)?)
        );
        Some(Finding::warning("t_low", what, "a lower t_low, or a larger buffer"))
    }

    /// A least rate that no link of the path carries.
    fn floor(&self, network: &NetworkFacts<'_>) -> Option<Finding> {
        let (path, severity) = network.worst(|path| self.min_rate >= path.path.rate)?;
        let what = format!(
            "min_rate is {}, but {} carries {}: no queue ever lowers the rate of a flow below the path's",
            show_rate(self.min_rate),
            path.name(),
            show_rate(path.path.rate)
        );
        Some(Finding::new(severity, "min_rate", what, "a min_rate far below the rate of the slowest link"))
    }
}

impl ControllerParams for Config {}

/// The rate of a TIMELY flow.
#[derive(Clone, Debug)]
pub struct Timely {
    config: Config,
    mss: u64,
    /// Current rate and link rate, in bits per second.
    rate: f64,
    line: f64,
    /// In picoseconds: the minimum RTT that normalizes gradients, and the smoothed RTT difference.
    min_rtt: f64,
    diff: f64,
    /// The round-trip time at the last update; `None` before the first.
    before: Option<Span>,
    /// Consecutive updates with a gradient of at most 0.
    falling: u32,
    /// An ACK beyond this sequence number updates the rate.
    update_beyond: u64,
    pacer: Pacer,
}

impl Timely {
    fn starting(config: &Config, mss: u64, path: &Path) -> Self {
        let line = path.rate.bps() as f64;
        Self {
            config: *config,
            mss,
            rate: line,
            line,
            min_rtt: config.min_rtt.unwrap_or(path.data.round_trip).0 as f64,
            diff: 0.0,
            before: None,
            falling: 0,
            update_beyond: 0,
            pacer: Pacer::NEW,
        }
    }

    fn update(&mut self, rtt: Span) {
        let Some(before) = self.before.replace(rtt) else { return };
        let Config { t_low, t_high, alpha, beta, delta, min_rate, .. } = self.config;
        self.diff = (1.0 - alpha) * self.diff + alpha * (rtt.0 as f64 - before.0 as f64);
        let gradient = self.diff / self.min_rtt;
        let delta = delta.bps() as f64;
        let is_between = (t_low..=t_high).contains(&rtt);
        self.falling = if is_between && gradient <= 0.0 { self.falling + 1 } else { 0 };
        if rtt < t_low {
            self.rate += delta;
        } else if rtt > t_high {
            self.rate *= 1.0 - beta * (1.0 - t_high.0 as f64 / rtt.0 as f64);
        } else if gradient <= 0.0 {
            self.rate += delta * if self.falling >= HYPERACTIVE_FROM { HYPERACTIVE } else { 1.0 };
        } else {
            self.rate *= (1.0 - beta * gradient).max(0.0);
        }
        self.rate = self.rate.min(self.line).max(min_rate.bps() as f64);
    }
}

impl CongestionControl for Timely {
    type Config = Config;

    type Telemetry = ();

    const ECN: bool = false;

    const PACED: bool = true;

    fn new(config: &Config, mss: u64) -> Self {
        Self::starting(config, mss, &Path::NOMINAL)
    }

    fn open(&mut self, opening: &mut FlowStart<'_>) {
        *self = Self::starting(&self.config, self.mss, &(opening.path)());
        self.pacer = Pacer::with(opening.catch_up);
    }

    fn on_path(&mut self, path: &Path) {
        let new = Self::starting(&self.config, self.mss, path);
        (self.line, self.min_rtt) = (new.line, new.min_rtt);
        self.rate = self.rate.min(self.line);
    }

    #[inline]
    fn window(&self) -> u64 {
        NO_WINDOW
    }

    #[inline]
    fn gate(&self) -> SendPermission {
        self.pacer.after(|| (self.mss * 8) as f64 / self.rate * PS_PER_S as f64)
    }

    #[inline]
    fn on_sent(&mut self, now: Time) {
        self.pacer = self.pacer.sent(now, || self.gate());
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        let Some(rtt) = ack.rtt else { return };
        if ack.una > self.update_beyond {
            self.update_beyond = ack.next;
            self.update(rtt);
        }
    }

    fn on_loss(&mut self, _loss: &LossEvent) {}

    fn on_timeout(&mut self, _loss: &LossEvent, _repeat: Repeat) {}

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        see("timely_rate_bps", self.rate);
        see("timely_gradient", self.diff / self.min_rtt);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::BaseDelay;
    use crate::keys::with_defaults;
    use crate::transport::window::Growth;

    /// A round trip of 20 us on 10 Gbps links.
    const PATH: Path = {
        let delay = BaseDelay { one_way: Span::from_us(10), round_trip: Span::from_us(20) };
        Path { hops: 2, rate: Rate::from_gbps(10), data: delay, control: delay, send_jitter: Span::ZERO }
    };

    /// A flow at 1 Gbps, after a round trip of 100 us.
    fn timely() -> Timely {
        let mut flow = Timely::starting(&with_defaults(&[]), 1_000, &PATH);
        (flow.rate, flow.before) = (1e9, Some(Span::from_us(100)));
        flow
    }

    fn rates(flow: &mut Timely, rtts_us: &[u64]) -> Vec<f64> {
        let after = |&us: &u64| {
            flow.update(Span::from_us(us));
            (flow.rate / 1e3).round() / 1e3
        };
        rtts_us.iter().map(after).collect()
    }

    #[test]
    fn a_rising_delay_takes_its_gradient_and_a_falling_one_adds_steps() {
        // diff 0.875 x 2 us = 1.75, gradient 0.0875: 1,000 (1 - 0.8 x 0.0875) Mbps; then diff 0.21875, gradient 0.0109375.
        assert_eq!(rates(&mut timely(), &[102, 102]), [930.0, 921.863]);
        // Below 0 from the first; the fifth adds five steps of 10 Mbps.
        assert_eq!(
            rates(&mut timely(), &[99, 98, 97, 96, 95, 94]),
            [1010.0, 1020.0, 1030.0, 1040.0, 1090.0, 1140.0]
        );
        // One gradient above 0 resets the count.
        let broken = rates(&mut timely(), &[99, 98, 97, 96, 40, 96, 80, 79]);
        assert_eq!(broken[4], 1050.0);
        assert!(broken[7] - broken[6] < 11.0);
    }

    #[test]
    fn beyond_the_thresholds_the_gradient_does_not_count() {
        // 40 us is below 50 us, though it rises from 30; 1,000 us is twice t_high, though it falls from 1,200.
        let mut low = timely();
        low.before = Some(Span::from_us(30));
        assert_eq!(rates(&mut low, &[40]), [1010.0]);
        let mut high = timely();
        high.before = Some(Span::from_us(1_200));
        assert_eq!(rates(&mut high, &[1_000]), [600.0]);
    }

    #[test]
    fn the_rate_stays_between_its_floor_and_the_line() {
        let mut flow = timely();
        flow.rate = PATH.rate.bps() as f64;
        assert_eq!(rates(&mut flow, &[40]), [10_000.0]);
        // A gradient above 1.25 would reduce the rate below 0.
        assert_eq!(rates(&mut flow, &[400]), [10.0]);
        assert_eq!(flow.gate(), SendPermission::Open);
        flow.on_sent(Time(0));
        // 8,000 bits at 10 Mbps.
        assert_eq!(flow.gate(), SendPermission::NotBefore(Time(800_000_000)));
    }

    #[test]
    fn the_rate_is_updated_once_per_round_trip() {
        let mut flow = timely();
        let ack = |una, next, us| AckEvent {
            now: Time(1),
            acked: 1_000,
            delivered: 1_000,
            in_flight: 0,
            una,
            next,
            marked: false,
            growth: Growth::Allowed,
            rtt: Some(Span::from_us(us)),
            srtt: Span::ZERO,
            one_way_ps: 0,
            host_delay: Span::ZERO,
        };
        flow.on_ack(&ack(1_000, 5_000, 99));
        let first = flow.rate;
        flow.on_ack(&ack(5_000, 9_000, 300));
        assert_eq!(flow.rate, first);
        flow.on_ack(&ack(6_000, 9_000, 98));
        assert_eq!(flow.rate, first + 1e7);
    }
}
