//! The utility of a flow and its derivative at fixed slack, in Gbit, seconds and Gbit/s whatever a user writes
//! (docs/assumptions.md#firapam-units).

use crate::keys::Keys;
use crate::units::{PS_PER_S, Span};

/// Constants of the utility, for Gbit, seconds and Gbit/s.
#[derive(Clone, Copy, Debug, PartialEq, Keys)]
#[keys(group = "firapam")]
pub struct Constants {
    /// Exponent of the utility.
    #[key(default = 0.9, range = "(0, 1]", source = "Firapam §V")]
    pub t: f64,
    /// Price of slack, for Gbit/s and seconds.
    #[key(default = 900.0, range = "[0, )", unit = "1/s", source = "docs/assumptions.md#firapam-units")]
    pub b: f64,
    /// Price of loss.
    #[key(default = 11.0, range = "[0, )", source = "docs/assumptions.md#firapam-loss-price")]
    pub c: f64,
}

/// What was seen of a flow, or of what was left of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    pub(super) gbit: f64,
    /// d_o; `None` for a flow without deadline.
    pub(super) allowed: Option<f64>,
    pub(super) took: f64,
    pub(super) loss: f64,
}

/// The flow without deadline's rival: that of its class with the longest deadline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rival {
    /// B_max / d_max, in Gbit/s.
    pub gbps: f64,
}

/// The three summands of a utility or a gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// Of rate: D^t, or its derivative.
    pub rate: f64,
    /// Of slack: - b D (d_o - d), or - b (d_o - d).
    pub slack: f64,
    /// Of loss: - c D l, or - c l.
    pub loss: f64,
}

impl Terms {
    /// The names of the three, in order.
    pub const NAMES: [&'static str; 3] = ["rate", "slack", "loss"];

    /// The three, in order.
    pub fn each(&self) -> [f64; 3] {
        [self.rate, self.slack, self.loss]
    }

    /// The whole.
    pub fn sum(&self) -> f64 {
        self.rate + self.slack + self.loss
    }
}

impl Observation {
    /// A flow of `bytes` that had the time `allowed` until its deadline, if it has one, and took `took`, a fraction
    /// `loss` of what it sent being sent again. `None` where that makes no rate: nothing to send, no time taken, or a
    /// deadline that leaves no time.
    pub fn new(
        bytes: u64,
        (allowed, has_deadline): (Option<Span>, bool),
        took: Span,
        loss: f64,
    ) -> Option<Self> {
        let makes_none = bytes == 0 || took == Span::ZERO || (has_deadline && allowed.is_none());
        (!makes_none).then(|| Self {
            gbit: gbit(bytes),
            allowed: allowed.map(seconds),
            took: seconds(took),
            loss: loss.clamp(0.0, 1.0),
        })
    }

    /// B / d, in Gbit/s.
    pub fn rate(&self) -> f64 {
        self.gbit / self.took
    }

    /// d_o - d; without deadline B / d - B_max / d_max, `None` if there is no rival.
    fn slack(&self, rival: Option<Rival>) -> Option<f64> {
        match self.allowed {
            Some(allowed) => Some(allowed - self.took),
            None => Some(self.rate() - rival?.gbps),
        }
    }
}

impl Constants {
    /// Eq. 16, or Eq. 19 without deadline; `None` if that has no rival.
    pub fn utility(&self, seen: &Observation, rival: Option<Rival>) -> Option<Terms> {
        let slack = seen.slack(rival)?;
        let x = seen.allowed.map_or(seen.gbit, |allowed| seen.gbit / allowed);
        Some(Terms { rate: libm::pow(x, self.t), slack: -self.b * x * slack, loss: -self.c * x * seen.loss })
    }

    /// Eq. 21, the derivative of Eq. 20 by the actual rate lambda = B / d at fixed slack; without deadline, that of
    /// Eq. 19 by the size.
    pub(crate) fn gradient(&self, seen: &Observation, rival: Option<Rival>) -> Option<Terms> {
        let slack = seen.slack(rival)?;
        let x = seen.allowed.map_or(seen.gbit, |_| seen.rate());
        Some(Terms {
            rate: self.t * libm::pow(x, self.t - 1.0),
            slack: -self.b * slack,
            loss: -self.c * seen.loss,
        })
    }

    /// The slack d_o - d at which the gradient is zero, for an actual rate of `gbps` and a fraction `loss` lost:
    /// (t lambda^(t-1) - c l) / b, in seconds (Eq. 21).
    #[cfg(test)]
    pub(crate) fn equilibrium_slack(&self, gbps: f64, loss: f64) -> f64 {
        (self.t * libm::pow(gbps, self.t - 1.0) - self.c * loss) / self.b
    }
}

/// Bytes in Gbit.
pub(super) fn gbit(bytes: u64) -> f64 {
    bytes as f64 * 8e-9
}

/// A span in seconds.
pub(super) fn seconds(span: Span) -> f64 {
    span.0 as f64 / PS_PER_S as f64
}
