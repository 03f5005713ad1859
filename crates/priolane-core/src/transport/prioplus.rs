//! PrioPlus: many strict priorities inside one queue, on top of a delay-based controller (EuroSys 2025,
//! Algorithm 1).
//!
//! Each class has a *channel* of delay. Its flows keep the delay near D_target and yield when it reaches
//! D_limit. Only better classes, whose channels are above, can cause that.
//!
//! ```text
//!                  delay >= D_limit, twice
//!        Sending ───────────────────────────▶ Waiting ── probe due ──▶ Probing ── no answer ──▶ Probing, once more
//!           ▲                                    ▲                        │
//!           │                                    └── delay >= D_limit ────┤
//!           └────────────────────────────────────── delay < D_limit ──────┘
//!
//! yield      n = max(n, delay R / W), step = W_AI / n; a probe after (delay - D_target) + U(0, BaseRTT)
//! resume     W = W_LS / n on an empty path, at least a packet; else one packet
//! per RTT    empty path:        W += W_LS / n; n halves after BDP / W_LS quiet RTTs         (linear start)
//!            below D_target:    every second RTT step += min(W / 2, (D_target - delay) / delay W)
//!                                                                                  (dual-RTT adaptive increase)
//! per ACK    the controller, with D_target as its target
//! ```
//!
//! In the released code a flow that has stopped has W = 0 and takes ACKs of what was in flight as any other flow does:
//!
//! ```text
//!        Waiting, Probing ── ACK, W > 0.1 packet ──▶ Sending
//!               │  ▲
//!               └──┘ ACK, W <= 0.1 packet: the probe is due U(0, BaseRTT) from now
//!
//! per ACK    delay >= D_limit:           yields again, with a new probe
//!            empty path:                 W = W_LS / n at the end of a round trip, else 0
//!            below D_target:             W = what the controller adds to a window of a packet: W_AI min(1, 5 / n) with Swift
//!            from D_target to D_limit:   W = 0
//! ```
//!
//! The answer to any of its probes counts there, also if an ACK has since put off the next one or woken the flow.
//!
//! The released code differs from the paper in a dozen points: [`Variant`],
//! docs/assumptions.md#prioplus-variants. Decisions where both are silent:
//! docs/assumptions.md#prioplus-filter, #prioplus-stopped, #prioplus-probe-size, #prioplus-loss,
//! #prioplus-least.

mod cardinality;
mod channel_table;
mod channels;
mod findings;
mod pace;
mod probe;
mod round_trips;
mod variant;

pub use channel_table::{Channel, ChannelError, ChannelTable, Start};

use cardinality::Cardinality;
use pace::Pace;
use probe::{Jitter, Phase};
use round_trips::{RoundTripPhase, RoundTrips};
pub use variant::Variant;

use super::delay::{DelayBased, FixedTarget, Signal};
use super::window::{
    AckEvent, CongestionControl, FlowStart, Growth, LossEvent, ProbeReply, Repeat, SendPermission,
};
use super::{ControllerParams, ledbat, swift};
use crate::deployment::{Deployment, Need, PathKnowledge};
use crate::endpoint::Path;
use crate::example::Example;
use crate::finding::{Finding, NetworkFacts};
use crate::ids::Class;
use crate::keys::{Keys, Words};
use crate::part::{Capability, Part};
use crate::units::{Span, Time};

/// Measurement error caused by two clocks with ticks of 1024 ps, in picoseconds.
const CLOCK_PS: f64 = 2_048.0;

/// The window in packets at or below which a flow stops and probes (docs/assumptions.md#prioplus-least).
const TOO_SMALL: f64 = 0.1;

/// Parameters of PrioPlus on top of a controller with parameters `C`.
#[derive(Clone, PartialEq, Debug, Keys)]
#[keys(group = "prioplus", check = Self::check)]
pub struct Config<C> {
    /// Whether to follow the paper or the released code.
    #[key(default = Variant::Paper, source = "docs/assumptions.md#prioplus-variants")]
    pub variant: Variant,
    /// Whether there are channels; without them only the inner controller acts.
    #[key(default = true, source = "PrioPlus §4.3")]
    pub channels: bool,
    /// Number of channels; class 0 has the highest.
    #[key(default = 8, range = "[1, 16]", source = "PrioPlus §4.3.2")]
    pub priorities: u8,
    /// A: the delay variation that the controller causes, above 0.
    #[key(default = Span::from_ns(3_200), source = "PrioPlus §4.3.2, App. D")]
    pub fluctuation: Span,
    /// B: the error of delay measurements at hosts.
    #[key(default = Span::from_ns(800), source = "PrioPlus §4.3.2")]
    pub noise: Span,
    /// Maximum delay that all channels together may add.
    #[key(off = "0ps", source = "PrioPlus §4.3.2")]
    pub delay_budget: Option<Span>,
    /// Number of best classes that start at line rate and never yield; at most `priorities`.
    #[key(
        default = priorities.div_ceil(8),
        shown = "priorities / 8, at least 1",
        range = "[0, 16]",
        source = "released code; docs/assumptions.md#prioplus-starts"
    )]
    pub never_yield: u8,
    /// W_LS of the best quarter of classes: the linear-start increase per round trip.
    #[key(
        default = 1.0,
        range = "[0.0001, 1]",
        unit = "bdp",
        source = "PrioPlus §4.4; docs/assumptions.md#prioplus-starts"
    )]
    pub w_ls_high: f64,
    /// W_LS of the classes below those, up to five eighths of all classes.
    #[key(
        default = 0.25,
        range = "[0.0001, 1]",
        unit = "bdp",
        source = "PrioPlus §4.4; docs/assumptions.md#prioplus-starts"
    )]
    pub w_ls_medium: f64,
    /// W_LS of the other classes.
    #[key(
        default = 0.125,
        range = "[0.0001, 1]",
        unit = "bdp",
        source = "PrioPlus §4.4; docs/assumptions.md#prioplus-starts"
    )]
    pub w_ls_low: f64,
    /// Number of samples at or above D_limit that make a flow yield.
    #[key(default = 2, range = "[1, 1000]", source = "PrioPlus §4.3.2; docs/assumptions.md#prioplus-filter")]
    pub exceed_limit: u32,
    /// Tolerance above the empty path's delay within which the path counts as empty.
    #[key(default = Span::from_us(1), source = "released code; docs/assumptions.md#prioplus-base")]
    pub base_tolerance: Span,
    /// In which round trips adaptive increase acts.
    #[key(default = Increase::DualRtt, source = "PrioPlus §4.3.1")]
    pub increase: Increase,
    /// When a yielding flow probes.
    #[key(default = Probes::Apart, source = "PrioPlus §4.2")]
    pub probes: Probes,
    /// Whether a window that is not a whole number of packets also waits after the last ACK, in the released
    /// variant.
    #[key(default = true, source = "released code; docs/assumptions.md#prioplus-variant-rate")]
    pub ack_pacing: bool,
    /// The inner controller's parameters.
    #[keys(flatten, defaults(preset = "prioplus_baseline"))]
    pub inner: C,
    /// The channels of the classes as computed from the keys; `None` disables them, which leaves only the
    /// controller.
    #[keys(skip)]
    pub channel_table: Option<ChannelTable>,
}

impl Part for Config<swift::Config> {
    const NAME: &'static str = "prioplus_swift";
    const SUMMARY: &'static str =
        "PrioPlus with Swift: strict priorities inside one queue, each with its own delay channel";
    const SOURCE: &'static str = "PrioPlus (EuroSys 2025) §4";
    const PROVIDES: &'static [Capability] = &[Capability::Ranks, Capability::Connections];
    const DEPLOYMENT: Deployment = Deployment {
        needs: &[Need::CongestionModule, Need::Dscp],
        paths: PathKnowledge::BaseDelay,
        on_hosts: &["fluctuation = 1ms", "noise = 500us", "min_cwnd = 0.5pkt"],
        ..Deployment::NONE
    };
    const EXAMPLE: Example = Example { keys: "priorities = 4", ..Example::NONE };

    fn findings(&self, network: &NetworkFacts<'_>) -> Vec<Finding> {
        Self::findings(self, network)
    }
}

impl Part for Config<ledbat::Config> {
    const NAME: &'static str = "prioplus_ledbat";
    const SUMMARY: &'static str = "PrioPlus with LEDBAT";
    const SOURCE: &'static str = "PrioPlus (EuroSys 2025) §4";
    const PROVIDES: &'static [Capability] = &[Capability::Ranks, Capability::Connections];
    const DEPLOYMENT: Deployment = Deployment {
        needs: &[Need::CongestionModule, Need::Dscp],
        paths: PathKnowledge::BaseDelay,
        on_hosts: &["fluctuation = 1ms", "noise = 500us"],
        ..Deployment::NONE
    };
    const EXAMPLE: Example = Example { keys: "priorities = 4, min_window = 0.01", ..Example::NONE };

    fn findings(&self, network: &NetworkFacts<'_>) -> Vec<Finding> {
        Self::findings(self, network)
    }
}

impl<C: ControllerParams> ControllerParams for Config<C> {
    fn start_with(&mut self, bytes: u64, mss: u64) {
        self.inner.start_with(bytes, mss);
    }
}

/// The round trips in which adaptive increase acts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Words)]
pub enum Increase {
    /// In every second round trip; the one between shows the effect (§4.3.1).
    #[default]
    DualRtt,
    /// In every round trip, on delays that do not reflect the last increase yet, which overshoots: the
    /// paper's baseline.
    EveryRtt,
}

/// The time at which a yielding flow probes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Words)]
pub enum Probes {
    /// Later the further the delay is above the channel, with random spacing between flows (§4.2).
    #[default]
    Apart,
    /// As soon as the last probe is answered: the paper's strawman.
    EachRtt,
}

/// The properties of the path that a flow needs.
#[derive(Clone, Copy, Debug)]
struct Base {
    signal: Signal,
    path: Path,
    /// The delay of the empty path, in picoseconds, and by how much that of a probe is smaller.
    delay: f64,
    probe_delay_difference: f64,
    bdp: f64,
}

impl Base {
    fn new(signal: Signal, path: Path) -> Self {
        let delay = signal.base(&path.data);
        let probe_delay_difference = delay - signal.base(&path.control);
        Self { signal, path, delay, probe_delay_difference, bdp: path.bdp() as f64 }
    }

    /// Returns the bytes that the path carries in `ps` picoseconds.
    fn carries(&self, ps: f64) -> f64 {
        ps * self.path.rate.bps() as f64 / 8e12
    }
}

/// The window of a PrioPlus flow.
#[derive(Clone, Debug)]
pub struct PrioPlus<C: DelayBased> {
    inner: C,
    variant: Variant,
    channel_table: Option<ChannelTable>,
    exceed_limit: u32,
    tolerance: f64,
    increase: Increase,
    probes: Probes,
    mss: u64,
    base: Base,
    /// D_target and D_limit in picoseconds; bytes that linear start adds per round trip.
    target: f64,
    limit: f64,
    w_ls: f64,
    phase: Phase,
    flows: Cardinality,
    rounds: RoundTrips,
    /// The controller's own step, and what adaptive increase adds to it in this round trip.
    step: f64,
    extra: f64,
    exceeded: u32,
    pace: Pace,
    class: Class,
    jitter: Jitter,
}

/// A delay sample, in picoseconds.
#[derive(Clone, Copy, Debug)]
struct Sample {
    now: Time,
    delay: f64,
    rtt: f64,
}

impl<C: DelayBased> PrioPlus<C> {
    /// Returns the inner controller.
    pub fn inner(&self) -> &C {
        &self.inner
    }

    /// Returns the estimated number of sending flows of its class, at least 1.
    pub fn flows(&self) -> f64 {
        self.flows.n()
    }

    /// Returns true if the flow has stopped and only probes.
    pub fn is_yielding(&self) -> bool {
        self.channel_table.is_some() && !matches!(self.phase, Phase::Sending)
    }

    fn select_channel(&mut self, class: Class) -> Option<Channel> {
        let channel = self.channel_table.as_ref()?.of(class);
        self.target = self.base.delay + channel.target.0 as f64;
        self.limit = channel.limit.map_or(f64::INFINITY, |limit| self.base.delay + limit.0 as f64);
        self.w_ls = channel.linear_start * self.base.bdp;
        let decrease_every = match self.variant {
            Variant::Paper => None,
            Variant::Released => Some(self.base.path.data.round_trip),
        };
        self.inner.set_fixed_target(FixedTarget {
            target: self.target,
            base: self.base.delay,
            decrease_every,
        });
        Some(channel)
    }

    #[inline]
    fn is_base(&self, delay: f64) -> bool {
        delay <= self.base.delay + self.tolerance
    }

    /// Returns the bytes that a round trip below D_target adds.
    fn round_trip_step(&self) -> f64 {
        self.step * self.flows.scale(self.variant) + self.extra
    }

    fn set_step(&mut self) {
        self.inner.set_step(self.round_trip_step());
    }

    /// Runs the controller on an ACK. The released code divides the step by one packet more than the window.
    fn control(&mut self, ack: &AckEvent) {
        if self.variant == Variant::Released && !self.inner.divides_by_more() {
            let (window, packet) = (self.inner.cwnd(), self.mss as f64);
            self.inner.set_step(self.round_trip_step() * window.max(packet) / (window + packet));
        }
        self.inner.on_ack(ack);
    }

    /// Sets what adaptive increase adds until the next round trip.
    fn adapt(&mut self, sample: &Sample) {
        let window = self.inner.cwnd();
        let over = if self.variant == Variant::Paper { sample.delay } else { sample.rtt };
        self.extra = ((self.target - sample.delay) / over * window).min(window / 2.0);
        self.set_step();
    }

    /// Returns the time from a sample to the next probe.
    fn wait(&mut self, delay: f64) -> Span {
        if self.probes == Probes::EachRtt {
            return Span::ZERO;
        }
        let from = if self.variant == Variant::Released && delay <= self.target {
            self.base.delay
        } else {
            self.target
        };
        let jitter = self.jitter.below(self.base.path.data.round_trip);
        Span((delay - from).max(0.0) as u64) + jitter
    }

    /// Yields to a higher class: estimates the number of flows, and stops.
    fn yield_to_higher(&mut self, sample: &Sample) {
        let window = self.inner.cwnd();
        let queue_rtt = self.base.path.data.round_trip.0 as f64 - self.base.delay;
        let seen = match self.variant {
            Variant::Paper => self.base.carries(sample.rtt) / window,
            Variant::Released => sample.rtt / ((self.target + queue_rtt) * window / self.base.bdp),
        };
        self.flows.estimate(seen, self.base.bdp / self.w_ls, self.variant);
        self.stop(sample);
    }

    fn stop(&mut self, sample: &Sample) {
        self.extra = 0.0;
        self.set_step();
        let wait = self.wait(sample.delay);
        self.phase = Phase::Waiting { probe_at: sample.now + wait };
    }

    /// Stops because the window is too small. The released code then probes as if the path were empty.
    fn stop_small(&mut self, sample: &Sample) {
        match self.variant {
            Variant::Paper => self.stop(sample),
            Variant::Released => self.stop(&Sample { delay: self.base.delay, ..*sample }),
        }
    }

    /// Resumes sending with a window of `bytes`.
    fn resume(&mut self, bytes: f64) {
        self.inner.set_cwnd(bytes);
        self.extra = 0.0;
        if self.variant == Variant::Paper {
            // The released code clears the count only at an ACK below D_limit.
            self.exceeded = 0;
        }
        self.phase = Phase::Sending;
        self.set_step();
    }

    /// Resumes on an empty path, unless the released code computes too small a share.
    fn resume_alone(&mut self, sample: &Sample) {
        let packet = self.mss as f64;
        let share = self.linear_share();
        match self.variant {
            Variant::Paper => self.resume(share.max(packet)),
            Variant::Released if share <= TOO_SMALL * packet => self.stop_small(sample),
            Variant::Released => self.resume(share),
        }
    }

    /// Ends a round trip without queueing; returns the flow's share of linear start.
    fn linear_share(&mut self) -> f64 {
        let share = self.w_ls / self.flows.n();
        self.flows.quiet();
        share
    }

    /// Returns true if adaptive increase acts in this round trip.
    fn acts(&self) -> bool {
        self.rounds.half == RoundTripPhase::Adaptive || self.increase == Increase::EveryRtt
    }

    /// Grows the window after a round trip with a delay of at most D_target; returns true if this ACK needs
    /// no more processing.
    fn grow(&mut self, sample: &Sample, growth: Growth) -> bool {
        self.exceeded = 0;
        if self.is_base(sample.delay) {
            let grown = self.inner.cwnd() + self.linear_share();
            if growth != Growth::Recovering {
                self.inner.set_cwnd(grown);
            }
            self.set_step();
            return self.variant == Variant::Released;
        }
        if self.variant == Variant::Paper && self.acts() {
            self.adapt(sample);
        }
        false
    }

    /// Enforces the smallest window after each ACK, and in the released code the ceiling.
    fn bound(&mut self, sample: &Sample) {
        if self.variant == Variant::Released {
            let most = self.base.carries(self.target - self.base.delay) + self.base.bdp;
            if self.inner.cwnd() > most {
                self.inner.set_cwnd(most);
            }
        }
        let may_stop = self.limit.is_finite() || self.variant == Variant::Released;
        if may_stop && self.inner.cwnd() <= TOO_SMALL * self.mss as f64 {
            self.stop_small(sample);
        }
    }

    /// Runs the controller of a stopped flow of the released code on an ACK above the empty path and below D_limit; returns
    /// true if the flow then sends.
    fn wake(&mut self, sample: &Sample, ack: &AckEvent) -> bool {
        let packet = self.mss as f64;
        let below = sample.delay < self.target;
        let grown = if below { self.inner.growth(sample.delay) * ack.acked as f64 / packet } else { 0.0 };
        if grown <= TOO_SMALL * packet {
            self.stop_small(sample);
            return false;
        }
        self.resume(grown);
        true
    }

    /// Returns true if the flow is paced as in the released code.
    fn paces(&self) -> bool {
        self.variant == Variant::Released && self.channel_table.is_some()
    }

    /// Returns the window and the path's bandwidth-delay product, in packets.
    fn packets(&self) -> (f64, f64) {
        let packet = self.mss as f64;
        (self.inner.cwnd() / packet, self.base.bdp / packet)
    }

    fn take(&mut self, sample: &Sample, ack: &AckEvent) {
        self.pace.acknowledged(ack.now);
        let passed = self.rounds.pass(ack);
        let ended = self.rounds.half == RoundTripPhase::Plain || self.increase == Increase::EveryRtt;
        if passed && ended && self.extra != 0.0 {
            self.extra = 0.0;
            self.set_step();
        }
        let sending = matches!(self.phase, Phase::Sending);
        if !sending && self.variant == Variant::Paper {
            return;
        }
        if sample.delay >= self.limit {
            self.exceeded += 1;
            if self.exceeded >= self.exceed_limit {
                self.yield_to_higher(sample);
                return;
            }
        } else if self.variant == Variant::Released {
            self.exceeded = 0;
        }
        if !sending {
            match (self.is_base(sample.delay), passed) {
                (true, true) => self.resume_alone(sample),
                (true, false) => self.stop_small(sample),
                (false, _) if self.wake(sample, ack) && passed && self.acts() => self.adapt(sample),
                (false, _) => {}
            }
            return;
        }
        let grows = passed && sample.delay <= self.target;
        let done = grows && self.grow(sample, ack.growth);
        let released = self.variant == Variant::Released;
        if !(done || released && self.is_base(sample.delay)) {
            self.control(ack);
            if released && grows && self.acts() {
                // The released code computes the increase after this ACK, for those that follow.
                self.adapt(sample);
            }
        }
        self.bound(sample);
    }
}

impl<C: DelayBased> CongestionControl for PrioPlus<C> {
    type Config = Config<C::Config>;

    type Telemetry = C::Telemetry;

    const ECN: bool = C::ECN;

    const PACED: bool = true;

    fn new(config: &Self::Config, mss: u64) -> Self {
        Self {
            inner: C::new(&config.inner, mss),
            variant: config.variant,
            channel_table: config.channel_table.clone(),
            exceed_limit: config.exceed_limit,
            increase: config.increase,
            probes: config.probes,
            tolerance: (config.base_tolerance.0 as f64).max(CLOCK_PS),
            mss,
            base: Base::new(C::signal(&config.inner), Path::NOMINAL),
            target: 0.0,
            limit: f64::INFINITY,
            w_ls: mss as f64,
            phase: Phase::Sending,
            flows: Cardinality::ONE,
            rounds: RoundTrips::from(0, config.variant),
            step: 0.0,
            extra: 0.0,
            exceeded: 0,
            pace: if config.ack_pacing { Pace::BY_ACKS } else { Pace::BY_RATE },
            class: 0,
            jitter: Jitter::default(),
        }
    }

    fn open(&mut self, opening: &mut FlowStart<'_>) {
        self.inner.open(opening);
        self.pace.make_up(opening.catch_up);
        self.base = Base::new(self.base.signal, (opening.path)());
        self.step = self.inner.step();
        let Some(channel) = self.select_channel(opening.flow.class) else { return };
        self.jitter = Jitter::seeded(opening.rng.bits());
        match channel.start {
            Start::LineRate => self.inner.set_cwnd(self.base.bdp),
            Start::Linear => self.inner.set_cwnd(self.w_ls),
            Start::Probe => {
                let wait = match self.variant {
                    Variant::Paper => Span::ZERO,
                    Variant::Released => self.wait(self.base.delay),
                };
                self.phase = Phase::Waiting { probe_at: opening.now + wait };
            }
        }
    }

    fn on_path(&mut self, path: &Path) {
        self.inner.set_step(self.step);
        self.inner.on_path(path);
        self.base = Base::new(self.base.signal, *path);
        self.step = self.inner.step();
        if self.select_channel(self.class).is_some() {
            self.set_step();
        }
    }

    fn on_telemetry(&mut self, telemetry: &C::Telemetry) {
        self.inner.on_telemetry(telemetry);
    }

    fn set_class(&mut self, class: Class) {
        self.inner.set_class(class);
        self.class = class;
        self.select_channel(class);
    }

    #[inline]
    fn window(&self) -> u64 {
        match self.phase {
            Phase::Sending if self.paces() => {
                // A packet may be sent while fewer bytes than the window are in flight.
                let packet = self.mss as f64;
                ((self.inner.cwnd() / packet).ceil() * packet) as u64
            }
            Phase::Sending => self.inner.window(),
            Phase::Waiting { .. } | Phase::Probing { .. } => 0,
        }
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        if self.channel_table.is_none() {
            self.inner.on_ack(ack);
            return;
        }
        let Some(delay) = self.base.signal.of(ack) else { return };
        let rtt = ack.rtt.map_or(delay, |rtt| rtt.0 as f64);
        self.take(&Sample { now: ack.now, delay, rtt }, ack);
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        self.inner.on_loss(loss);
    }

    fn on_timeout(&mut self, loss: &LossEvent, repeat: Repeat) {
        self.inner.on_timeout(loss, repeat);
    }

    fn on_sent(&mut self, now: Time) {
        if self.paces() {
            let (packets, bdp) = self.packets();
            self.pace.sent(now, self.base.path.data.round_trip, packets, bdp);
        }
        self.inner.on_sent(now);
    }

    fn gate(&self) -> SendPermission {
        match self.phase {
            Phase::Waiting { probe_at: at } | Phase::Probing { again_at: at } => SendPermission::Probe(at),
            Phase::Sending if self.paces() => {
                self.pace.permission(self.base.path.data.round_trip, self.packets().0)
            }
            Phase::Sending => self.inner.gate(),
        }
    }

    fn on_probe_sent(&mut self, now: Time, timeout: Span) {
        self.phase = Phase::Probing { again_at: now + timeout };
    }

    fn on_probe_answer(&mut self, answer: &ProbeReply) {
        let expected = match self.variant {
            Variant::Paper => matches!(self.phase, Phase::Probing { .. }),
            Variant::Released => self.channel_table.is_some(),
        };
        if !expected {
            return;
        }
        let delay = self.base.signal.of_probe(answer) + self.base.probe_delay_difference;
        if delay >= self.limit {
            if matches!(self.phase, Phase::Sending) {
                // The next ACK would cancel the probe that the released code schedules.
                return;
            }
            let wait = self.wait(delay);
            self.phase = Phase::Waiting { probe_at: answer.now + wait };
            return;
        }
        self.rounds = RoundTrips::from(answer.next, self.variant);
        if self.is_base(delay) {
            self.resume_alone(&Sample { now: answer.now, delay, rtt: delay });
        } else {
            let packets = if self.variant == Variant::Paper { 1.0 } else { 0.5 };
            self.resume(packets * self.mss as f64);
        }
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        self.inner.inspect(see);
        see("flows_estimate", self.flows.n());
        see("yielding", f64::from(u8::from(self.is_yielding())));
    }
}

#[cfg(test)]
mod tests;
