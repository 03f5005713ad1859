//! PACCP: TCP NewReno with a minimum rate theta and a weight w (PACCP §III, Eqs. 8-14).
//!
//! ```text
//! W_min = theta RTT / MSS                                                                       (Eq. 12)
//! r = r_cos while W < W_min (CND1), else 1 (CND2)                                               (Eq. 8)
//!
//! per RTT                     CND1, CND2                             loss
//! W < ssthresh (SSP)          W += ((3 r - 3^(1-w)) / 2) W           W -= (3^(1-w) / 2) W       (Eq. 13)
//! else (CAP)                  W += ((r - 1) / 2) W + (r - 1 + w)     W -= W / 2 - (w - 1)       (Eq. 14)
//!   exact_cap, y = 2 / W      W += (r - (1 + y)^-w) (1 + W / 2)      W -= (1 + W / 2)(1 + y)^-w (Eq. 11)
//!
//! per ACK of b bytes          the RTT's increase times b / W; r as of this ACK
//! loss                        W = ssthresh = max(row above from FlightSize, at most FlightSize, 2 MSS)
//!   keep_minimum              and at least min(W_min, FlightSize)
//! timeout                     ssthresh = max(FlightSize / 2, 2 MSS), once per datum; W = 1 MSS
//! ```
//!
//! With (theta, w) = (0, 1) each row equals NewReno's, in the same whole bytes. Decisions where the paper is
//! silent or in error: docs/assumptions.md#paccp-phases, #paccp-per-ack, #paccp-negative-cut, #paccp-wmin.

use super::new_reno;
use super::window::{AckEvent, CongestionControl, Growth, LossBased, LossEvent, Repeat};
use super::{ControllerParams, QueueLimit};
use crate::keys::{Keys, Words, truth_value};
use crate::part::Part;
use crate::units::{PS_PER_S, Rate, Span};

/// The weight of a best-effort flow, in thousandths.
const BEST_EFFORT: u32 = 1_000;

/// Parameters of PACCP.
#[derive(Clone, Copy, PartialEq, Debug, Keys, Part)]
#[keys(group = "paccp")]
#[part(
    name = "paccp",
    summary = "PACCP: NewReno with a minimum rate and a weight for the growth and reduction of the window",
    source = "PACCP §III, Eqs. 8-14",
    provides = [Ranks, Weights, MinimumRates],
    deploy = [Prices, CongestionModule]
)]
pub struct Config {
    /// NewReno's parameters, unchanged.
    #[keys(flatten)]
    pub reno: new_reno::Config,
    /// Growth factor of a window below that of its minimum rate.
    #[key(default = 3.0, range = "(1, 100]", source = "PACCP §III, Eq. 8")]
    pub r_cos: f64,
    /// Whether congestion avoidance uses Eq. 11 instead of Eq. 14, its approximation for large windows.
    #[key(name = "exact_cap", default = Avoidance::Approximate, source = "PACCP §III, Eq. 11")]
    pub avoidance: Avoidance,
    /// The round-trip time used to convert a minimum rate into a window.
    #[key(default = RttOf::Smoothed, source = "PACCP §III, Eq. 12; docs/assumptions.md#paccp-wmin")]
    pub rtt: RttOf,
    /// Whether a loss leaves at least the window of the minimum rate, or all if the window is smaller.
    #[key(
        name = "keep_minimum",
        default = LossFloor::None,
        skip_default,
        source = "docs/assumptions.md#paccp-wmin"
    )]
    pub floor: LossFloor,
}

impl ControllerParams for Config {
    fn start_with(&mut self, bytes: u64, mss: u64) {
        self.reno.start_with(bytes, mss);
    }

    fn queues(&self) -> QueueLimit {
        QueueLimit::Losses
    }
}

/// The equation of congestion avoidance.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Avoidance {
    /// Eq. 14, the approximation for large windows.
    #[default]
    Approximate,
    /// Eq. 11, exact.
    Exact,
}

truth_value!(Avoidance: Approximate, Exact);

/// The round-trip time of Eq. 12.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Words)]
pub enum RttOf {
    /// The smoothed RTT, queueing included: the window achieves theta at the current delay.
    #[default]
    Smoothed,
    /// The minimum RTT seen: the window achieves theta on an empty path.
    Base,
}

/// The least window after a loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LossFloor {
    /// None but that of NewReno: Eqs. 13 and 14 name no other.
    #[default]
    None,
    /// W_min.
    Minimum,
}

truth_value!(LossFloor: None, Minimum);

/// The window of a PACCP flow.
#[derive(Clone, Debug)]
pub struct Paccp {
    mss: u64,
    cwnd: u64,
    ssthresh: u64,
    /// Thousandths of bytes earned in congestion avoidance and not yet converted into a segment of window.
    credit: u64,
    /// Bytes per picosecond; 0 without a minimum rate.
    theta: f64,
    w_milli: u32,
    /// 3^(1-w).
    yielded: f64,
    r_cos: f64,
    avoidance: Avoidance,
    rtt_of: RttOf,
    floor: LossFloor,
    /// The round-trip time of Eq. 12; zero before the first sample.
    rtt: Span,
    /// W_min in bytes, as of the last ACK.
    minimum: f64,
}

impl Paccp {
    /// Returns the slow start threshold in bytes; `u64::MAX` before the first reduction.
    pub fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    /// Returns r of Eq. 8.
    #[inline]
    fn r(&self) -> f64 {
        if (self.cwnd as f64) < self.minimum { self.r_cos } else { 1.0 }
    }

    /// Records the round-trip time.
    #[inline]
    fn measure(&mut self, ack: &AckEvent) {
        self.rtt = match (self.rtt_of, ack.rtt) {
            (RttOf::Smoothed, _) => ack.srtt,
            (RttOf::Base, None) => self.rtt,
            (RttOf::Base, Some(rtt)) if self.rtt == Span::ZERO => rtt,
            (RttOf::Base, Some(rtt)) => self.rtt.min(rtt),
        };
        self.minimum = self.theta * self.rtt.0 as f64;
    }

    /// Applies slow start to `acked` bytes and returns the bytes left for congestion avoidance.
    #[inline]
    fn slow_start(&mut self, acked: u64) -> u64 {
        if self.cwnd >= self.ssthresh {
            return acked;
        }
        let counted = acked.min(self.mss);
        let gain = (3.0 * self.r() - self.yielded) / 2.0;
        let grown = (gain * counted as f64) as u64;
        let room = self.ssthresh - self.cwnd;
        if grown <= room {
            self.cwnd += grown;
            return 0;
        }
        self.cwnd = self.ssthresh;
        counted.saturating_sub((room as f64 / gain) as u64)
    }

    /// Applies congestion avoidance: adds a segment for each window's worth of credit.
    #[inline]
    fn avoid(&mut self, acked: u64) {
        if acked > 0 {
            self.credit += acked.saturating_mul(self.increase(acked));
        }
        while self.credit >= self.cwnd * 1_000 {
            self.credit -= self.cwnd * 1_000;
            self.cwnd += self.mss;
        }
    }

    /// Returns what a round trip without loss adds to the window in whole segments, in thousandths. The part
    /// proportional to the window (Eq. 14, CND1) is added immediately for `acked` bytes.
    #[inline]
    fn increase(&mut self, acked: u64) -> u64 {
        let r = self.r();
        match self.avoidance {
            Avoidance::Exact if self.w_milli != BEST_EFFORT => self.exact(r),
            _ if r == 1.0 => u64::from(self.w_milli),
            _ => {
                self.cwnd += ((r - 1.0) / 2.0 * acked as f64) as u64;
                u64::from(self.w_milli) + ((r - 1.0) * 1e3) as u64
            }
        }
    }

    /// Returns the increase by Eq. 11 over a round trip without loss, in thousandths of a segment.
    fn exact(&self, r: f64) -> u64 {
        let half = self.cwnd as f64 / self.mss as f64 / 2.0;
        ((r - self.kept_back(half)) * (1.0 + half) * 1e3) as u64
    }

    /// Returns (1 + 2 / W)^-w for a window of `2 half` segments.
    fn kept_back(&self, half: f64) -> f64 {
        libm::pow(1.0 + 1.0 / half, -f64::from(self.w_milli) / 1e3)
    }

    /// Returns the bytes of `flight` left after a loss, before NewReno's floor.
    fn left_of(&self, flight: u64) -> f64 {
        let left = self.left_by_phase(flight);
        match self.floor {
            LossFloor::None => left,
            LossFloor::Minimum => left.max(self.minimum.min(flight as f64)),
        }
    }

    /// Returns the bytes of `flight` left by Eq. 11, 13 or 14.
    fn left_by_phase(&self, flight: u64) -> f64 {
        let whole = flight as f64;
        if self.cwnd < self.ssthresh {
            return (1.0 - self.yielded / 2.0) * whole;
        }
        let mss = self.mss as f64;
        match self.avoidance {
            Avoidance::Exact if self.w_milli != BEST_EFFORT && flight > 0 => {
                let half = whole / mss / 2.0;
                whole - (1.0 + half) * self.kept_back(half) * mss
            }
            _ => whole / 2.0 + (f64::from(self.w_milli) - 1e3) / 1e3 * mss,
        }
    }

    fn threshold_after_loss(&self, flight: u64) -> u64 {
        let left = self.left_of(flight).max(0.0) as u64;
        left.min(flight).max(2 * self.mss)
    }
}

impl CongestionControl for Paccp {
    type Config = Config;

    type Telemetry = ();

    const ECN: bool = false;

    fn new(config: &Config, mss: u64) -> Self {
        Self {
            mss,
            cwnd: config.reno.first_window(mss),
            ssthresh: u64::MAX,
            credit: 0,
            theta: 0.0,
            w_milli: BEST_EFFORT,
            yielded: 1.0,
            r_cos: config.r_cos,
            avoidance: config.avoidance,
            rtt_of: config.rtt,
            floor: config.floor,
            rtt: Span::ZERO,
            minimum: 0.0,
        }
    }

    #[inline]
    fn window(&self) -> u64 {
        self.cwnd
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        self.measure(ack);
        if ack.acked == 0 || ack.growth != Growth::Allowed {
            return;
        }
        let left = self.slow_start(ack.acked);
        self.avoid(left);
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        self.ssthresh = self.threshold_after_loss(loss.in_flight);
        self.cwnd = self.ssthresh;
        self.credit = 0;
    }

    fn on_timeout(&mut self, loss: &LossEvent, repeat: Repeat) {
        if repeat == Repeat::First {
            self.ssthresh = (loss.in_flight / 2).max(2 * self.mss);
        }
        self.cwnd = self.mss;
        self.credit = 0;
    }

    fn on_recovered(&mut self, in_flight: u64) {
        self.cwnd = self.ssthresh.min(in_flight.max(self.mss) + self.mss).max(self.mss);
    }

    /// A weight of zero is replaced by the smallest weight, 0.001.
    fn set_weights(&mut self, theta: Option<Rate>, w_milli: u32) {
        self.theta = theta.map_or(0.0, |rate| rate.bps() as f64 / 8.0 / PS_PER_S as f64);
        self.minimum = self.theta * self.rtt.0 as f64;
        if w_milli != self.w_milli {
            self.w_milli = w_milli.max(1);
            self.yielded = libm::pow(3.0, 1.0 - f64::from(self.w_milli) / 1e3);
        }
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        // There is no threshold before the first reduction.
        if self.ssthresh != u64::MAX {
            see("ssthresh_bytes", self.ssthresh as f64);
        }
        if self.theta > 0.0 {
            see("minimum_window_bytes", self.minimum);
        }
        see("w", f64::from(self.w_milli) / 1e3);
    }
}

impl LossBased for Paccp {
    fn mss(&self) -> u64 {
        self.mss
    }

    fn loss_cut(&self) -> f64 {
        (1.0 - self.left_of(self.cwnd) / self.cwnd as f64).clamp(0.0, 1.0)
    }

    fn reduce_to(&mut self, ssthresh: u64) {
        self.ssthresh = ssthresh;
        self.cwnd = self.cwnd.min(ssthresh);
        self.credit = 0;
    }
}

#[cfg(test)]
mod tests;
