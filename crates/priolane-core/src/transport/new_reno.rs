//! TCP NewReno's window (RFC 5681, RFC 6582).
//!
//! ```text
//! cwnd < ssthresh   slow start            cwnd += min(acked, MSS), not beyond ssthresh   (RFC 5681 eq. 2)
//! otherwise         congestion avoidance  cwnd += MSS per cwnd bytes acknowledged        (RFC 5681 eq. 3)
//! loss              ssthresh = max(FlightSize / 2, 2 MSS), cwnd = ssthresh               (RFC 5681 eq. 4)
//! timeout           ssthresh likewise, once per datum; cwnd = 1 MSS
//! ```
//!
//! All in whole bytes. The window does not grow in fast recovery, nor while it does not limit the sender (RFC
//! 7661). Decisions of this implementation: docs/assumptions.md#slow-start-abc,
//! docs/assumptions.md#window-limited.

use super::window::{AckEvent, CongestionControl, Growth, LossBased, LossEvent, Repeat};
use super::{ControllerParams, QueueLimit};
use crate::keys::Keys;
use crate::part::Part;

/// Initial window in segments, if none is configured (RFC 6928).
const INITIAL_SEGMENTS: u64 = 10;

/// Parameters of NewReno.
#[derive(Clone, Copy, PartialEq, Debug, Keys, Part)]
#[keys(group = "newreno")]
#[part(
    name = "newreno",
    summary = "TCP NewReno: slow start, congestion avoidance, fast retransmit and recovery",
    source = "RFC 5681, RFC 6582, RFC 6298",
    provides = [Ranks, Connections],
    linux = "reno"
)]
pub struct Config {
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

impl Config {
    /// Returns the initial window in bytes for segments of `mss` bytes, at least one segment.
    pub(super) fn first_window(&self, mss: u64) -> u64 {
        self.init_window.unwrap_or(INITIAL_SEGMENTS * mss).max(mss)
    }
}

/// The window of one NewReno flow.
#[derive(Clone, Debug)]
pub struct NewReno {
    mss: u64,
    cwnd: u64,
    ssthresh: u64,
    /// Bytes acknowledged in congestion avoidance and not yet converted into a segment of window.
    credit: u64,
}

impl NewReno {
    /// Returns the slow start threshold in bytes; `u64::MAX` before the first reduction.
    pub fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    fn threshold_after_loss(&self, in_flight: u64) -> u64 {
        (in_flight / 2).max(2 * self.mss)
    }

    /// Applies slow start to `acked` bytes and returns the bytes left for congestion avoidance.
    fn slow_start(&mut self, acked: u64) -> u64 {
        if self.cwnd >= self.ssthresh {
            return acked;
        }
        let counted = acked.min(self.mss);
        let growth = counted.min(self.ssthresh - self.cwnd);
        self.cwnd += growth;
        counted - growth
    }
}

impl CongestionControl for NewReno {
    type Config = Config;

    type Telemetry = ();

    const ECN: bool = false;

    fn new(config: &Config, mss: u64) -> Self {
        Self { mss, cwnd: config.first_window(mss), ssthresh: u64::MAX, credit: 0 }
    }

    #[inline]
    fn window(&self) -> u64 {
        self.cwnd
    }

    #[inline(always)]
    fn on_ack(&mut self, ack: &AckEvent) {
        if ack.acked == 0 || ack.growth != Growth::Allowed {
            return;
        }
        self.credit += self.slow_start(ack.acked);
        while self.credit >= self.cwnd {
            self.credit -= self.cwnd;
            self.cwnd += self.mss;
        }
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        self.ssthresh = self.threshold_after_loss(loss.in_flight);
        self.cwnd = self.ssthresh;
        self.credit = 0;
    }

    fn on_timeout(&mut self, loss: &LossEvent, repeat: Repeat) {
        if repeat == Repeat::First {
            self.ssthresh = self.threshold_after_loss(loss.in_flight);
        }
        self.cwnd = self.mss;
        self.credit = 0;
    }

    fn on_recovered(&mut self, in_flight: u64) {
        self.cwnd = self.ssthresh.min(in_flight.max(self.mss) + self.mss).max(self.mss);
    }

    fn restart(&mut self, first_window: u64) {
        // RFC 5681 §4.1: the restart window is the initial one, or the present one if that is smaller.
        self.cwnd = self.cwnd.min(first_window.max(self.mss));
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        // There is no threshold before the first reduction.
        if self.ssthresh != u64::MAX {
            see("ssthresh_bytes", self.ssthresh as f64);
        }
    }
}

impl LossBased for NewReno {
    fn mss(&self) -> u64 {
        self.mss
    }

    fn loss_cut(&self) -> f64 {
        0.5
    }

    fn reduce_to(&mut self, ssthresh: u64) {
        self.ssthresh = ssthresh;
        self.cwnd = self.cwnd.min(ssthresh);
        self.credit = 0;
    }
}

#[cfg(test)]
mod tests;
