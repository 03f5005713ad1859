//! D2TCP: DCTCP whose reductions depend on the deadline (SIGCOMM 2012).
//!
//! ```text
//! Tc   = B RTT / (3/4 W)       time to send the B bytes left at the current window
//! d    = clamp(Tc / D, 1/2, 2) D is the time left until the deadline; d = 1 without a deadline
//! mark W = W (1 - alpha^d / 2), at most once per window
//! ```
//!
//! D2TCP wraps DCTCP, which does everything else; flows without deadlines behave exactly as in DCTCP. Points
//! on which the implementations disagree: docs/assumptions.md#d2tcp-late.

use super::ControllerParams;
use super::dctcp::{self, Dctcp};
use super::new_reno::NewReno;
use super::window::{AckEvent, CongestionControl, FlowStart, LossEvent, Repeat};
use crate::finding::{Finding, NetworkFacts};
use crate::keys::Keys;
use crate::part::Part;
use crate::units::Time;

/// Parameters of D2TCP.
#[derive(Clone, Copy, PartialEq, Debug, Keys, Part)]
#[keys(group = "d2tcp")]
#[part(
    name = "d2tcp",
    summary = "DCTCP with window reductions that depend on the deadline",
    source = "D2TCP (SIGCOMM 2012)",
    requires = [CongestionMarks],
    provides = [Ranks],
    findings = Self::findings,
    deploy = [Deadlines, Ecn, CongestionModule]
)]
pub struct Config {
    /// DCTCP's parameters, unchanged.
    #[keys(flatten)]
    pub dctcp: dctcp::Config,
    /// The urgency d of a flow whose deadline has passed.
    #[key(default = 0.5, range = "[0.5, 2]", source = "docs/assumptions.md#d2tcp-late")]
    pub late: f64,
}

impl Config {
    fn findings(&self, network: &NetworkFacts<'_>) -> Vec<Finding> {
        self.dctcp.findings(network)
    }
}

impl ControllerParams for Config {
    fn start_with(&mut self, bytes: u64, mss: u64) {
        self.dctcp.start_with(bytes, mss);
    }
}

/// The bounds of the urgency d.
const LEAST: f64 = 0.5;
const MOST: f64 = 2.0;

/// The window of a D2TCP flow.
#[derive(Clone, Debug)]
pub struct D2tcp {
    dctcp: Dctcp<NewReno>,
    late: f64,
    /// Sequence number of the flow's end, and its deadline; `None` for flows without a deadline or an end.
    due: Option<(u64, Time)>,
}

impl D2tcp {
    /// Returns the urgency d: below 1 the flow reduces more than DCTCP would, above 1 less.
    pub fn urgency(&self) -> f64 {
        self.dctcp.urgency()
    }

    fn urgency_at(&self, ack: &AckEvent) -> f64 {
        let Some((size, deadline)) = self.due else { return 1.0 };
        if ack.now >= deadline {
            return self.late;
        }
        let left = size.saturating_sub(ack.una) as f64;
        let needed = left * ack.srtt.0 as f64 / (0.75 * self.dctcp.window() as f64);
        (needed / deadline.since(ack.now).0 as f64).clamp(LEAST, MOST)
    }
}

impl CongestionControl for D2tcp {
    type Config = Config;

    type Telemetry = ();

    const ECN: bool = true;

    fn new(config: &Config, mss: u64) -> Self {
        Self { dctcp: Dctcp::new(&config.dctcp, mss), late: config.late, due: None }
    }

    fn open(&mut self, opening: &mut FlowStart<'_>) {
        self.due = opening.flow.size.zip(opening.flow.deadline);
    }

    #[inline]
    fn window(&self) -> u64 {
        self.dctcp.window()
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        if ack.marked {
            let urgency = self.urgency_at(ack);
            self.dctcp.set_urgency(urgency);
        }
        self.dctcp.on_ack(ack);
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        self.dctcp.on_loss(loss);
    }

    fn on_timeout(&mut self, loss: &LossEvent, repeat: Repeat) {
        self.dctcp.on_timeout(loss, repeat);
    }

    fn on_recovered(&mut self, in_flight: u64) {
        self.dctcp.on_recovered(in_flight);
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        self.dctcp.inspect(see);
        see("urgency", self.dctcp.urgency());
    }
}

#[cfg(test)]
mod tests;
