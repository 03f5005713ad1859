//! Firapam (Algorithm 1, Eqs. 15-19): probabilities above 1 upgrade and below 1 downgrade flows to the adjacent class.
//! They follow the gradient of a utility of the urgency of completed flows.
//!
//! State per source host, destination and class i: `p[i] = 1`; u_last = x_last = 0, or no last sample ([`First`]). Per
//! class: the longest deadline of recent flows.
//!
//! ```text
//! issue, requests i:  0 < p[i] <= 1:  r = U[0, 1);  r <= p[i]:      run at i;  else at the next lower  (i if lowest)
//!                     1 < p[i] <  2:  r = U[0, 1);  r <= 2 - p[i]:  run at i;  else at the next higher (i if highest)
//! completion at i:    g by the mode;  p[i] = max(min(p[i] + a g, b_up), b_low)
//!
//! B size, d_o time from start to deadline, d completion time, l fraction of retransmitted bytes; Gbit, s, Gbit/s
//! u = D^t - b D (d_o - d) - c D l                         D = B / d_o                            Eqs. 15, 16
//! u = B^t - b B (B / d - B_max / d_max) - c B l           without deadline                       Eq. 19
//! literal:   g = (u - u_last) / (x - x_last)              x = B / d                              Eq. 17, line 30
//! analytic:  g = t lambda^(t-1) - b (d_o - d) - c l       |a g| <= step,  lambda = B / d         Eqs. 20, 21
//!            g = t B^(t-1) - b (B / d - B_max / d_max) - c l
//! ```
//!
//! A monitor interval is a round trip, a time, or the whole flow ([`Interval`]). At the end of one that is shorter than the
//! flow, the rest of the running flow is one more sample: B is the bytes left, d_o the time left, d the time they take at
//! the flow's rate. With
//! [`Remap::PerInterval`] the flow then gets the class that its draw at issue yields under the current probability.
//! Upgrades are delayed at the sender until the flow has no packet in flight (docs/assumptions.md#firapam-remap).
//!
//! The paper is silent or contradicts itself in fifteen places: docs/assumptions.md#firapam-demand to
//! docs/assumptions.md#firapam-headline.

mod max_deadline;
mod utility;

use rustc_hash::FxHashMap;

use utility::Observation;
pub use utility::{Constants, ReferenceFlow, Terms};

use max_deadline::MaxDeadlineWindow;

use super::account::{AdmissionState, LogHistogram, ProbabilityHistory};
use super::active_flow::{ActiveFlow, loss};
use super::admission::{Admission, AdmissionPolicy, Source, lowest};
use super::monitor::{Interval, Monitoring, Remap};
use crate::endpoint::{FlowReport, FlowSpec};
use crate::ids::{Class, FlowId, HostId};
use crate::keys::{KeyConflict, Keys, Words};
use crate::part::Part;
use crate::rng::Stream;
use crate::units::{Span, Time};

/// Parameters of Firapam.
#[derive(Clone, Copy, Debug, PartialEq, Keys, Part)]
#[keys(group = "firapam", check = Self::check)]
#[part(
    name = "firapam",
    summary = "admission probabilities follow the gradient of a utility of rate, slack and loss; flows move \
               to an adjacent class",
    source = "Firapam Algorithm 1, Eqs. 15-19",
    deploy = [Classes, Deadlines, UserStack],
    example = r#"levels = 3, mode = "analytic""#
)]
pub struct Config {
    /// Number of classes.
    #[key(required = "levels = 3", range = "[2, 16]", group = "classes", source = "Firapam §II-A")]
    pub levels: u8,
    /// Method for the gradient: literal (Algorithm 1) or analytic (derivative, bounded steps).
    #[key(default = GradientMode::Analytic, source = "docs/assumptions.md#firapam-gradient")]
    pub mode: GradientMode,
    /// The sample before the first of a destination and class: zero (no utility at no rate), or none, so that the first
    /// sample changes nothing; literal only.
    #[key(
        optional,
        shown = "zero",
        source = "Firapam Algorithm 1, which starts p alone; docs/assumptions.md#firapam-first"
    )]
    pub first: Option<First>,
    /// Constants of the utility.
    #[keys(flatten)]
    pub utility: Constants,
    /// Step size: 0.05, literal 25.
    #[key(
        default = mode.step_size(),
        shown = "depends on mode",
        range = "[0, )",
        source = "Firapam §V; docs/assumptions.md#firapam-step"
    )]
    pub a: f64,
    /// Maximum change of a probability per update; analytic only.
    #[key(optional, shown = "0.1", range = "(0, 2]", source = "docs/assumptions.md#firapam-step")]
    pub step: Option<f64>,
    /// Minimum probability.
    #[key(default = 0.1, range = "(0, 1]", source = "docs/assumptions.md#firapam-bounds")]
    pub b_low: f64,
    /// Maximum probability; at 2 no flow would keep its class.
    #[key(default = 1.1, range = "[1, 2)", source = "docs/assumptions.md#firapam-bounds")]
    pub b_up: f64,
    /// The times at which probabilities are updated, and whether running flows are remapped.
    #[keys(flatten)]
    pub monitoring: Monitoring,
}

impl Config {
    fn check(&mut self) -> Result<(), KeyConflict> {
        match (self.mode, self.first) {
            (GradientMode::Analytic, Some(_)) => {
                let what = "the analytic mode has no difference quotient";
                return Err(KeyConflict::of("first", what, "mode = \"literal\", or remove first"));
            }
            (GradientMode::Literal, None) => self.first = Some(First::Zero),
            _ => {}
        }
        match (self.mode, self.step) {
            (GradientMode::Literal, Some(_)) => {
                let what = "the literal mode has no bound on steps";
                return Err(KeyConflict::of("step", what, "mode = \"analytic\", or remove step"));
            }
            (GradientMode::Analytic, None) => self.step = Some(0.1),
            _ => {}
        }
        Ok(())
    }
}

impl AdmissionPolicy for Config {
    fn at_host(&self, _: &Source) -> Option<Box<dyn Admission>> {
        Some(Box::new(Firapam::new(*self)))
    }

    fn levels(&self) -> Option<u8> {
        Some(self.levels)
    }

    fn interval(&self) -> Interval {
        self.monitoring.mi
    }

    fn without_deadlines(&self) -> Option<&'static str> {
        Some(
            "no flow has a deadline: Eq. 19 compares flows without a deadline with the longest deadline of \
             their class, so the probabilities could not adapt",
        )
    }

    fn with_some_deadlines(&self) -> Option<&'static str> {
        Some(
            "Eq. 19 compares flows without a deadline with the longest deadline of the last 1000 flows of \
             their class; if none of these had a deadline, the probabilities do not change",
        )
    }
}

/// The way in which the gradient is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum GradientMode {
    /// The derivative of the utility at fixed slack, with bounded steps.
    Analytic,
    /// The difference quotient of successive samples of a key, as in Algorithm 1.
    Literal,
}

/// The sample of a destination and class that its first one is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum First {
    /// u_last = x_last = 0: the first quotient is the utility over the rate.
    Zero,
    /// There is none: the first sample has no quotient.
    None,
}

impl GradientMode {
    /// Returns the default step size a. The modes differ in scale.
    fn step_size(self) -> f64 {
        match self {
            Self::Analytic => 0.05,
            Self::Literal => 25.0,
        }
    }
}

/// Relative difference of two abscissas below which there is no difference quotient.
const SAME: f64 = 1e-6;

/// The probability of one destination and class.
#[derive(Clone, Debug)]
struct Channel {
    p: f64,
    /// Abscissa and utility of the previous sample.
    last: Option<(f64, f64)>,
    drift: ProbabilityHistory,
}

impl Channel {
    fn new(watch: Option<Span>, first: Option<First>) -> Self {
        let last = (first == Some(First::Zero)).then_some((0.0, 0.0));
        Self { p: 1.0, last, drift: ProbabilityHistory::new(watch) }
    }

    /// Returns the difference quotient with the previous sample and stores `(x, u)` as the previous one; `None` if
    /// there is no quotient.
    fn quotient(&mut self, (x, u): (f64, f64)) -> Option<f64> {
        let (x_last, u_last) = self.last.replace((x, u))?;
        let apart = (x - x_last).abs() > SAME * x.abs().max(x_last.abs());
        apart.then(|| (u - u_last) / (x - x_last))
    }
}

/// Firapam at one source host.
#[derive(Debug)]
pub struct Firapam {
    config: Config,
    channels: FxHashMap<(HostId, Class), Channel>,
    max_deadlines: Vec<MaxDeadlineWindow>,
    active: FxHashMap<FlowId, ActiveFlow>,
    magnitudes: [LogHistogram; 3],
    skipped: u64,
    watch: Option<Span>,
}

impl Firapam {
    /// Creates the policy with all probabilities at 1.
    pub fn new(config: Config) -> Self {
        Self {
            max_deadlines: vec![MaxDeadlineWindow::default(); usize::from(config.levels)],
            config,
            channels: FxHashMap::default(),
            active: FxHashMap::default(),
            magnitudes: Default::default(),
            skipped: 0,
            watch: None,
        }
    }

    /// Returns the admit probability of flows to `dst` that request `class`.
    pub(crate) fn admit_probability(&self, dst: HostId, class: Class) -> f64 {
        self.channels.get(&(dst, class)).map_or(1.0, |channel| channel.p)
    }

    /// Returns the class of a flow with this draw.
    fn map(&self, active: &ActiveFlow) -> Class {
        let p = self.admit_probability(active.dst, active.asked);
        mapped(active.asked, lowest(self.config.levels), (p, active.draw))
    }

    /// Returns the channel of the class at which a flow runs.
    fn channel(&mut self, active: &ActiveFlow) -> &mut Channel {
        let (watch, first) = (self.watch, self.config.first);
        self.channels.entry((active.dst, active.given)).or_insert_with(|| Channel::new(watch, first))
    }

    /// Updates the probability of the class at which a flow runs, from an observation of the flow or of its rest.
    fn learn(&mut self, active: &ActiveFlow, (seen, now): (Option<Observation>, Time)) {
        let signal = seen.and_then(|seen| self.signal(active, &seen));
        let Some((g, terms)) = signal else {
            self.skipped += 1;
            return;
        };
        std::iter::zip(&mut self.magnitudes, terms.each()).for_each(|(all, one)| all.add(one));
        let Config { b_low, b_up, a, step, .. } = self.config;
        let Some(g) = g.filter(|g| g.is_finite()) else {
            self.skipped += 1;
            return;
        };
        let most = step.unwrap_or(f64::INFINITY);
        let change = (a * g).clamp(-most, most);
        let channel = self.channel(active);
        channel.p = (channel.p + change).min(b_up).max(b_low);
        channel.drift.updated(channel.p, now);
    }

    /// Returns the gradient, if there is one, and the terms of the gradient or the utility; `None` if the observation
    /// has no utility.
    fn signal(&mut self, active: &ActiveFlow, seen: &Observation) -> Option<(Option<f64>, Terms)> {
        let rival = self.max_deadlines.get(usize::from(active.given)).and_then(MaxDeadlineWindow::get);
        let constants = self.config.utility;
        match self.config.mode {
            GradientMode::Literal => {
                let terms = constants.utility(seen, rival)?;
                Some((self.channel(active).quotient((seen.rate(), terms.sum())), terms))
            }
            GradientMode::Analytic => {
                let terms = constants.gradient(seen, rival)?;
                Some((Some(terms.sum()), terms))
            }
        }
    }
}

/// Algorithm 1, lines 9-24: returns the class of a flow that requests `asked`, with admit probability `p` and draw
/// `r`.
fn mapped(asked: Class, lowest: Class, (p, r): (f64, f64)) -> Class {
    if p <= 1.0 {
        if r <= p { asked } else { (asked + 1).min(lowest) }
    } else if r <= 2.0 - p {
        asked
    } else {
        asked.saturating_sub(1)
    }
}

/// Returns the observation of a completed flow.
fn whole(active: &ActiveFlow, report: &FlowReport) -> Option<Observation> {
    Observation::new(
        active.size?,
        (active.allowance(), active.deadline.is_some()),
        report.elapsed,
        loss(report),
    )
}

/// Returns the observation of the rest of a running flow at `now`.
fn rest(active: &ActiveFlow, report: &FlowReport, now: Time) -> Option<Observation> {
    active.size?;
    let left = active.deadline.map(|deadline| deadline.since(now)).filter(|&span| span > Span::ZERO);
    let bits = u128::from(report.remaining) * 8 * u128::from(crate::units::PS_PER_S);
    let takes = bits.checked_div(u128::from(report.rate_bps))?;
    let takes = Span(u64::try_from(takes).ok()?);
    Observation::new(report.remaining, (left, active.deadline.is_some()), takes, loss(report))
}

impl Admission for Firapam {
    fn open(&mut self, flow: &FlowSpec, _now: Time, rng: &mut Stream) -> Class {
        let asked = flow.class.min(lowest(self.config.levels));
        let mut active = ActiveFlow::new(flow, asked, rng.uniform());
        active.given = self.map(&active);
        self.active.insert(flow.id, active);
        active.given
    }

    fn report(&mut self, report: &FlowReport, now: Time) -> Option<Class> {
        if self.config.monitoring.mi == Interval::Rpc {
            return None;
        }
        let mut active = *self.active.get(&report.flow)?;
        self.learn(&active, (rest(&active, report, now), now));
        if self.config.monitoring.remap == Remap::AtIssue {
            return None;
        }
        let given = self.map(&active);
        let moved = (given != active.given).then_some(given);
        active.given = given;
        self.active.insert(report.flow, active);
        moved
    }

    fn completed(&mut self, report: &FlowReport, now: Time) {
        let Some(active) = self.active.remove(&report.flow) else { return };
        self.learn(&active, (whole(&active, report), now));
        if let Some(max_deadlines) = self.max_deadlines.get_mut(usize::from(active.given)) {
            max_deadlines.completed(active.size.zip(active.allowance()));
        }
    }

    fn aborted(&mut self, flow: FlowId) {
        self.active.remove(&flow);
    }

    fn watch(&mut self, every: Span) {
        self.watch = Some(every);
    }

    fn account(&self) -> AdmissionState {
        let mut keys: Vec<_> = self.channels.iter().map(|(&key, c)| c.drift.key(key, c.p)).collect();
        keys.sort_by_key(|key| (key.dst, key.class));
        let terms = std::iter::zip(Terms::NAMES, self.magnitudes.clone()).collect();
        AdmissionState { keys, terms, skipped: self.skipped }
    }
}

#[cfg(test)]
pub(super) mod tests;
