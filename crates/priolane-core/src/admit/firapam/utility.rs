//! The utility of a flow and its derivative at fixed slack, always in Gbit, seconds and Gbit/s
//! (docs/assumptions.md#firapam-units).

use crate::keys::Keys;
use crate::units::{PS_PER_S, Span};

/// Constants of the utility, in terms of Gbit, seconds and Gbit/s.
#[derive(Clone, Copy, Debug, PartialEq, Keys)]
#[keys(group = "firapam")]
pub struct Constants {
    /// Exponent of the utility.
    #[key(default = 0.9, range = "(0, 1]", source = "Firapam §V")]
    pub t: f64,
    /// Weight of slack, for Gbit/s and seconds.
    #[key(default = 900.0, range = "[0, )", unit = "1/s", source = "docs/assumptions.md#firapam-units")]
    pub b: f64,
    /// Weight of loss.
    #[key(default = 11.0, range = "[0, )", source = "docs/assumptions.md#firapam-loss-price")]
    pub c: f64,
}

/// Observation of a completed flow, or of the rest of a running one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    pub(super) gbit: f64,
    /// d_o; `None` for a flow without a deadline.
    pub(super) allowed: Option<f64>,
    pub(super) took: f64,
    pub(super) loss: f64,
}

/// The reference for flows without a deadline: the flow of the class with the longest deadline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReferenceFlow {
    /// B_max / d_max, in Gbit/s.
    pub gbps: f64,
}

/// The three terms of a utility or a gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// Rate: D^t, or its derivative.
    pub rate: f64,
    /// Slack: - b D (d_o - d), or - b (d_o - d).
    pub slack: f64,
    /// Loss: - c D l, or - c l.
    pub loss: f64,
}

impl Terms {
    /// The names of the terms, in order.
    pub const NAMES: [&'static str; 3] = ["rate", "slack", "loss"];

    /// Returns the terms, in order.
    pub fn each(&self) -> [f64; 3] {
        [self.rate, self.slack, self.loss]
    }

    /// Returns the sum of the terms.
    pub fn sum(&self) -> f64 {
        self.rate + self.slack + self.loss
    }
}

impl Observation {
    /// Creates the observation of a flow of `bytes` that had the time `allowed` until its deadline, if any, and took
    /// `took`; `loss` is the retransmitted fraction. `None` if there is no rate: no bytes, no time taken, or a
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

    /// Returns B / d, in Gbit/s.
    pub fn rate(&self) -> f64 {
        self.gbit / self.took
    }

    /// Returns d_o - d; without a deadline B / d - B_max / d_max, or `None` without a reference flow.
    fn slack(&self, rival: Option<ReferenceFlow>) -> Option<f64> {
        match self.allowed {
            Some(allowed) => Some(allowed - self.took),
            None => Some(self.rate() - rival?.gbps),
        }
    }
}

impl Constants {
    /// Returns the terms of Eq. 16, or of Eq. 19 without a deadline; `None` if Eq. 19 has no reference flow.
    pub fn utility(&self, seen: &Observation, rival: Option<ReferenceFlow>) -> Option<Terms> {
        let slack = seen.slack(rival)?;
        let x = seen.allowed.map_or(seen.gbit, |allowed| seen.gbit / allowed);
        Some(Terms { rate: libm::pow(x, self.t), slack: -self.b * x * slack, loss: -self.c * x * seen.loss })
    }

    /// Returns the terms of Eq. 21, the derivative of Eq. 20 by the actual rate lambda = B / d at fixed slack. Without
    /// a deadline, those of the derivative of Eq. 19 by the size.
    pub(crate) fn gradient(&self, seen: &Observation, rival: Option<ReferenceFlow>) -> Option<Terms> {
        let slack = seen.slack(rival)?;
        let x = seen.allowed.map_or(seen.gbit, |_| seen.rate());
        Some(Terms {
            rate: self.t * libm::pow(x, self.t - 1.0),
            slack: -self.b * slack,
            loss: -self.c * seen.loss,
        })
    }

    /// Returns the slack d_o - d at which the gradient is zero, for an actual rate of `gbps` and a loss fraction
    /// `loss`: (t lambda^(t-1) - c l) / b, in seconds (Eq. 21).
    #[cfg(test)]
    pub(crate) fn equilibrium_slack(&self, gbps: f64, loss: f64) -> f64 {
        (self.t * libm::pow(gbps, self.t - 1.0) - self.c * loss) / self.b
    }
}

/// Converts bytes to Gbit.
pub(super) fn gbit(bytes: u64) -> f64 {
    bytes as f64 * 8e-9
}

/// Converts a duration to seconds.
pub(super) fn seconds(span: Span) -> f64 {
    span.0 as f64 / PS_PER_S as f64
}
