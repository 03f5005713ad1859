//! Data Center TCP (RFC 8257).
//!
//! ```text
//! per ACK      acked_bytes += acked;  if ECE: marked_bytes += acked                     (§3.3 steps 1-4)
//! una > end    F = marked_bytes / acked_bytes;  alpha = (1 - g) alpha + g F;  end = next (§3.3 steps 5-9)
//! ECE          cwnd = cwnd (1 - alpha / 2), not below the floor; at most once per window (§3.3 step 10)
//! loss, RTO    as NewReno                                                               (§3.5)
//! ```
//!
//! Everything else is NewReno, which this wraps: without marks both leave the same trace. A marked ACK
//! never grows the window (RFC 3168 §6.1.2), and a reduction, for marks or for loss, stands for everything
//! sent before it.

use super::new_reno::NewReno;
use super::window::{AckSeen, CongestionControl, Growth, LossSeen, Repeat};

/// Parameters of DCTCP.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// NewReno's parameters, which DCTCP keeps where there are no marks.
    pub reno: super::new_reno::Config,
    /// Weight of a new estimate of the marked fraction, in (0, 1]. Default 1/16 (RFC 8257 §4.2).
    pub g: f64,
    /// The estimate before the first window, in [0, 1]. RFC 8257 §3.3 starts at 1; paper presets at 0.
    pub alpha_0: f64,
    /// Floor of the window after a cut, in segments, at least 1. Default 2 as in Linux.
    pub min_window: u32,
}

/// The window of one DCTCP flow.
#[derive(Clone, Debug)]
pub struct Dctcp {
    reno: NewReno,
    g: f64,
    alpha: f64,
    floor: u64,
    acked_bytes: u64,
    marked_bytes: u64,
    /// End of the window of data over which marks are counted (`DCTCP.WindowEnd`).
    window_end: u64,
    /// Everything before it was sent before the last reduction.
    reduced_until: u64,
}

impl Dctcp {
    /// The estimated fraction of marked bytes, in [0, 1].
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    fn count(&mut self, ack: &AckSeen) {
        self.acked_bytes += ack.acked;
        if ack.marked {
            self.marked_bytes += ack.acked;
        }
        if ack.una <= self.window_end || self.acked_bytes == 0 {
            return;
        }
        let fraction = self.marked_bytes as f64 / self.acked_bytes as f64;
        self.alpha = ((1.0 - self.g) * self.alpha + self.g * fraction).clamp(0.0, 1.0);
        self.window_end = ack.next;
        self.acked_bytes = 0;
        self.marked_bytes = 0;
    }

    fn cut(&mut self, ack: &AckSeen) {
        let kept = (self.reno.window() as f64 * (1.0 - self.alpha / 2.0)) as u64;
        self.reno.reduce_to(kept.max(self.floor));
        self.reduced_until = ack.next;
    }
}

impl CongestionControl for Dctcp {
    type Config = Config;

    const ECN: bool = true;

    fn new(config: &Config, mss: u64) -> Self {
        let reno = NewReno::new(&config.reno, mss);
        let floor = u64::from(config.min_window.max(1)) * reno.mss();
        Self {
            reno,
            g: config.g,
            alpha: config.alpha_0,
            floor,
            acked_bytes: 0,
            marked_bytes: 0,
            window_end: 0,
            reduced_until: 0,
        }
    }

    #[inline]
    fn window(&self) -> u64 {
        self.reno.window()
    }

    fn on_ack(&mut self, ack: &AckSeen) {
        self.count(ack);
        if !ack.marked {
            self.reno.on_ack(ack);
        } else if ack.growth != Growth::Recovering && ack.una > self.reduced_until {
            self.cut(ack);
        }
    }

    fn on_loss(&mut self, loss: &LossSeen) {
        self.reno.on_loss(loss);
        self.reduced_until = loss.next;
    }

    fn on_timeout(&mut self, loss: &LossSeen, repeat: Repeat) {
        self.reno.on_timeout(loss, repeat);
        self.reduced_until = loss.next;
    }

    fn on_recovered(&mut self, in_flight: u64) {
        self.reno.on_recovered(in_flight);
    }
}

#[cfg(test)]
mod tests;
