//! CUBIC's window (RFC 9438), with HyStart++ (RFC 9406) or Reno's slow start before it.
//!
//! ```text
//! cwnd < ssthresh   slow start, module `hystart`                                               (§4.10)
//! otherwise         congestion avoidance; the stage began t seconds ago, and for n segments acknowledged:
//!   W_cubic(t)      C (t - K)^3 + W_max,  K = cbrt((W_max - cwnd_epoch) / C)                   (Eq. 1, 2)
//!   W_est           += alpha n / cwnd, from cwnd_epoch on                                      (Eq. 4)
//!                   alpha = 3 (1 - beta) / (1 + beta) while W_est < cwnd_prior, then 1         (§4.3)
//!   W_cubic < W_est cwnd = W_est, the Reno-friendly region
//!   otherwise       cwnd += n (target - cwnd) / cwnd,
//!                   target = W_cubic(t + srtt), within [cwnd, 1.5 cwnd]                        (§4.2, §4.4, §4.5)
//! loss              W_max = cwnd, or cwnd (1 + beta) / 2 if cwnd is below the former W_max     (§4.7)
//!                   cwnd_prior = cwnd;  ssthresh = cwnd = max(beta FlightSize, 2)              (§4.6)
//! timeout           ssthresh likewise, once per datum; cwnd = 1; K = 0 in the stage that follows (§4.8)
//! ```
//!
//! Windows are in segments, as fractions of 64 bits. The window does not grow in fast recovery, nor while it does not
//! limit the sender; such times are left out of t (§5.8). Cubic reacts to losses only. Decisions of this
//! implementation: docs/assumptions.md#cubic, docs/assumptions.md#cubic-slow-start.

pub mod hystart;

use super::window::{AckEvent, CongestionControl, Growth, LossEvent, Repeat};
use super::{ControllerParams, QueueLimit, new_reno};
use crate::keys::Keys;
use crate::part::Part;
use crate::units::Time;
use hystart::SlowStart;

/// The least threshold of slow start, in segments.
const LEAST_THRESHOLD: f64 = 2.0;
/// The largest growth of the window in a round trip, as a factor.
const LARGEST_GROWTH: f64 = 1.5;

/// Parameters of Cubic.
#[derive(Clone, Copy, PartialEq, Debug, Keys, Part)]
#[keys(group = "cubic")]
#[part(
    name = "cubic",
    summary = "CUBIC: a window that is a cubic function of the time since the last loss, and at least that of Reno",
    source = "RFC 9438, RFC 9406",
    provides = [Ranks, Connections],
    linux = "cubic"
)]
pub struct Config {
    /// C, the steepness of the cubic function in segments per cubic second.
    #[key(default = 0.4, range = "(0, 1000000000000000]", source = "RFC 9438 §5")]
    pub c: f64,
    /// The part of the window that is left after a loss.
    #[key(default = 0.7, range = "(0, 1)", source = "RFC 9438 §4.6")]
    pub beta: f64,
    /// Whether a flow that loses packets below its former maximum aims below its window (fast convergence).
    #[key(default = true, source = "RFC 9438 §4.7")]
    pub fast_convergence: bool,
    /// Slow start.
    #[keys(flatten)]
    pub slow_start: hystart::Config,
    /// Initial window in bytes; `None` means 10 segments (RFC 6928). The window is at least one segment.
    #[keys(skip)]
    pub init_window: Option<u64>,
}

impl ControllerParams for Config {
    fn start_with(&mut self, bytes: u64, _: u64) {
        self.init_window = Some(bytes);
    }

    fn queues(&self) -> QueueLimit {
        QueueLimit::Losses
    }
}

/// A stage of congestion avoidance: the time between two losses, without slow start and recovery.
#[derive(Clone, Copy, Debug)]
struct Stage {
    /// When it began, put off by the times in which the window did not limit the sender.
    began: Time,
    /// Time at which the last ACK was processed.
    seen: Time,
    /// K in seconds.
    k: f64,
    /// `W_max` of its cubic function, in segments.
    plateau: f64,
    /// `W_est` in segments.
    reno: f64,
}

impl Stage {
    fn begin(now: Time, cwnd: f64, w_max: Option<f64>, c: f64) -> Self {
        let plateau = w_max.unwrap_or(cwnd).max(cwnd);
        Self { began: now, seen: now, k: libm::cbrt((plateau - cwnd) / c), plateau, reno: cwnd }
    }

    /// Leaves out of t the time until `sent`, in which nothing of the flow was in the network.
    fn skip_idle(&mut self, sent: Time) {
        self.began.0 += sent.since(self.seen).0;
    }

    /// Leaves out of t the time since the last ACK.
    fn skip(&mut self, now: Time) {
        self.began.0 += now.since(self.seen).0;
        self.seen = now;
    }

    /// Returns `W_cubic` at `t` seconds.
    fn cubic(&self, t: f64, c: f64) -> f64 {
        let from_plateau = t - self.k;
        c * from_plateau * from_plateau * from_plateau + self.plateau
    }
}

/// The window of one Cubic flow.
#[derive(Clone, Debug)]
pub struct Cubic {
    mss: u64,
    c: f64,
    beta: f64,
    fast_convergence: bool,
    /// Window, slow start threshold (infinite before the first reduction) and `cwnd_prior`, in segments.
    cwnd: f64,
    ssthresh: f64,
    prior: f64,
    /// `W_max` in segments; `None` before the first loss and after a timeout.
    w_max: Option<f64>,
    stage: Option<Stage>,
    /// HyStart++ of the first slow start, while that lasts.
    slow_start: SlowStart,
}

impl Cubic {
    fn segments(&self, bytes: u64) -> f64 {
        bytes as f64 / self.mss as f64
    }

    /// The additive increase with which AIMD(alpha, beta) has the mean window of Reno.
    fn friendly_increase(&self) -> f64 {
        3.0 * (1.0 - self.beta) / (1.0 + self.beta)
    }

    /// Applies slow start to an ACK of `acked` segments and returns the segments left for congestion avoidance.
    fn grow_slowly(&mut self, ack: &AckEvent, acked: f64) -> f64 {
        let counted = self.slow_start.growth(acked);
        let growth = counted.min(self.ssthresh - self.cwnd);
        self.cwnd += growth;
        if self.slow_start.is_over(ack) {
            (self.ssthresh, self.prior) = (self.cwnd, self.cwnd);
        }
        counted - growth
    }

    /// Applies congestion avoidance to an ACK of `acked` segments.
    fn avoid(&mut self, ack: &AckEvent, acked: f64) {
        let (c, friendly) = (self.c, self.friendly_increase());
        let (cwnd, w_max) = (self.cwnd, self.w_max);
        let stage = self.stage.get_or_insert_with(|| Stage::begin(ack.now, cwnd, w_max, c));
        if let Some(rtt) = ack.rtt {
            stage.skip_idle(Time(ack.now.0.saturating_sub(rtt.0)));
        }
        stage.seen = ack.now;
        let t = ack.now.since(stage.began).as_secs_f64();
        let alpha = if stage.reno < self.prior { friendly } else { 1.0 };
        stage.reno += alpha * acked / cwnd;
        let target = stage.cubic(t + ack.srtt.as_secs_f64(), c).clamp(cwnd, LARGEST_GROWTH * cwnd);
        self.cwnd = if stage.cubic(t, c) < stage.reno {
            cwnd.max(stage.reno)
        } else {
            cwnd + acked * (target - cwnd) / cwnd
        };
    }

    /// Sets the threshold of slow start after a loss with `in_flight` bytes in flight.
    fn lower_threshold(&mut self, in_flight: u64) {
        self.prior = self.cwnd;
        self.ssthresh = (self.segments(in_flight) * self.beta).max(LEAST_THRESHOLD);
        self.stage = None;
        self.slow_start = SlowStart::later();
    }
}

impl CongestionControl for Cubic {
    type Config = Config;

    type Telemetry = ();

    const ECN: bool = false;

    fn new(config: &Config, mss: u64) -> Self {
        let first = new_reno::Config { init_window: config.init_window }.first_window(mss);
        Self {
            mss,
            c: config.c,
            beta: config.beta,
            fast_convergence: config.fast_convergence,
            cwnd: first as f64 / mss as f64,
            ssthresh: f64::INFINITY,
            prior: 0.0,
            w_max: None,
            stage: None,
            slow_start: SlowStart::first(&config.slow_start),
        }
    }

    #[inline]
    fn window(&self) -> u64 {
        (self.cwnd * self.mss as f64) as u64
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        if ack.growth != Growth::Allowed {
            if let Some(stage) = &mut self.stage {
                stage.skip(ack.now);
            }
            return;
        }
        if ack.acked == 0 {
            return;
        }
        let mut acked = self.segments(ack.acked);
        if self.cwnd < self.ssthresh {
            acked = self.grow_slowly(ack, acked);
        }
        if acked > 0.0 {
            self.avoid(ack, acked);
        }
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        let shrinks = self.fast_convergence && self.w_max.is_some_and(|w_max| self.cwnd < w_max);
        let kept = if shrinks { f64::midpoint(1.0, self.beta) } else { 1.0 };
        self.w_max = Some(self.cwnd * kept);
        self.lower_threshold(loss.in_flight);
        self.cwnd = self.ssthresh;
    }

    fn on_timeout(&mut self, loss: &LossEvent, repeat: Repeat) {
        if repeat == Repeat::First {
            self.lower_threshold(loss.in_flight);
        }
        self.w_max = None;
        self.stage = None;
        self.cwnd = 1.0;
    }

    fn on_recovered(&mut self, in_flight: u64) {
        let flight = self.segments(in_flight).max(1.0) + 1.0;
        self.cwnd = self.ssthresh.min(flight);
    }

    fn restart(&mut self, first_window: u64) {
        // RFC 5681 §4.1; RFC 9438 §5.8 leaves the idle time out of t, which `skip_idle` does.
        self.cwnd = self.cwnd.min(self.segments(first_window).max(1.0));
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        // There is no threshold before the first reduction.
        if self.ssthresh.is_finite() {
            see("ssthresh_bytes", self.ssthresh * self.mss as f64);
        }
        if let Some(w_max) = self.w_max {
            see("cubic_w_max_bytes", w_max * self.mss as f64);
        }
    }
}

#[cfg(test)]
mod tests;
