//! NSCC, the sender's congestion control of uet-htsim (github.com/ultraethernet/uet-htsim at commit 40ccb05,
//! `htsim/sim/uec.cpp`).
//!
//! ```text
//! T, C                  the round trip that all flows assume, the rate of the line;  a = T C / (100 Gbps 12 us)
//! Q                     target of the queueing delay, 0.75 T
//! delay, avg            round trip - base;  EWMA of delay, gain 0.0125; base starts at T and falls to the least round trip
//!
//! ACK of d bytes        delay < Q                                     delay >= Q
//!   without a mark      proportional: inc += 4 MSS a d (Q-delay)/12us  fair: inc += 5 MSS a d
//!                       fast: W += 0.25 a d instead, once delay < 1 us
//!                       for a whole window
//!   with a mark         nothing                                       W *= max(1 - 0.8 (avg-Q)/avg, 0.5), if avg > Q, once a base
//! more than 8 MSS or T  W += inc / W;  inc = 0;  once a T also W += 0.15 MSS a
//! trimmed segment       W -= its bytes;  avg takes T as a sample
//! quick adapt           once a base + Q: if a segment was trimmed or delay > 4 Q, and fewer than W_max / 2^3 bytes arrived
//!                       since the last time:  W = those bytes;  until what was in flight is answered, its marks and trims
//!                       change nothing
//! timeout               W -= bytes in flight
//! bounds                MSS <= W <= W_max = 1.5 base C, where W starts
//! ```
//!
//! From the source: `_alpha = 4.0*_mss*_scaling_factor_a*_scaling_factor_b/_target_Qdelay`, where b is Q / 12 us;
//! `max(1-_gamma*(avg_delay-_target_Qdelay)/avg_delay, 0.5)`; `_achieved_bytes < (_maxwnd >> _qa_gate)`. An unmarked sample
//! above Q counts in avg as base / 4 (`update_delay`): it is a path's, not the network's.
//!
//! The authors call their simulator "not a standard in any way", and this controller does not claim to conform to one. It
//! needs ports that trim and mark, and `recovery = "trims"`. Left out are the receiver's control (RCCC), the choice of paths
//! by entropy (switches spray), loss recovery by reordering (SLEEK) with its probes, and the penalty of a receiver.
//! Decisions of this implementation: docs/assumptions.md#nscc.

mod config;

use super::window::{AckEvent, CongestionControl, FlowStart, LossEvent, Repeat, TrimEvent};
use crate::endpoint::Path;
use crate::units::{PS_PER_S, Span, Time};
pub use config::Config;

/// The reference network of the source: 12 us, and 100 Gbps for as long, in bytes.
const REFERENCE_RTT: Span = Span::from_us(12);
const REFERENCE_BDP: f64 = 150_000.0;
/// The part of the base round trip that an unmarked delay above the target counts as.
const UNMARKED: f64 = 0.25;

/// The constants of a flow, from the network that its path stands for. Times are in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Law {
    /// T and Q.
    rtt: f64,
    target: f64,
    /// C in bytes per picosecond.
    line: f64,
    /// Of increases, per byte that arrived: for each picosecond below Q; above Q; while fast.
    proportional: f64,
    fair: f64,
    fast: f64,
    /// Bytes added once a T.
    eta: f64,
}

impl Law {
    fn of(config: &Config, mss: u64, path: &Path) -> Self {
        let rtt = config.rtt.of(path).0 as f64;
        let target = config.target_on(path);
        let line = path.rate.bps() as f64 / (8.0 * PS_PER_S as f64);
        let a = rtt * line / REFERENCE_BDP;
        let segment = mss as f64 * a;
        Self {
            rtt,
            target,
            line,
            proportional: config.alpha * segment / REFERENCE_RTT.0 as f64,
            fair: config.fi * segment,
            fast: config.fi_scale * a,
            eta: config.eta * segment,
        }
    }
}

/// The progress of fast increase.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Calm {
    /// Bytes that arrived in a row without queueing delay.
    For(f64),
    /// A whole window did.
    Fast,
}

/// A signal that quick adapt looks at.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Signal {
    /// An ACK without a mark, and its delay.
    Unmarked(f64),
    /// An ACK with a mark, and its delay.
    Marked(f64),
    /// A segment was trimmed.
    Trimmed,
}

impl Signal {
    fn delay(self) -> f64 {
        match self {
            Self::Unmarked(delay) | Self::Marked(delay) => delay,
            Self::Trimmed => 0.0,
        }
    }
}

/// The window of an NSCC flow. Times are in picoseconds, windows in bytes.
#[derive(Clone, Debug)]
pub struct Nscc {
    config: Config,
    mss: u64,
    law: Law,
    base: f64,
    cwnd: f64,
    /// W_max.
    most: f64,
    average: f64,
    calm: Calm,
    decreased: Time,
    /// Bytes that increases add per byte of the window, and bytes that arrived, since the last adjustment.
    increase: f64,
    received: u64,
    /// The last time eta was added.
    adjusted: Time,
    /// Bytes that arrived since quick adapt looked last, and when it looks again; `None` before the first signal.
    achieved: u64,
    looks_after: Option<Time>,
    /// Whether a segment was trimmed since the last quick adapt.
    is_trimmed: bool,
    /// Bytes in flight at the last quick adapt that were not answered since.
    ignoring: u64,
}

impl Nscc {
    fn starting(config: &Config, mss: u64, path: &Path, now: Time) -> Self {
        let law = Law::of(config, mss, path);
        let mut flow = Self {
            config: *config,
            mss,
            law,
            base: law.rtt,
            cwnd: 0.0,
            most: 0.0,
            average: 0.0,
            calm: Calm::For(0.0),
            decreased: now,
            increase: 0.0,
            received: 0,
            adjusted: now,
            achieved: 0,
            looks_after: None,
            is_trimmed: false,
            ignoring: 0,
        };
        flow.set_base(law.rtt);
        flow.cwnd = flow.most;
        flow
    }

    fn set_base(&mut self, base: f64) {
        self.base = base;
        self.most = (self.config.max_bdp * base * self.law.line).max(self.mss as f64);
    }

    /// Lowers the base round trip to a sample, and returns the queueing delay of the sample.
    fn delay_of(&mut self, rtt: Span) -> f64 {
        let rtt = rtt.0 as f64;
        if rtt < self.base {
            self.set_base(rtt);
        }
        rtt - self.base
    }

    fn average_in(&mut self, sample: f64) {
        let gain = self.config.delay_alpha;
        self.average = gain * sample + (1.0 - gain) * self.average;
    }

    fn bound(&mut self) {
        self.cwnd = self.cwnd.min(self.most).max(self.mss as f64);
    }

    /// Sets the window to what arrived lately if that is little and the network is congested. Returns true if the signal
    /// has no other effect.
    fn quick_adapt(&mut self, now: Time, in_flight: u64, signal: Signal) -> bool {
        let mut is_done = false;
        if self.ignoring > 0 && !matches!(signal, Signal::Unmarked(_)) {
            is_done = true;
        } else if self.looks_after.is_none_or(|end| now > end) {
            let is_late = signal.delay() > self.config.qa_threshold * self.law.target;
            let is_bad = self.is_trimmed || signal == Signal::Trimmed || is_late;
            let few = self.most / f64::from(1_u32 << self.config.qa_gate);
            if self.looks_after.is_some() && is_bad && (self.achieved as f64) < few {
                self.cwnd = (self.achieved as f64).max(self.mss as f64);
                self.ignoring = in_flight;
                self.is_trimmed = false;
                is_done = true;
            }
            self.achieved = 0;
            self.looks_after = Some(now + Span((self.base + self.law.target) as u64));
        }
        if is_done {
            (self.increase, self.received) = (0.0, 0);
        }
        is_done
    }

    /// Increases the window for `acked` bytes whose unmarked ACK had less than the target of delay.
    fn proportional_increase(&mut self, acked: f64, delay: f64) {
        if delay >= self.config.fast_below.0 as f64 {
            self.calm = Calm::For(0.0);
        } else if let Calm::For(before) = self.calm {
            let bytes = before + acked;
            self.calm = if bytes > self.cwnd { Calm::Fast } else { Calm::For(bytes) };
        }
        match self.calm {
            Calm::Fast => self.cwnd += self.law.fast * acked,
            Calm::For(_) => self.increase += self.law.proportional * acked * (self.law.target - delay),
        }
    }

    fn multiplicative_decrease(&mut self, now: Time) {
        self.calm = Calm::For(0.0);
        let excess = self.average - self.law.target;
        if excess > 0.0 && now.since(self.decreased).0 as f64 > self.base {
            self.cwnd *= (1.0 - self.config.gamma * excess / self.average).max(self.config.min_factor);
            self.decreased = now;
        }
    }

    /// Adds to the window what increases have collected, if enough bytes arrived or T has passed.
    fn adjust(&mut self, now: Time) {
        let since = now.since(self.adjusted).0 as f64;
        let few = self.received <= u64::from(self.config.adjust_every) * self.mss;
        if few && since <= self.law.rtt {
            return;
        }
        self.cwnd += self.increase / self.cwnd;
        if since >= self.law.rtt {
            self.cwnd += self.law.eta;
            self.adjusted = now;
        }
        (self.increase, self.received) = (0.0, 0);
    }
}

impl CongestionControl for Nscc {
    type Config = Config;

    type Telemetry = ();

    const ECN: bool = true;

    fn new(config: &Config, mss: u64) -> Self {
        Self::starting(config, mss, &Path::NOMINAL, Time::ZERO)
    }

    fn open(&mut self, opening: &mut FlowStart<'_>) {
        *self = Self::starting(&self.config, self.mss, &(opening.path)(), opening.now);
    }

    fn on_path(&mut self, path: &Path) {
        let is_full = self.cwnd >= self.most;
        self.law = Law::of(&self.config, self.mss, path);
        self.set_base(self.law.rtt);
        if is_full {
            self.cwnd = self.most;
        }
        self.bound();
    }

    #[inline]
    fn window(&self) -> u64 {
        self.cwnd as u64
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        self.achieved += ack.delivered;
        self.received += ack.delivered;
        self.ignoring = self.ignoring.saturating_sub(ack.delivered);
        let delay = match ack.rtt {
            None => self.average,
            Some(rtt) => {
                let delay = self.delay_of(rtt);
                let is_unmarked_wait = !ack.marked && delay > self.law.target;
                self.average_in(if is_unmarked_wait { UNMARKED * self.base } else { delay });
                delay
            }
        };
        let signal = if ack.marked { Signal::Marked(delay) } else { Signal::Unmarked(delay) };
        if self.quick_adapt(ack.now, ack.in_flight, signal) {
            return;
        }
        let acked = ack.delivered as f64;
        match (ack.marked, delay >= self.law.target) {
            (false, true) => self.increase += self.law.fair * acked,
            (false, false) => self.proportional_increase(acked, delay),
            (true, true) => self.multiplicative_decrease(ack.now),
            (true, false) => {}
        }
        self.bound();
        self.adjust(ack.now);
        self.bound();
    }

    fn on_loss(&mut self, _loss: &LossEvent) {}

    fn on_trim(&mut self, trim: &TrimEvent) {
        self.ignoring = self.ignoring.saturating_sub(trim.bytes);
        self.delay_of(trim.rtt);
        self.average_in(self.law.rtt);
        self.is_trimmed = true;
        if !self.quick_adapt(trim.now, trim.in_flight, Signal::Trimmed) {
            self.cwnd -= trim.bytes as f64;
            self.bound();
        }
    }

    fn on_timeout(&mut self, loss: &LossEvent, _repeat: Repeat) {
        self.cwnd -= loss.in_flight as f64;
        self.bound();
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        see("nscc_base_rtt_ps", self.base);
        see("nscc_delay_ps", self.average);
        see("nscc_max_cwnd_bytes", self.most);
    }
}

#[cfg(test)]
mod tests;
