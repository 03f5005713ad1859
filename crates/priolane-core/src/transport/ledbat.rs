//! LEDBAT: keeps the queueing delay near a target (RFC 6817).
//!
//! ```text
//! queueing  min(last samples) - min(base history)                                                  (§2.4.2, §3.4)
//! ACK       off = (TARGET - queueing) / TARGET
//!           cwnd += GAIN off bytes_acked MSS / cwnd          (GAIN of decreases where off < 0)
//!           cwnd = max(min(cwnd, flightsize + ALLOWED_INCREASE MSS), MIN_CWND MSS)                 (§2.4.2)
//! loss      cwnd = max(cwnd / 2, MIN_CWND MSS), at most once a round trip                          (§2.4.2)
//! timeout   cwnd = 1 MSS                                                                           (§2.4.2)
//! ```
//!
//! The filter holds the last few samples, none older than a round trip (§3.4.2). The base history has a
//! minimum for each interval (§3.4.1). It can be replaced by the delay of the empty path, so that a flow does
//! not take the queues of others for its base delay. `class_step` lowers TARGET for each class below the best,
//! as in a baseline of PrioPlus (its Fig. 12). docs/assumptions.md#ledbat-scale.

use super::ControllerParams;
use super::delay::{DelayBased, FixedTarget, Signal};
use super::window::{
    AckEvent, CongestionControl, FlowStart, Growth, LossEvent, Pacer, Repeat, SendPermission,
};
use crate::endpoint::Path;
use crate::finding::{Finding, NetworkFacts, PathFacts};
use crate::ids::Class;
use crate::keys::{Bounds, KeyError, KeyValue, Keys, Schema, Value, WrittenValue};
use crate::part::Part;
use crate::quantity::about_span;
use crate::units::{Span, Time};

/// Maximum number of samples in the filter (RFC 6817 §3.4.2 asks for at least 4 per round trip).
const FILTER: usize = 4;

/// Number of intervals in the base history (RFC 6817 §2.5: `BASE_HISTORY`).
const HISTORY: usize = 10;

/// Minimum of the target after the decreases by class.
const LEAST_TARGET: Span = Span::from_ns(1);

/// Parameters of LEDBAT.
#[derive(Clone, Copy, PartialEq, Debug, Keys, Part)]
#[keys(group = "ledbat")]
#[part(
    name = "ledbat",
    summary = "LEDBAT: keeps the queueing delay near a target, less than best effort",
    source = "RFC 6817",
    provides = [Ranks, Connections],
    findings = Self::findings,
    deploy = [CongestionModule],
    paths = BaseDelay,
    on_hosts = ["target = 2ms"]
)]
pub struct Config {
    /// The delay that the controller uses; one_way needs no synchronized clocks.
    #[key(name = "delay", default = Signal::OneWay, source = "RFC 6817 §2.1")]
    pub signal: Signal,
    /// Target queueing delay; the RFC allows 100 ms at most.
    #[key(
        default = Span::from_us(25),
        range = "(0, )",
        source = "RFC 6817 §2.5; docs/assumptions.md#ledbat-scale"
    )]
    pub target: Span,
    /// Decrease of the target per class below the best, to 1 ns at least; for controllers without channels.
    #[key(default = Span::ZERO, skip_default, source = "PrioPlus (EuroSys 2025) Fig. 12, its baseline")]
    pub class_step: Span,
    /// Window increase in segments per round trip without queueing.
    #[key(default = 1.0, range = "(0, 1]", source = "RFC 6817 §2.5")]
    pub gain: f64,
    /// Window decrease in segments per round trip when queueing is twice the target; may exceed `gain`.
    #[key(default = gain, shown = "gain", range = "(0, 1000]", source = "RFC 6817 §2.4.2")]
    pub decrease_gain: f64,
    /// Segments by which the window may exceed the data in flight.
    #[key(default = 1.0, range = "(0, 1000000000]", source = "RFC 6817 §2.5")]
    pub allowed_increase: f64,
    /// Initial window in bytes; `None` means 2 segments (RFC 6817 §2.5).
    #[keys(skip)]
    pub init_window: Option<u64>,
    /// Floor of the window, in segments.
    #[key(default = 2.0, range = "(0, 1000]", source = "RFC 6817 §2.5")]
    pub min_window: f64,
    /// Length of each of the ten intervals of the base history; "path" uses the delay of the empty path
    /// instead.
    #[key(
        name = "base_interval",
        default = Base::Measured(Span::from_ms(1)),
        unit = "time",
        source = "RFC 6817 §3.4.1; docs/assumptions.md#ledbat-scale"
    )]
    pub base: Base,
}

impl Config {
    /// A target that no queue of the path reaches: only losses limit the window.
    fn findings(&self, network: &NetworkFacts<'_>) -> Vec<Finding> {
        let full = |path: &PathFacts| path.full_queue(&network.frame).filter(|_| network.lossless.is_none());
        let shallow = |path: &PathFacts| full(path).is_some_and(|full| full <= self.target);
        let Some((path, _)) = network.worst(shallow) else { return Vec::new() };
        let what = format!(
            "the target is {} of queueing, but on {} a packet waits at most {} in a full queue: packets are lost before \
             the window decreases",
            about_span(self.target),
            path.name(),
            about_span(full(path).unwrap_or_default())
        );
        vec![Finding::warning("target", what, "a lower target, or a larger buffer")]
    }
}

impl ControllerParams for Config {
    fn start_with(&mut self, bytes: u64, _: u64) {
        self.init_window = Some(bytes);
    }
}

/// The base delay that queueing is measured against.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Base {
    /// The delay of the empty path.
    Path,
    /// The minimum over the current interval and the nine before; each has this length, above zero.
    Measured(Span),
}

/// A time, or `"path"`, which is written as a time of zero.
impl KeyValue for Base {
    const UNIT: &'static str = Span::UNIT;

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Self, KeyError> {
        if *value == Value::Text("path") {
            return Ok(Self::Path);
        }
        Ok(match Span::read(value, bounds)? {
            Span::ZERO => Self::Path,
            interval => Self::Measured(interval),
        })
    }

    fn write(&self) -> WrittenValue {
        match self {
            Self::Path => Span::ZERO.write(),
            Self::Measured(interval) => interval.write(),
        }
    }

    fn schema() -> Schema {
        Span::schema()
    }
}

/// The minimum delays of the last intervals.
#[derive(Clone, Copy, Debug)]
struct History {
    minima: [f64; HISTORY],
    /// Index of the current interval, and when it ends.
    at: usize,
    ends: Time,
}

impl History {
    const NEW: Self = Self { minima: [f64::INFINITY; HISTORY], at: 0, ends: Time::ZERO };

    fn take(&mut self, delay: f64, now: Time, interval: Span) {
        if now >= self.ends {
            self.at = (self.at + 1) % HISTORY;
            self.minima[self.at] = delay;
            self.ends = now + interval;
        } else {
            self.minima[self.at] = self.minima[self.at].min(delay);
        }
    }

    fn shortest(&self) -> f64 {
        self.minima.iter().fold(f64::INFINITY, |least, &delay| least.min(delay))
    }
}

/// The last samples, with their times.
#[derive(Clone, Copy, Debug)]
struct Filter {
    samples: [(Time, f64); FILTER],
    at: usize,
}

impl Filter {
    const NEW: Self = Self { samples: [(Time::ZERO, f64::INFINITY); FILTER], at: 0 };

    /// Adds a sample and returns the minimum of the samples not older than `rtt`.
    fn take(&mut self, delay: f64, now: Time, rtt: Span) -> f64 {
        self.samples[self.at] = (now, delay);
        self.at = (self.at + 1) % FILTER;
        let fresh = self.samples.iter().filter(|(at, _)| now.since(*at) <= rtt);
        fresh.fold(delay, |least, &(_, delay)| least.min(delay))
    }
}

/// The window of a LEDBAT flow.
#[derive(Clone, Debug)]
pub struct Ledbat {
    config: Config,
    mss: f64,
    cwnd: f64,
    /// Bytes added per round trip without queueing.
    step: f64,
    target: f64,
    /// The base delay if it is the path's, in picoseconds.
    base: f64,
    history: History,
    filter: Filter,
    /// The time at which the window was last halved; `None` before.
    halved: Option<Time>,
    rtt: Span,
    pacer: Pacer,
}

impl Ledbat {
    /// Returns the queueing delay that `ack` reports, in picoseconds.
    fn queueing(&mut self, delay: f64, ack: &AckEvent) -> f64 {
        let current = self.filter.take(delay, ack.now, self.rtt);
        match self.config.base {
            Base::Path => current - self.base,
            Base::Measured(interval) => {
                self.history.take(delay, ack.now, interval);
                current - self.history.shortest()
            }
        }
    }

    fn least(&self) -> f64 {
        self.config.min_window * self.mss
    }
}

impl CongestionControl for Ledbat {
    type Config = Config;

    type Telemetry = ();

    const ECN: bool = false;

    const PACED: bool = true;

    fn new(config: &Config, mss: u64) -> Self {
        Self {
            config: *config,
            mss: mss as f64,
            cwnd: config.init_window.unwrap_or(2 * mss) as f64,
            step: config.gain * mss as f64,
            target: config.target.0 as f64,
            base: 0.0,
            history: History::NEW,
            filter: Filter::NEW,
            halved: None,
            rtt: Span::ZERO,
            pacer: Pacer::NEW,
        }
    }

    fn open(&mut self, opening: &mut FlowStart<'_>) {
        let path = (opening.path)();
        self.base = self.config.signal.base(&path.data);
        self.rtt = path.data.round_trip;
        self.pacer = Pacer::with(opening.catch_up);
    }

    fn set_class(&mut self, class: Class) {
        let off = f64::from(class) * self.config.class_step.0 as f64;
        self.target = (self.config.target.0 as f64 - off).max(LEAST_TARGET.0 as f64);
    }

    fn on_path(&mut self, path: &Path) {
        self.base = self.config.signal.base(&path.data);
    }

    #[inline]
    fn window(&self) -> u64 {
        self.cwnd.max(self.mss) as u64
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        let Some(delay) = self.config.signal.of(ack) else { return };
        if let Some(rtt) = ack.rtt {
            self.rtt = rtt;
        }
        let queueing = self.queueing(delay, ack);
        if ack.acked == 0 || ack.growth == Growth::Recovering {
            return;
        }
        let off = (self.target - queueing) / self.target;
        if off > 0.0 && ack.growth == Growth::NotLimited {
            return;
        }
        let gain = if off < 0.0 { self.config.decrease_gain / self.config.gain } else { 1.0 };
        let per = self.cwnd.max(self.mss);
        let grown = self.cwnd + gain * self.step * off * ack.acked as f64 / per;
        let flight = (ack.next - ack.una + ack.acked) as f64;
        self.cwnd = grown.min(flight + self.config.allowed_increase * self.mss).max(self.least());
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        if self.halved.is_none_or(|at| loss.now.since(at) >= self.rtt) {
            self.cwnd = (self.cwnd / 2.0).max(self.least()).min(self.cwnd);
            self.halved = Some(loss.now);
        }
    }

    fn on_timeout(&mut self, loss: &LossEvent, _repeat: Repeat) {
        self.cwnd = self.cwnd.min(self.mss);
        self.halved = Some(loss.now);
    }

    #[inline]
    fn gate(&self) -> SendPermission {
        self.pacer.below_packet(self.cwnd, self.mss as u64, self.rtt)
    }

    #[inline]
    fn on_sent(&mut self, now: Time) {
        self.pacer = self.pacer.sent(now, || self.gate());
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        see("ledbat_window_bytes", self.cwnd);
        see("target_ps", self.target);
    }
}

impl DelayBased for Ledbat {
    fn signal(config: &Config) -> Signal {
        config.signal
    }

    #[inline]
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn set_cwnd(&mut self, bytes: f64) {
        self.cwnd = bytes.max(0.001 * self.mss);
    }

    fn set_fixed_target(&mut self, fixed_target: FixedTarget) {
        self.target = fixed_target.target - fixed_target.base;
        self.base = fixed_target.base;
        self.config.base = Base::Path;
        // PrioPlus, which fixes the target, also sets the window, in larger steps.
        self.config.allowed_increase = f64::INFINITY;
    }

    #[inline]
    fn step(&self) -> f64 {
        self.step
    }

    #[inline]
    fn set_step(&mut self, bytes: f64) {
        self.step = bytes;
    }

    fn growth(&self, delay: f64) -> f64 {
        self.step * (self.target - (delay - self.base)) / self.target
    }
}

#[cfg(test)]
mod tests;
