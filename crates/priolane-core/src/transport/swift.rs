//! Swift: keeps the delay near a target (SIGCOMM 2020, Algorithm 1 and §3).
//!
//! ```text
//! target    base + h hops + clamp(fa / sqrt(W) + fb, 0, fs_range)                                  (§3.5)
//!           fa = fs_range / (1/sqrt(fs_min) - 1/sqrt(fs_max)),  fb = -fa / sqrt(fs_max)
//!           minus class_step for each class below the best: a baseline of PrioPlus (its Fig. 3 and 12)
//! ACK       delay < target:  W += ai acked / W; for W < MSS, W += ai acked / MSS
//!                            `divisor = "window_and_packet"`: W += ai acked / (W + MSS - 1 B)
//!           else, a round trip after the last decrease:
//!                            W *= max(1 - beta (delay - target) / delay, 1 - max_mdf)
//! loss      W *= 1 - max_mdf, at most once a round trip
//! timeout   the same; after `retx_reset` of them in a row W = min_window
//! W < MSS   one packet every RTT MSS / W                                                           (§3.4)
//! `whole_bytes`: each W is rounded down to whole bytes
//! ```
//!
//! `delay` is the fabric delay of this ACK: the round-trip time without the processing time of the two hosts.
//! With an endpoint target, a second window follows the (smoothed) host delay, and the smaller window applies
//! (§3.2). Decisions where the paper is silent: docs/assumptions.md#swift-values, #swift-decrease-timer,
//! #swift-endpoint.

mod findings;

use super::ControllerParams;
use super::delay::{DelayBased, FixedTarget, Signal, Size};
use super::window::{
    AckEvent, CongestionControl, FlowStart, Growth, LossEvent, Pacer, Repeat, SendPermission,
};
use crate::endpoint::Path;
use crate::ids::Class;
use crate::keys::{KeyConflict, Keys, Words, truth_value};
use crate::part::Part;
use crate::units::{Span, Time};

/// Weight of a new sample of the host delay, as in RFC 6298's smoothing.
const ENDPOINT_GAIN: f64 = 0.125;

/// Parameters of Swift.
#[derive(Clone, Copy, PartialEq, Debug, Keys, Part)]
#[keys(group = "swift", check = Self::check)]
#[part(
    name = "swift",
    summary = "Swift: keeps the delay near a target; paces windows below one packet",
    source = "Swift (SIGCOMM 2020)",
    provides = [Ranks, Connections],
    findings = Self::findings,
    deploy = [CongestionModule],
    paths = BaseDelay,
    on_hosts = ["target = 2ms", "min_cwnd = 0.5pkt"]
)]
pub struct Config {
    /// Source of the default values.
    #[key(
        default = Preset::Paper,
        shown = "paper; prioplus_baseline inside PrioPlus",
        source = "docs/assumptions.md#swift-values"
    )]
    pub preset: Preset,
    /// The delay that the controller uses.
    #[key(name = "delay", default = Signal::Rtt, source = "Swift (SIGCOMM 2020) §3.2")]
    pub signal: Signal,
    /// Initial window of a flow.
    #[key(default = Self::of(preset).start, shown = "depends on preset", source = "docs/assumptions.md#swift-values")]
    pub start: FirstWindow,
    /// Additive increase per round trip below the target.
    #[key(default = Self::of(preset).ai, shown = "depends on preset", source = "Swift (SIGCOMM 2020) Alg. 1")]
    pub ai: Size,
    /// Base target, without the parts for hops and small windows.
    #[key(
        default = Self::of(preset).target,
        shown = "depends on preset",
        range = "(0, )",
        source = "Swift (SIGCOMM 2020) §3.5"
    )]
    pub target: Span,
    /// What the target is relative to.
    #[key(
        default = Self::of(preset).target_from,
        shown = "depends on preset",
        source = "docs/assumptions.md#swift-values"
    )]
    pub target_from: TargetFrom,
    /// Increase of the target per link of the path.
    #[key(default = Self::of(preset).hop, shown = "depends on preset", source = "Swift (SIGCOMM 2020) §3.5")]
    pub hop: Span,
    /// Decrease of the target per class below the best; for controllers without channels.
    #[key(default = Span::ZERO, source = "PrioPlus (EuroSys 2025) Fig. 3 and 12, its baseline")]
    pub class_step: Span,
    /// Maximum that flow scaling adds to the target; off for no flow scaling.
    #[key(
        off = "0ps",
        default = Self::of(preset).fs_range,
        shown = "depends on preset",
        source = "Swift (SIGCOMM 2020) §3.5, Fig. 5"
    )]
    pub fs_range: Option<Span>,
    /// Window at which flow scaling adds the whole `fs_range`.
    #[key(
        default = Self::of(preset).fs_min,
        shown = "depends on preset",
        range = "(0, )",
        source = "Swift (SIGCOMM 2020) Fig. 5"
    )]
    pub fs_min: Size,
    /// Window above which flow scaling adds nothing; above `fs_min`.
    #[key(
        default = Self::of(preset).fs_max,
        shown = "depends on preset",
        range = "(0, )",
        source = "Swift (SIGCOMM 2020) Fig. 5"
    )]
    pub fs_max: Size,
    /// Multiplicative decrease factor: the decrease is this times the relative excess delay.
    #[key(default = 0.8, range = "(0, 1]", source = "docs/assumptions.md#swift-values")]
    pub beta: f64,
    /// Maximum decrease, as a fraction of the window.
    #[key(default = 0.5, range = "(0, 1]", source = "docs/assumptions.md#swift-values")]
    pub max_mdf: f64,
    /// Floor of the window.
    #[key(
        name = "min_cwnd",
        default = Self::of(preset).min_window,
        shown = "depends on preset",
        range = "(0, )",
        source = "Swift (SIGCOMM 2020) §3.4"
    )]
    pub min_window: Size,
    /// Ceiling of the window.
    #[key(
        name = "max_cwnd",
        default = Self::of(preset).max_window,
        shown = "depends on preset",
        range = "(0, )",
        source = "docs/assumptions.md#swift-values"
    )]
    pub max_window: Size,
    /// Whether windows are rounded down to whole packets, at least one.
    #[key(
        name = "whole_packets",
        default = Self::of(preset).whole,
        shown = "false; true in lite",
        source = "docs/assumptions.md#swift-values"
    )]
    pub whole: Whole,
    /// Whether windows are whole numbers of bytes: what an ACK adds or leaves is rounded down.
    #[key(
        name = "whole_bytes",
        default = Grain::Fractions,
        skip_default,
        source = "docs/assumptions.md#swift-values"
    )]
    pub grain: Grain,
    /// The divisor of what an ACK adds to the window.
    #[key(default = Divisor::Window, skip_default, source = "docs/assumptions.md#swift-values")]
    pub divisor: Divisor,
    /// Target for the delay in hosts; off to use the fabric delay only.
    #[key(off = "0ps", source = "Swift (SIGCOMM 2020) §3.2; docs/assumptions.md#swift-endpoint")]
    pub endpoint_target: Option<Span>,
    /// Timeouts in a row after which the window is set to the floor.
    #[key(default = 5, range = "[1, 1000000]", source = "docs/assumptions.md#swift-values")]
    pub retx_reset: u32,
    /// Initial window of a flow.
    #[keys(skip = Size::Packets(10.0))]
    pub init_window: Size,
}

impl Config {
    /// Returns the values of a preset.
    pub const fn of(preset: Preset) -> Self {
        let paper = Self {
            preset,
            signal: Signal::Rtt,
            start: FirstWindow::InitWindow,
            ai: Size::Packets(1.0),
            target: Span::from_us(25),
            target_from: TargetFrom::Total,
            // htsim's base / 6.55, to the nanosecond.
            hop: Span::from_ns(3_817),
            class_step: Span::ZERO,
            fs_range: Some(Span::from_us(100)),
            fs_min: Size::Packets(0.1),
            fs_max: Size::Packets(100.0),
            beta: 0.8,
            max_mdf: 0.5,
            min_window: Size::Packets(0.001),
            max_window: Size::Packets(1_000.0),
            whole: Whole::Fractions,
            grain: Grain::Fractions,
            divisor: Divisor::Window,
            endpoint_target: None,
            retx_reset: 5,
            init_window: Size::Packets(10.0),
        };
        match preset {
            Preset::Paper => paper,
            Preset::PrioplusBaseline => Self {
                start: FirstWindow::LineRate,
                ai: Size::Bdp(0.0012),
                target_from: TargetFrom::Base,
                hop: Span::ZERO,
                fs_min: Size::Bdp(0.1),
                fs_max: Size::Bdp(1.0),
                min_window: Size::Bdp(1e-4),
                max_window: Size::Bdp(100.0),
                ..paper
            },
            Preset::Lite => Self {
                target: Span::from_us(10),
                hop: Span::ZERO,
                fs_range: None,
                min_window: Size::Packets(1.0),
                max_window: Size::Packets(30.0),
                whole: Whole::Packets,
                ..paper
            },
        }
    }

    fn check(&mut self) -> Result<(), KeyConflict> {
        match (self.fs_min, self.fs_max) {
            _ if self.fs_range.is_none() => Ok(()),
            (Size::Packets(min), Size::Packets(max)) | (Size::Bdp(min), Size::Bdp(max)) if min < max => {
                Ok(())
            }
            _ => Err(KeyConflict::new(
                "fs_min is not below fs_max, or they have different units",
                "fs_min = \"0.1pkt\" and fs_max = \"100pkt\", or fs_range = \"off\"",
            )),
        }
    }
}

impl ControllerParams for Config {
    fn start_with(&mut self, bytes: u64, mss: u64) {
        self.init_window = match self.start {
            FirstWindow::InitWindow => Size::Packets(bytes as f64 / mss as f64),
            FirstWindow::LineRate => Size::Bdp(1.0),
        };
    }
}

/// A named set of Swift parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Words)]
pub enum Preset {
    /// The values of the Swift paper; where it prints none, those of its implementations.
    Paper,
    /// The baseline of PrioPlus's evaluation.
    PrioplusBaseline,
    /// The controller in Aequitas' simulator.
    Lite,
}

/// The quantity that a target is relative to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Words)]
pub enum TargetFrom {
    /// Zero.
    Total,
    /// The delay of the empty path.
    Base,
}

/// The window of a new flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Words)]
pub enum FirstWindow {
    /// `init_window`.
    InitWindow,
    /// The bandwidth-delay product of the path.
    LineRate,
}

/// Whether windows are whole numbers of packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Whole {
    /// Windows may be fractions of packets.
    #[default]
    Fractions,
    /// Windows are rounded down, as in the simulator of Aequitas.
    Packets,
}

truth_value!(Whole: Fractions, Packets);

/// Whether windows are whole numbers of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Grain {
    /// Windows may have fractions of bytes.
    #[default]
    Fractions,
    /// Windows are rounded down, as in the simulator of PrioPlus.
    Bytes,
}

truth_value!(Grain: Fractions, Bytes);

/// The divisor of an increase, in packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Words)]
pub enum Divisor {
    /// The window, at least one packet.
    #[default]
    Window,
    /// (W + P - 1) / P for a window of W bytes and packets of P, as in the simulator of PrioPlus.
    WindowAndPacket,
}

impl Divisor {
    /// Returns the divisor for a window of `bytes`, in bytes.
    #[inline]
    fn of(self, bytes: f64, mss: f64) -> f64 {
        let window = match self {
            Self::Window => bytes,
            Self::WindowAndPacket => bytes + mss - 1.0,
        };
        if window >= mss { window } else { mss }
    }
}

/// The parameters resolved for a flow on its path, in bytes and picoseconds.
#[derive(Clone, Copy, Debug)]
struct Law {
    mss: f64,
    ai: f64,
    target: f64,
    /// The target of the best class, and the reduction for each class below it.
    top_target: f64,
    class_step: f64,
    fa: f64,
    fb: f64,
    range: f64,
    beta: f64,
    max_mdf: f64,
    min: f64,
    max: f64,
    whole: Whole,
    grain: Grain,
    divisor: Divisor,
    /// The minimum time between two decreases; zero for the round-trip time.
    decrease_every: Span,
}

/// A window and the time of its last decrease.
#[derive(Clone, Copy, Debug)]
struct Cwnd {
    bytes: f64,
    cut: Option<Time>,
}

/// The second window, controlled by the host delay.
#[derive(Clone, Copy, Debug)]
struct EndpointWindow {
    cwnd: Cwnd,
    target: f64,
    /// Smoothed host delay; zero before the first sample.
    delay: f64,
}

/// The window of a Swift flow.
#[derive(Clone, Debug)]
pub struct Swift {
    law: Law,
    signal: Signal,
    cwnd: Cwnd,
    endpoint: Option<EndpointWindow>,
    pacer: Pacer,
    /// The round-trip time of the last ACK; initially that of the empty path.
    rtt: Span,
    timeouts: u32,
    retx_reset: u32,
    config: Config,
    mss: u64,
}

impl Law {
    fn new(config: &Config, mss: u64, path: &Path) -> Self {
        let bytes = |size: Size| size.bytes(mss, path);
        let hops = config.hop.0 as f64 * f64::from(path.hops);
        let base = match config.target_from {
            TargetFrom::Total => config.target.0 as f64,
            TargetFrom::Base => config.target.0 as f64 + config.signal.base(&path.data),
        };
        let (range, fa, fb) = config.fs_range.map_or((0.0, 0.0, 0.0), |range| {
            let range = range.0 as f64;
            let (small, large) = (1.0 / bytes(config.fs_min).sqrt(), 1.0 / bytes(config.fs_max).sqrt());
            let fa = range / (small - large);
            (range, fa, -fa * large)
        });
        let min = if config.whole == Whole::Packets { mss as f64 } else { bytes(config.min_window) };
        Self {
            mss: mss as f64,
            ai: bytes(config.ai),
            target: base + hops,
            top_target: base + hops,
            class_step: config.class_step.0 as f64,
            fa,
            fb,
            range,
            beta: config.beta,
            max_mdf: config.max_mdf,
            min,
            max: bytes(config.max_window).max(min),
            whole: config.whole,
            grain: config.grain,
            divisor: config.divisor,
            decrease_every: Span::ZERO,
        }
    }

    /// Returns the target for a window of `cwnd` bytes.
    #[inline]
    fn target(&self, cwnd: f64) -> f64 {
        if self.range == 0.0 {
            return self.target;
        }
        self.target + (self.fa / cwnd.sqrt() + self.fb).clamp(0.0, self.range)
    }

    /// Returns the window that remains of `bytes`: within the bounds, and whole if windows are.
    #[inline]
    fn kept(&self, bytes: f64) -> f64 {
        let kept = match self.grain {
            Grain::Fractions => bytes,
            Grain::Bytes => bytes.floor(),
        };
        kept.clamp(self.min, self.max)
    }

    #[inline]
    fn limited(&self, bytes: f64) -> f64 {
        let whole = match self.whole {
            Whole::Fractions => bytes,
            Whole::Packets => (bytes / self.mss).floor() * self.mss,
        };
        whole.clamp(self.min, self.max)
    }
}

/// The part of an ACK that one of the two windows uses.
#[derive(Clone, Copy, Debug)]
struct Sample {
    now: Time,
    delay: f64,
    target: f64,
    rtt: Span,
    acked: u64,
}

impl Cwnd {
    #[inline]
    fn take(&mut self, sample: &Sample, law: &Law) {
        if sample.delay >= sample.target {
            let factor = 1.0 - law.beta * (sample.delay - sample.target) / sample.delay;
            self.decrease(factor.max(1.0 - law.max_mdf), (sample.now, sample.rtt), law);
        } else if sample.acked > 0 {
            let per = law.divisor.of(self.bytes, law.mss);
            self.bytes = law.kept(self.bytes + law.ai * sample.acked as f64 / per);
        }
    }

    /// Decreases the window unless the last decrease is less than a round trip ago. The timer restarts if the
    /// window fell or is at its floor.
    fn decrease(&mut self, factor: f64, (now, rtt): (Time, Span), law: &Law) {
        let apart = if law.decrease_every > Span::ZERO { law.decrease_every } else { rtt };
        if self.cut.is_some_and(|cut| now.since(cut) < apart) {
            return;
        }
        let before = self.bytes;
        self.bytes = law.kept(before * factor);
        if self.bytes < before || self.bytes <= law.min {
            self.cut = Some(now);
        }
    }
}

impl Swift {
    /// Returns the target at the current window, in picoseconds.
    pub fn target_ps(&self) -> f64 {
        self.law.target(self.cwnd.bytes)
    }

    fn starting(config: &Config, mss: u64, path: &Path) -> Self {
        let law = Law::new(config, mss, path);
        let cwnd = Cwnd { bytes: config.init_window.bytes(mss, path).clamp(law.min, law.max), cut: None };
        let endpoint =
            config.endpoint_target.map(|target| EndpointWindow { cwnd, target: target.0 as f64, delay: 0.0 });
        Self {
            law,
            signal: config.signal,
            cwnd,
            endpoint,
            pacer: Pacer::NEW,
            rtt: path.data.round_trip,
            timeouts: 0,
            retx_reset: config.retx_reset,
            config: *config,
            mss,
        }
    }

    /// Returns the smaller of the two windows.
    #[inline]
    fn bytes(&self) -> f64 {
        self.endpoint.map_or(self.cwnd.bytes, |endpoint| endpoint.cwnd.bytes.min(self.cwnd.bytes))
    }

    /// Feeds the host delay to its window and returns the fabric delay.
    fn split(&mut self, sample: &Sample, ack: &AckEvent) -> f64 {
        let Some(endpoint) = &mut self.endpoint else { return sample.delay };
        let hosts = 2.0 * ack.host_delay.0 as f64;
        endpoint.delay = if endpoint.delay == 0.0 {
            hosts
        } else {
            endpoint.delay + ENDPOINT_GAIN * (hosts - endpoint.delay)
        };
        endpoint.cwnd.take(&Sample { delay: endpoint.delay, target: endpoint.target, ..*sample }, &self.law);
        match self.signal {
            Signal::Rtt => sample.delay - hosts,
            Signal::OneWay => sample.delay,
        }
    }

    fn cut(&mut self, now: Time) {
        let (law, at) = (&self.law, (now, self.rtt));
        self.cwnd.decrease(1.0 - law.max_mdf, at, law);
        if let Some(endpoint) = &mut self.endpoint {
            endpoint.cwnd.decrease(1.0 - law.max_mdf, at, law);
        }
    }
}

impl CongestionControl for Swift {
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
        let old = self.law;
        self.law = Law::new(&self.config, self.mss, path);
        self.law.target = self.law.top_target - (old.top_target - old.target);
        self.law.decrease_every = old.decrease_every;
        self.set_cwnd(self.cwnd.bytes);
    }

    fn set_class(&mut self, class: Class) {
        self.law.target = self.law.top_target - f64::from(class) * self.law.class_step;
    }

    /// Returns at least one segment: pacing enforces smaller windows.
    #[inline]
    fn window(&self) -> u64 {
        let bytes = self.law.limited(self.bytes()) as u64;
        bytes.max(self.mss)
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        let Some(delay) = self.signal.of(ack) else { return };
        if let Some(rtt) = ack.rtt {
            self.rtt = rtt;
        }
        if ack.acked > 0 {
            self.timeouts = 0;
        }
        let acked = if ack.growth == Growth::Allowed { ack.acked } else { 0 };
        let sample = Sample { now: ack.now, delay, target: 0.0, rtt: self.rtt, acked };
        let fabric = self.split(&sample, ack);
        let target = self.law.target(self.cwnd.bytes);
        self.cwnd.take(&Sample { delay: fabric, target, ..sample }, &self.law);
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        self.timeouts = 0;
        self.cut(loss.now);
    }

    fn on_timeout(&mut self, loss: &LossEvent, _repeat: Repeat) {
        self.timeouts += 1;
        if self.timeouts < self.retx_reset {
            self.cut(loss.now);
            return;
        }
        let floor = Cwnd { bytes: self.law.min, cut: Some(loss.now) };
        self.cwnd = floor;
        if let Some(endpoint) = &mut self.endpoint {
            endpoint.cwnd = floor;
        }
    }

    #[inline]
    fn gate(&self) -> SendPermission {
        self.pacer.below_packet(self.bytes(), self.mss, self.rtt)
    }

    #[inline]
    fn on_sent(&mut self, now: Time) {
        self.pacer = self.pacer.sent(now, || self.gate());
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        see("swift_window_bytes", self.bytes());
        see("target_ps", self.target_ps());
    }
}

impl DelayBased for Swift {
    fn signal(config: &Config) -> Signal {
        config.signal
    }

    #[inline]
    fn cwnd(&self) -> f64 {
        self.bytes()
    }

    fn set_cwnd(&mut self, bytes: f64) {
        self.cwnd.bytes = self.law.kept(bytes);
        if let Some(endpoint) = &mut self.endpoint {
            endpoint.cwnd.bytes = endpoint.cwnd.bytes.max(self.cwnd.bytes);
        }
    }

    fn set_fixed_target(&mut self, fixed_target: FixedTarget) {
        self.law.target = fixed_target.target;
        self.law.range = 0.0;
        self.law.decrease_every = fixed_target.decrease_every.unwrap_or(Span::ZERO);
    }

    #[inline]
    fn step(&self) -> f64 {
        self.law.ai
    }

    fn divides_by_more(&self) -> bool {
        self.law.divisor == Divisor::WindowAndPacket
    }

    #[inline]
    fn set_step(&mut self, bytes: f64) {
        self.law.ai = bytes;
    }
}

#[cfg(test)]
mod tests;
