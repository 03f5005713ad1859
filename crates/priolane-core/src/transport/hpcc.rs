//! HPCC: a window computed from the queue lengths and link loads that switches report (SIGCOMM 2019,
//! Algorithm 1).
//!
//! ```text
//! hop i     u_i = min(queue, queue before) / (B_i T) + (sent - sent before) / (t - t before) / B_i
//! ACK       u = the largest u_i,  tau = its t - t before, at most T
//!           U = (1 - tau / T) U + tau / T u
//! window    U >= eta or incStage >= maxStage:  W = Wc / (U / eta) + W_AI
//!           else                               W = Wc + W_AI
//!           once per round trip, with the first ACK of data sent after the last update:
//!                Wc = W, and incStage = 0 after the first line, incremented after the second
//! pace      W / T
//! ```
//!
//! eta is that of the flow's class: `eta - class * eta_step`, at least 0.05. With the default, a step of 0, all classes
//! have the same.
//!
//! T is one for all flows, the longest round-trip time of empty paths, unless [`CommonRtt`] says otherwise. A flow
//! starts at W = C T. The fields are those of [`crate::telemetry`], in whole numbers. Other decisions:
//! docs/assumptions.md#hpcc-path, #hpcc-loss, #hpcc-start, #hpcc-rtt, #hpcc-bytes.

use super::delay::Size;
use super::window::{AckEvent, CongestionControl, FlowStart, LossEvent, Pacer, Repeat, SendPermission};
use super::{CommonRtt, ControllerParams};
use crate::endpoint::{BaseDelay, Path};
use crate::finding::{Finding, NetworkFacts};
use crate::ids::Class;
use crate::keys::Keys;
use crate::part::Part;
use crate::quantity::about_span;
use crate::telemetry::{HopReading, Path as Readings};
use crate::units::{PS_PER_S, Span, Time};

/// Least target utilization of a class.
const LEAST_TARGET: f64 = 0.05;

/// Below these packets in a bandwidth-delay product and this W_AI, as a part of it, two flows do not come to share a link
/// (measured; docs/assumptions.md#hpcc-rtt).
const FEW_PACKETS: f64 = 16.0;
const SMALL_STEP: f64 = 0.0025;

/// Parameters of HPCC.
#[derive(Clone, Copy, PartialEq, Debug, Keys, Part)]
#[keys(group = "hpcc")]
#[part(
    name = "hpcc",
    summary = "HPCC: windows from the queue lengths and link rates that switches report (INT)",
    source = "HPCC (SIGCOMM 2019) §3",
    provides = [Ranks, Connections],
    findings = Self::findings,
    deploy = [Int, CongestionModule]
)]
pub struct Config {
    /// Target utilization.
    #[key(default = 0.95, range = "(0, 1]", source = "HPCC (SIGCOMM 2019) §5.1")]
    pub eta: f64,
    /// Decrease of the target utilization per class below the best; no class has a target below 0.05.
    #[key(
        default = 0.0,
        skip_default,
        range = "[0, 1)",
        source = "PrioPlus (EuroSys 2025) §6.2, its baseline: 0.88 to 0.95"
    )]
    pub eta_step: f64,
    /// Additive increases in a row before a multiplicative adjustment.
    #[key(default = 5, range = "[0, 1000]", source = "HPCC (SIGCOMM 2019) §5.1")]
    pub max_stage: u32,
    /// W_AI, the additive increase.
    #[key(
        default = Size::Bdp((1.0 - eta) / 100.0),
        shown = "(1 - eta) / 100 bdp",
        source = "HPCC (SIGCOMM 2019) §3.3, §5.1"
    )]
    pub step: Size,
    /// T: a time, "auto" or "0ps" for the longest RTT of the empty paths of the network, or "path" for the RTT of the
    /// flow's own empty path. Hosts that do not know the network take their own path.
    #[key(
        default = CommonRtt::Longest,
        shown = "auto",
        unit = "time",
        source = "HPCC (SIGCOMM 2019) §3.2, §5.1; docs/assumptions.md#hpcc-rtt"
    )]
    pub rtt: CommonRtt,
    /// Floor of the window.
    #[key(default = Size::Bdp(0.001), range = "(0, )", source = "docs/assumptions.md#hpcc-start")]
    pub min_window: Size,
}

impl Config {
    fn findings(&self, network: &NetworkFacts<'_>) -> Vec<Finding> {
        let found = match self.rtt {
            CommonRtt::Fixed(rtt) => Self::below_a_round_trip(rtt, network),
            CommonRtt::Path => Self::unequal(network),
            CommonRtt::Longest => None,
        };
        found.into_iter().chain(self.unshared(network)).collect()
    }

    /// Where few packets fill the path, the packets of a slow flow mostly meet the queue that they cause themselves, so its U is above
    /// that of a fast flow, and a small W_AI does not outweigh the difference.
    fn unshared(&self, network: &NetworkFacts<'_>) -> Option<Finding> {
        let facts = network.paths.last()?;
        let bdp = facts.path.bdp() as f64;
        let packets = bdp / f64::from(network.frame.max_wire());
        let step = self.step.bytes(network.frame.mss().into(), &facts.path) / bdp;
        if packets >= FEW_PACKETS || step >= SMALL_STEP {
            return None;
        }
        let what = format!(
            "{packets:.1} packets fill {}: with W_AI below {SMALL_STEP} bdp, one of two endless flows keeps 80 to 97 % of the rate \
             for good",
            facts.name(),
        );
        Some(Finding::warning("step", what, "step = \"0.005bdp\", W_AI for ten flows at once"))
    }

    /// Without a common T, flows whose paths differ share unequally: at equal windows, u is higher for the shorter T.
    fn unequal(network: &NetworkFacts<'_>) -> Option<Finding> {
        let [shortest, .., longest] = network.paths else { return None };
        let [least, most] = [shortest, longest].map(|facts| facts.path.longest_round_trip());
        (least < most).then(|| {
            let what = format!(
                "T is each flow's own empty round trip, {} to {} here: at a shared link the flow with the longer one takes \
                 most of the rate",
                about_span(least),
                about_span(most)
            );
            Finding::warning("rtt", what, "rtt = \"auto\", the longest of them for all flows")
        })
    }

    /// A T below the round trip of the empty path makes windows that cannot fill it.
    fn below_a_round_trip(rtt: Span, network: &NetworkFacts<'_>) -> Option<Finding> {
        let (path, _) = network.worst(|path| rtt < path.path.data.round_trip)?;
        let round_trip = path.path.data.round_trip;
        let what = format!(
            "T is {}, but on {} a round trip takes {} when nothing waits: a flow alone uses {:.0} % of the rate",
            about_span(rtt),
            path.name(),
            about_span(round_trip),
            100.0 * rtt.0 as f64 / round_trip.0 as f64
        );
        let fix = format!("rtt = {:?}, or rtt = \"auto\"", about_span(Span(round_trip.0 / 20 * 21)));
        Some(Finding::warning("rtt", what, fix))
    }
}

impl ControllerParams for Config {
    fn share_longest_round_trip(&mut self, longest: Span) {
        self.rtt.know_longest(longest);
    }

    fn cost(&self) -> f64 {
        1.67
    }
}

/// The window of an HPCC flow.
#[derive(Clone, Debug)]
pub struct Hpcc {
    config: Config,
    mss: u64,
    /// Target utilization of the flow's class.
    target: f64,
    /// T in picoseconds; W_AI, floor and ceiling of the window in bytes.
    t: f64,
    step: f64,
    least: f64,
    most: f64,
    /// W and Wc in bytes.
    window: f64,
    reference: f64,
    /// U, and incStage.
    utilization: f64,
    stage: u32,
    /// An ACK beyond this sequence number updates Wc; `None` before the first.
    update_beyond: Option<u64>,
    /// The readings of the last ACK, and those of the one before.
    seen: Readings,
    before: Readings,
    pacer: Pacer,
}

impl Hpcc {
    fn starting(config: &Config, mss: u64, path: &Path) -> Self {
        let rtt = config.rtt.of(path);
        // W_AI and the floor are shares of the window that fills a path of T.
        let path =
            &Path { data: BaseDelay { round_trip: rtt, ..path.data }, send_jitter: Span::ZERO, ..*path };
        let t = rtt.0 as f64;
        let most = (path.rate.bps() as f64 * t / (8.0 * PS_PER_S as f64)).max(mss as f64);
        Self {
            config: *config,
            mss,
            target: config.eta,
            t,
            step: config.step.bytes(mss, path),
            least: config.min_window.bytes(mss, path).min(most),
            most,
            window: most,
            reference: most,
            utilization: 1.0,
            stage: 0,
            update_beyond: None,
            seen: Readings::default(),
            before: Readings::default(),
            pacer: Pacer::NEW,
        }
    }

    /// Returns U, the smoothed utilization of the busiest hop.
    pub fn utilization(&self) -> f64 {
        self.utilization
    }

    /// Returns u and tau of the busiest hop; `None` unless both readings are of the same path, in order.
    fn measure(&self) -> Option<(f64, f64)> {
        if self.seen.hop_count() != self.before.hop_count() {
            return None;
        }
        let mut busiest: Option<(f64, f64)> = None;
        for (now, before) in self.seen.hops().zip(self.before.hops()) {
            let (u, tau) = self.hop(now, before)?;
            if busiest.is_none_or(|(most, _)| u > most) {
                busiest = Some((u, tau));
            }
        }
        busiest
    }

    /// Returns u and tau of a hop; `None` unless both readings are of the same port, in order.
    fn hop(&self, now: &HopReading, before: &HopReading) -> Option<(f64, f64)> {
        if now.at <= before.at || now.sent_bytes < before.sent_bytes || now.rate != before.rate {
            return None;
        }
        let per_ps = now.rate.bps() as f64 / (8.0 * PS_PER_S as f64);
        let tau = now.at.since(before.at).0 as f64;
        let queue = now.queued_bytes.min(before.queued_bytes) as f64;
        let sent = (now.sent_bytes - before.sent_bytes) as f64;
        Some((queue / (per_ps * self.t) + sent / tau / per_ps, tau))
    }

    fn react(&mut self, ack: &AckEvent) {
        let updates = self.update_beyond.is_some_and(|beyond| ack.una > beyond);
        let cuts = self.utilization >= self.target || self.stage >= self.config.max_stage;
        let base = if cuts { self.reference / (self.utilization / self.target) } else { self.reference };
        self.window = (base + self.step).clamp(self.least, self.most);
        if updates {
            self.reference = self.window;
            self.stage = if cuts { 0 } else { self.stage + 1 };
            self.update_beyond = Some(ack.next);
        }
    }
}

impl CongestionControl for Hpcc {
    type Config = Config;

    type Telemetry = Readings;

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
        (self.t, self.step, self.least, self.most) = (new.t, new.step, new.least, new.most);
        self.window = self.window.clamp(self.least, self.most);
        self.reference = self.reference.clamp(self.least, self.most);
    }

    fn set_class(&mut self, class: Class) {
        let step = f64::from(class) * self.config.eta_step;
        self.target = (self.config.eta - step).max(LEAST_TARGET.min(self.config.eta));
    }

    /// Returns at least one segment: pacing enforces smaller windows.
    #[inline]
    fn window(&self) -> u64 {
        (self.window as u64).max(self.mss)
    }

    #[inline]
    fn gate(&self) -> SendPermission {
        self.pacer.after(|| self.t * self.mss as f64 / self.window)
    }

    #[inline]
    fn on_sent(&mut self, now: Time) {
        self.pacer = self.pacer.sent(now, || self.gate());
    }

    fn on_telemetry(&mut self, readings: &Readings) {
        self.before = std::mem::replace(&mut self.seen, *readings);
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        if self.update_beyond.is_none() {
            self.update_beyond = Some(ack.next);
            return;
        }
        if let Some((u, tau)) = self.measure() {
            let share = tau.min(self.t) / self.t;
            self.utilization += share * (u - self.utilization);
            self.react(ack);
        }
    }

    fn on_loss(&mut self, _loss: &LossEvent) {}

    fn on_timeout(&mut self, _loss: &LossEvent, _repeat: Repeat) {}

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        see("utilization", self.utilization);
        see("hpcc_reference_bytes", self.reference);
    }
}

#[cfg(test)]
mod tests;
