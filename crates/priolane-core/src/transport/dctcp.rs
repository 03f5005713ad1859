//! Data Center TCP (RFC 8257).
//!
//! ```text
//! per ACK      acked_bytes += acked;  if ECE: marked_bytes += acked                     (§3.3 steps 1-4)
//! una > end    F = marked_bytes / acked_bytes;  alpha = (1 - g) alpha + g F;  end = next (§3.3 steps 5-9)
//! ECE          cwnd = cwnd (1 - alpha / 2), not below the floor; at most once per window (§3.3 step 10)
//! loss, RTO    as NewReno                                                               (§3.5)
//! ```
//!
//! A reduction takes effect at once, as in RFC 8257, or in proportion to the acknowledged bytes, as in the
//! kernel's CWR state, which spreads it over a round trip (RFC 6937 §3). In the second case the window does
//! not grow until all data sent before the reduction is acknowledged.
//!
//! ```text
//! pipe > target   window = pipe + ceil(delivered target / flight) - sent                (RFC 6937 §3)
//! otherwise       window = pipe + min(max(delivered - sent, acked), target - pipe)      (its PRR-CRB)
//! una > end       window = target
//! ```
//!
//! The base controller, NewReno, does everything else; without marks, DCTCP and NewReno produce the same
//! trace. A marked ACK never grows the window (RFC 3168 §6.1.2). A reduction, for marks or for loss, covers
//! all data sent before it; a loss reduces again (docs/assumptions.md#dctcp-loss-after-mark).
//!
//! With PACCP as the base the window grows by (theta, w). A reduction then takes alpha times PACCP's
//! reduction for a loss instead of alpha times half of the window (docs/assumptions.md#paccp-dctcp).

use super::new_reno::{self, NewReno};
use super::window::{AckEvent, CongestionControl, Growth, LossBased, LossEvent, Repeat};
use super::{ControllerParams, paccp};
use crate::deployment::{Deployment, Need};
use crate::finding::{Finding, NetworkFacts, PathFacts, bytes};
use crate::keys::{Keys, Words};
use crate::part::{Capability, Part};
use crate::quantity::about_bytes;
use crate::units::Rate;

/// Parameters of DCTCP over a base with parameters `B`.
#[derive(Clone, Copy, PartialEq, Debug, Keys)]
#[keys(group = "dctcp")]
pub struct Config<B = new_reno::Config> {
    /// The parameters of the base controller, which acts alone without marks.
    #[keys(flatten)]
    pub reno: B,
    /// Weight of a new sample in the estimate of the marked fraction.
    #[key(default = 1.0 / 16.0, shown = "1/16", range = "(0, 1]", source = "RFC 8257 §4.2")]
    pub g: f64,
    /// The estimate of the marked fraction before the first window.
    #[key(default = 1.0, range = "[0, 1]", source = "RFC 8257 §3.3; paper presets state 0")]
    pub alpha_0: f64,
    /// Floor of the window after a reduction.
    #[key(
        default = 2,
        range = "[1, 1000]",
        unit = "packets",
        source = "Linux; docs/assumptions.md#dctcp-floor"
    )]
    pub min_window: u32,
    /// How a reduction for marks takes effect.
    #[key(
        default = Reduction::AtOnce,
        source = "RFC 8257 §3.3, RFC 6937 §3; docs/assumptions.md#ns3-reduction"
    )]
    pub reduction: Reduction,
}

impl Part for Config {
    const NAME: &'static str = "dctcp";
    const SUMMARY: &'static str = "Data Center TCP: cuts the window by the fraction of marked bytes";
    const SOURCE: &'static str = "DCTCP (SIGCOMM 2010) §3, RFC 8257";
    const REQUIRES: &'static [Capability] = &[Capability::CongestionMarks];
    const PROVIDES: &'static [Capability] = &[Capability::Ranks, Capability::Connections];
    const DEPLOYMENT: Deployment =
        Deployment { needs: &[Need::Ecn, Need::CongestionControl], linux: Some("dctcp"), ..Deployment::NONE };

    fn findings(&self, network: &NetworkFacts<'_>) -> Vec<Finding> {
        self.floor(network).into_iter().collect()
    }
}

impl Part for Config<paccp::Config> {
    const NAME: &'static str = "paccp_dctcp";
    const SUMMARY: &'static str =
        "DCTCP with PACCP's minimum rates and weights; cuts the window by the fraction of marked bytes";
    const SOURCE: &'static str = "PACCP §III, RFC 8257; docs/assumptions.md#paccp-dctcp";
    const REQUIRES: &'static [Capability] = &[Capability::CongestionMarks];
    const PROVIDES: &'static [Capability] =
        &[Capability::Ranks, Capability::Weights, Capability::MinimumRates];
    const DEPLOYMENT: Deployment =
        Deployment { needs: &[Need::Prices, Need::Ecn, Need::CongestionModule], ..Deployment::NONE };

    fn findings(&self, network: &NetworkFacts<'_>) -> Vec<Finding> {
        self.floor(network).into_iter().collect()
    }
}

impl<B> Config<B> {
    /// A least window that exceeds path and marking threshold keeps the queue above the threshold forever.
    pub(super) fn floor(&self, network: &NetworkFacts<'_>) -> Option<Finding> {
        let frame = &network.frame;
        let least = u64::from(self.min_window) * u64::from(frame.max_wire());
        let kept = |path: &PathFacts| {
            let marks_above = bytes(path.bottleneck?.marks_above?, frame)?;
            Some(path.path.bdp().saturating_add(marks_above)).filter(|&kept| least > kept)
        };
        let (path, _) = network.worst(|path| kept(path).is_some())?;
        let what = format!(
            "a window of at least {} packets is above the {} that {} and the marking threshold hold: a flow alone is \
             marked forever and cannot slow down",
            self.min_window,
            about_bytes(kept(path)?),
            path.name()
        );
        Some(Finding::warning("min_window", what, "a smaller min_window, or a higher marking threshold"))
    }
}

impl<B: ControllerParams> ControllerParams for Config<B> {
    fn start_with(&mut self, bytes: u64, mss: u64) {
        self.reno.start_with(bytes, mss);
    }
}

/// The way in which a reduction of the window for marks takes effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Words)]
pub enum Reduction {
    /// The window takes its reduced value at once and grows from there (RFC 8257 §3.3).
    #[default]
    AtOnce,
    /// The window shrinks as data is acknowledged and does not grow for a round trip (RFC 6937; the CWR state
    /// of Linux and ns-3).
    Proportional,
    /// As `Proportional`, but the first ACK counts twice, as in ns-3.37 (docs/assumptions.md#ns3-reduction).
    Ns3,
}

/// A proportional reduction in progress.
#[derive(Clone, Copy, Debug)]
struct Reducing {
    /// Bytes in flight at the start.
    flight: u64,
    /// First byte not yet sent at the start; the reduction ends when more than this is acknowledged.
    end: u64,
    delivered: u64,
    /// The current window in bytes.
    window: u64,
}

/// The part of an ACK that a reduction needs.
#[derive(Clone, Copy, Debug)]
struct Acknowledged {
    /// Bytes acknowledged for the first time.
    acked: u64,
    una: u64,
    next: u64,
}

impl Acknowledged {
    #[inline(always)]
    fn of(ack: &AckEvent) -> Self {
        Self { acked: ack.acked, una: ack.una, next: ack.next }
    }
}

/// The window of a DCTCP flow.
#[derive(Clone, Debug)]
pub struct Dctcp<B = NewReno> {
    reno: B,
    g: f64,
    alpha: f64,
    /// Exponent of alpha in a reduction: D2TCP's d, 1 for DCTCP.
    urgency: f64,
    /// Floor after a reduction, in segments.
    min_window: u32,
    acked_bytes: u64,
    marked_bytes: u64,
    /// End of the window of data over which marks are counted (`DCTCP.WindowEnd`).
    window_end: u64,
    /// Bytes before this were sent before the last reduction.
    reduced_until: u64,
    reduction: Reduction,
    /// Boxed because few flows are in a reduction at the same time.
    reducing: Option<Box<Reducing>>,
}

impl<B: LossBased> Dctcp<B> {
    /// Returns the estimated fraction of marked bytes, in [0, 1].
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    #[inline(always)]
    fn count(&mut self, ack: &AckEvent) {
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

    /// Returns the exponent of alpha in a reduction.
    pub(super) fn urgency(&self) -> f64 {
        self.urgency
    }

    /// Sets the exponent of alpha in a reduction.
    pub(super) fn set_urgency(&mut self, urgency: f64) {
        self.urgency = urgency;
    }

    // By value, as `reduce`: a reference would make the sender write an event that most ACKs do not need.
    #[inline(never)]
    fn cut(&mut self, ack: Acknowledged) {
        let penalty = if self.urgency == 1.0 { self.alpha } else { libm::pow(self.alpha, self.urgency) };
        let kept = (self.reno.window() as f64 * (1.0 - penalty * self.reno.loss_cut())) as u64;
        self.reno.reduce_to(kept.max(u64::from(self.min_window) * self.reno.mss()));
        self.reduced_until = ack.next;
        let times = match self.reduction {
            Reduction::AtOnce => return,
            Reduction::Proportional => 1,
            Reduction::Ns3 => 2,
        };
        let flight = ack.next - ack.una;
        self.reducing = Some(Box::new(Reducing { flight, end: ack.next, delivered: 0, window: 0 }));
        for _ in 0..times {
            self.reduce(ack);
        }
    }

    /// Continues a reduction in progress, or ends it.
    #[inline(never)]
    fn reduce(&mut self, ack: Acknowledged) {
        let Some(reducing) = &mut self.reducing else { return };
        if ack.una > reducing.end {
            self.reducing = None;
            return;
        }
        reducing.delivered += ack.acked;
        let (target, pipe) = (self.reno.window(), ack.next - ack.una);
        let sent = ack.next - reducing.end;
        let quota = if pipe > target {
            (reducing.delivered * target).div_ceil(reducing.flight.max(1)).saturating_sub(sent)
        } else {
            reducing.delivered.saturating_sub(sent).max(ack.acked).min(target - pipe)
        };
        let least = if sent > 0 { 0 } else { self.reno.mss() };
        reducing.window = pipe + quota.max(least);
    }
}

impl<B: LossBased> CongestionControl for Dctcp<B> {
    type Config = Config<B::Config>;

    type Telemetry = ();

    const ECN: bool = true;

    fn new(config: &Self::Config, mss: u64) -> Self {
        Self {
            reno: B::new(&config.reno, mss),
            g: config.g,
            alpha: config.alpha_0,
            urgency: 1.0,
            min_window: config.min_window.max(1),
            acked_bytes: 0,
            marked_bytes: 0,
            window_end: 0,
            reduced_until: 0,
            reduction: config.reduction,
            reducing: None,
        }
    }

    #[inline]
    fn window(&self) -> u64 {
        self.reducing.as_ref().map_or_else(|| self.reno.window(), |reducing| reducing.window)
    }

    // Inlined as measured: a call needs all of the event, most of which DCTCP does not read.
    #[inline(always)]
    fn on_ack(&mut self, ack: &AckEvent) {
        self.count(ack);
        if self.reducing.is_some() {
            self.reduce(Acknowledged::of(ack));
            if self.reducing.is_some() {
                return;
            }
        }
        if !ack.marked {
            self.reno.on_ack(ack);
        } else if ack.growth != Growth::Recovering && ack.una > self.reduced_until {
            self.cut(Acknowledged::of(ack));
        }
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        self.reno.on_loss(loss);
        self.reducing = None;
        self.reduced_until = loss.next;
    }

    fn on_timeout(&mut self, loss: &LossEvent, repeat: Repeat) {
        self.reno.on_timeout(loss, repeat);
        self.reducing = None;
        self.reduced_until = loss.next;
    }

    fn on_recovered(&mut self, in_flight: u64) {
        self.reno.on_recovered(in_flight);
    }

    fn restart(&mut self, first_window: u64) {
        self.reno.restart(first_window);
        self.reducing = None;
    }

    fn set_weights(&mut self, theta: Option<Rate>, w_milli: u32) {
        self.reno.set_weights(theta, w_milli);
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        self.reno.inspect(see);
        see("alpha", self.alpha);
    }
}

#[cfg(test)]
mod tests;
