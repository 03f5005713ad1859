//! DCQCN, the rate control of RDMA NICs over Ethernet (SIGCOMM 2015).
//!
//! ```text
//! CNP                R_T = R_C;  R_C = R_C (1 - alpha / 2);  alpha = (1 - g) alpha + g;  both stages = 0   (Eq. 1)
//! none for K         alpha = (1 - g) alpha, and again after each further K                                 (Eq. 2)
//! T, or B bytes sent its stage += 1, then
//!   max < F          fast recovery    R_C = (R_T + R_C) / 2                                                (Eq. 3)
//!   min > F          hyper increase   R_T += R_HAI, then as above
//!   otherwise        additive         R_T += R_AI, then as above                                           (Eq. 4)
//! pace               a packet every MSS / R_C; R_T and R_C are at most the line's rate, R_C is at least min_rate
//! ```
//!
//! A flow has a rate and no window. It starts at the rate of its line, and no timer runs before the first CNP. A marked
//! ACK is a CNP, at most one in each `cnp_interval`: a receiver acknowledges a change of marks at once, so that CNPs
//! arrive when they would. With `cnp_class` CNPs are packets of that class, which the receiver sends and which may wait in
//! queues of their own; marks of ACKs then count for nothing. T is a timer of the transport ([`CongestionControl::wake`]), which no flow at the line's rate
//! sets; alpha is brought up to date when it is used. Decisions of this implementation: docs/assumptions.md#dcqcn,
//! docs/assumptions.md#dcqcn-values.

use super::ControllerParams;
use super::window::{
    AckEvent, CongestionControl, FlowStart, LossEvent, Notification, Pacer, Repeat, SendPermission,
};
use crate::endpoint::Path;
use crate::finding::{Finding, NetworkFacts};
use crate::ids::Class;
use crate::keys::{Bytes, Keys, Words};
use crate::part::Part;
use crate::quantity::show_rate;
use crate::units::{PS_PER_S, Rate, Span, Time};

/// A window larger than the data that any flow has in flight.
const NO_WINDOW: u64 = 1 << 40;
/// A rate this close to the line's, in bits per second, is the line's: halved distances never vanish.
const AT_LINE: f64 = 1.0;

/// A published set of values.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Words)]
pub enum Preset {
    /// The paper's, for 40 Gbps.
    #[default]
    Paper,
    /// The defaults of ConnectX NICs.
    Connectx,
    /// Those of HPCC's authors for 100 Gbps.
    Hpcc,
}

/// Parameters of DCQCN.
#[derive(Clone, Copy, PartialEq, Debug, Keys, Part)]
#[keys(group = "dcqcn")]
#[part(
    name = "dcqcn",
    summary = "DCQCN: rates from marks, cut at most once per interval and raised by timer and bytes (RoCE NICs)",
    source = "DCQCN (SIGCOMM 2015) §3",
    requires = [CongestionMarks],
    provides = [Ranks, Connections],
    findings = Self::findings,
    deploy = [Ecn, CongestionModule]
)]
pub struct Config {
    /// Published values, the defaults of the other keys.
    #[key(default = Preset::Paper, source = "docs/assumptions.md#dcqcn-values")]
    pub preset: Preset,
    /// g, the weight of a CNP in alpha.
    #[key(default = Self::of(preset).g, shown = "depends on preset", range = "(0, 1]", source = "DCQCN (SIGCOMM 2015) §4.2")]
    pub g: f64,
    /// alpha before the first CNP.
    #[key(default = Self::of(preset).alpha_0, shown = "depends on preset", range = "[0, 1]", source = "DCQCN (SIGCOMM 2015) §3.1")]
    pub alpha_0: f64,
    /// N, the least time between two CNPs of a flow.
    #[key(default = Self::of(preset).cnp_interval, shown = "depends on preset", range = "(0, )", source = "DCQCN (SIGCOMM 2015) §3.1")]
    pub cnp_interval: Span,
    /// Class of CNPs as packets of their own, at most one per `cnp_interval` and connection. Without it, marked ACKs are CNPs.
    #[key(
        optional,
        range = "[0, 15]",
        shown = "none",
        source = "DCQCN (SIGCOMM 2015) §3.1; docs/assumptions.md#dcqcn-cnps"
    )]
    pub cnp_class: Option<Class>,
    /// K, the time without a CNP after which alpha decays, and the time between decays.
    #[key(default = Self::of(preset).alpha_timer, shown = "depends on preset", range = "(0, )", source = "DCQCN (SIGCOMM 2015) §3.1")]
    pub alpha_timer: Span,
    /// T, the time between increases of the rate.
    #[key(default = Self::of(preset).rate_timer, shown = "depends on preset", range = "(0, )", source = "DCQCN (SIGCOMM 2015) §4.2")]
    pub rate_timer: Span,
    /// B, the bytes of payload sent between increases of the rate, at most one a packet; `"off"` for increases by time
    /// alone.
    #[key(off = "0B", default = Self::of(preset).byte_counter, shown = "depends on preset", form = Bytes, source = "DCQCN (SIGCOMM 2015) §4.2")]
    pub byte_counter: Option<u64>,
    /// F, the stages of fast recovery.
    #[key(default = Self::of(preset).recovery_stages, shown = "depends on preset", range = "[1, 1000]", source = "DCQCN (SIGCOMM 2015) §3.1")]
    pub recovery_stages: u32,
    /// R_AI, the step of additive increase.
    #[key(default = Self::of(preset).additive, shown = "depends on preset", source = "DCQCN (SIGCOMM 2015) §4.2")]
    pub additive: Rate,
    /// R_HAI, the step of hyper increase.
    #[key(default = Self::of(preset).hyper, shown = "depends on preset", source = "docs/assumptions.md#dcqcn-values")]
    pub hyper: Rate,
    /// Floor of the rate.
    #[key(default = Self::of(preset).min_rate, shown = "depends on preset", source = "docs/assumptions.md#dcqcn-values")]
    pub min_rate: Rate,
    /// Whether each CNP sets R_T to R_C; otherwise the first CNP after an increase does.
    #[key(default = Self::of(preset).clamp_target, shown = "depends on preset", source = "DCQCN (SIGCOMM 2015) Eq. 1")]
    pub clamp_target: bool,
}

const fn mbps(megabits: u64) -> Rate {
    match Rate::from_bps(megabits * 1_000_000) {
        Some(rate) => rate,
        None => panic!("a rate above zero"),
    }
}

impl Config {
    /// Returns the values of a preset.
    pub const fn of(preset: Preset) -> Self {
        let paper = Self {
            preset,
            g: 1.0 / 256.0,
            alpha_0: 1.0,
            cnp_interval: Span::from_us(50),
            cnp_class: None,
            alpha_timer: Span::from_us(55),
            rate_timer: Span::from_us(55),
            byte_counter: Some(10_000_000),
            recovery_stages: 5,
            additive: mbps(40),
            hyper: mbps(200),
            min_rate: mbps(10),
            clamp_target: true,
        };
        match preset {
            Preset::Paper => paper,
            Preset::Connectx => Self {
                g: 5.0 / 1_024.0,
                alpha_0: 1_023.0 / 1_024.0,
                cnp_interval: Span::from_us(4),
                alpha_timer: Span::from_us(1),
                rate_timer: Span::from_us(300),
                byte_counter: Some(32_767 * 64),
                recovery_stages: 1,
                additive: mbps(5),
                hyper: mbps(50),
                min_rate: mbps(1),
                clamp_target: false,
                ..paper
            },
            Preset::Hpcc => Self {
                cnp_interval: Span::from_us(4),
                alpha_timer: Span::from_us(1),
                rate_timer: Span::from_us(300),
                byte_counter: None,
                recovery_stages: 1,
                additive: mbps(20),
                hyper: mbps(200),
                min_rate: mbps(100),
                clamp_target: false,
                ..paper
            },
        }
    }

    fn findings(&self, network: &NetworkFacts<'_>) -> Vec<Finding> {
        self.floor(network).into_iter().collect()
    }

    /// A least rate that no link of the path carries.
    fn floor(&self, network: &NetworkFacts<'_>) -> Option<Finding> {
        let (path, severity) = network.worst(|path| self.min_rate >= path.path.rate)?;
        let what = format!(
            "min_rate is {}, but {} carries {}: no mark ever lowers the rate of a flow below the path's",
            show_rate(self.min_rate),
            path.name(),
            show_rate(path.path.rate)
        );
        Some(Finding::new(severity, "min_rate", what, "a min_rate far below the rate of the slowest link"))
    }
}

impl ControllerParams for Config {
    fn classes(&self) -> u8 {
        self.cnp_class.map_or(1, |class| class + 1)
    }
}

/// Counters of a flow since its last CNP.
#[derive(Clone, Copy, Debug)]
struct Since {
    /// The last CNP.
    cnp: Time,
    /// The next decay of alpha.
    decay: Time,
    /// The next increase by time.
    raise: Time,
    /// Bytes sent since the last increase by bytes.
    sent: u64,
    /// Increases by time and by bytes.
    by_time: u32,
    by_bytes: u32,
}

/// The rate of a DCQCN flow.
#[derive(Clone, Debug)]
pub struct Dcqcn {
    config: Config,
    mss: u64,
    /// The rate of the line, R_C and R_T, in bits per second.
    line: f64,
    rate: f64,
    target: f64,
    alpha: f64,
    /// `None` before the first CNP.
    since: Option<Since>,
    pacer: Pacer,
}

impl Dcqcn {
    fn starting(config: &Config, mss: u64, path: &Path) -> Self {
        let line = path.rate.bps() as f64;
        Self {
            config: *config,
            mss,
            line,
            rate: line,
            target: line,
            alpha: config.alpha_0,
            since: None,
            pacer: Pacer::NEW,
        }
    }

    /// Lets alpha decay up to `now`.
    fn decay(&mut self, now: Time) {
        let Some(since) = &mut self.since else { return };
        if since.decay > now {
            return;
        }
        let times = now.since(since.decay).0 / self.config.alpha_timer.0 + 1;
        self.alpha *= libm::pow(1.0 - self.config.g, times as f64);
        since.decay += self.config.alpha_timer.times(times);
    }

    /// Cuts the rate for a CNP (Eq. 1).
    fn cut(&mut self, now: Time) {
        self.decay(now);
        let is_raised = self.since.is_none_or(|since| since.by_time.max(since.by_bytes) > 0);
        if self.config.clamp_target || is_raised {
            self.target = self.rate;
        }
        let Config { g, alpha_timer, rate_timer, min_rate, .. } = self.config;
        self.rate = (self.rate * (1.0 - self.alpha / 2.0)).max(min_rate.bps() as f64).min(self.line);
        self.alpha = (1.0 - g) * self.alpha + g;
        self.since = Some(Since {
            cnp: now,
            decay: now + alpha_timer,
            raise: now + rate_timer,
            sent: 0,
            by_time: 0,
            by_bytes: 0,
        });
    }

    /// Raises the rate after a stage (Eq. 3, 4).
    fn raise(&mut self, (by_time, by_bytes): (u32, u32)) {
        let stages = self.config.recovery_stages;
        let least = if self.config.byte_counter.is_some() { by_time.min(by_bytes) } else { by_time };
        if least > stages {
            self.target += self.config.hyper.bps() as f64;
        } else if by_time.max(by_bytes) >= stages {
            self.target += self.config.additive.bps() as f64;
        }
        self.target = self.target.min(self.line);
        self.rate = f64::midpoint(self.target, self.rate);
        if self.line - self.rate < AT_LINE {
            (self.rate, self.target) = (self.line, self.line);
        }
    }

    /// Counts a packet that was sent.
    fn count(&mut self) {
        let Some(bytes) = self.config.byte_counter else { return };
        let Some(since) = self.since.as_mut().filter(|_| self.rate < self.line) else { return };
        since.sent += self.mss;
        if since.sent >= bytes {
            since.sent %= bytes;
            since.by_bytes += 1;
            let stages = (since.by_time, since.by_bytes);
            self.raise(stages);
        }
    }
}

impl CongestionControl for Dcqcn {
    type Config = Config;

    type Telemetry = ();

    const ECN: bool = true;

    const PACED: bool = true;

    const TIMED: bool = true;

    const NOTIFIED: bool = true;

    fn new(config: &Config, mss: u64) -> Self {
        Self::starting(config, mss, &Path::NOMINAL)
    }

    fn open(&mut self, opening: &mut FlowStart<'_>) {
        *self = Self::starting(&self.config, self.mss, &(opening.path)());
        self.pacer = Pacer::with(opening.catch_up);
    }

    fn on_path(&mut self, path: &Path) {
        let is_full = self.rate >= self.line;
        self.line = path.rate.bps() as f64;
        let most = if is_full { f64::INFINITY } else { self.rate };
        (self.rate, self.target) = (self.line.min(most), self.target.min(self.line));
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
        self.count();
    }

    #[inline]
    fn wake(&self) -> Time {
        match &self.since {
            Some(since) if self.rate < self.line => since.raise,
            _ => Time::NEVER,
        }
    }

    fn on_wake(&mut self, now: Time) {
        while self.wake() <= now {
            let Some(since) = &mut self.since else { return };
            since.raise += self.config.rate_timer;
            since.by_time += 1;
            let stages = (since.by_time, since.by_bytes);
            self.raise(stages);
        }
    }

    fn notification(config: &Config) -> Option<Notification> {
        config.cnp_class.map(|class| Notification { class, interval: config.cnp_interval })
    }

    fn on_notification(&mut self, now: Time) {
        self.cut(now);
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        let interval = self.config.cnp_interval;
        if self.config.cnp_class.is_some() {
            return;
        }
        if ack.marked && self.since.is_none_or(|since| ack.now.since(since.cnp) >= interval) {
            self.cut(ack.now);
        }
    }

    fn on_loss(&mut self, _loss: &LossEvent) {}

    fn on_timeout(&mut self, _loss: &LossEvent, _repeat: Repeat) {}

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        see("dcqcn_rate_bps", self.rate);
        see("dcqcn_target_bps", self.target);
        see("dcqcn_alpha", self.alpha);
    }
}

#[cfg(test)]
mod tests;
