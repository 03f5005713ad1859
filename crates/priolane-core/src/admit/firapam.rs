//! Firapam (Algorithm 1, Eqs. 15-19): probabilities above 1 upgrade, below 1 downgrade, each to the adjacent class, and
//! follow the gradient of a utility that says how urgent the flows of a class turned out to be.
//!
//! Per source host, destination and class i: `p[i] = 1`, no last sample. Per class: the longest deadline of late.
//!
//! ```text
//! issue, asked for i:   0 < p[i] <= 1:  r = U[0, 1);  r <= p[i]:      run at i;  else at the next lower  (i if lowest)
//!                       1 < p[i] <  2:  r = U[0, 1);  r <= 2 - p[i]:  run at i;  else at the next higher (i if highest)
//! completion at i:      g by the mode;  p[i] = max(min(p[i] + a g, b_up), b_low)
//!
//! B size, d_o time from start to deadline, d time it took, l fraction of bytes sent again; Gbit, s, Gbit/s
//! u = D^t - b D (d_o - d) - c D l                         D = B / d_o                            Eqs. 15, 16
//! u = B^t - b B (B / d - B_max / d_max) - c B l           without deadline                       Eq. 19
//! literal:   g = (u - u_last) / (x - x_last)              x = B / d                              Eq. 17, line 30
//! analytic:  g = t lambda^(t-1) - b (d_o - d) - c l       |a g| <= step,  lambda = B / d         Eqs. 20, 21
//!            g = t B^(t-1) - b (B / d - B_max / d_max) - c l
//! ```
//!
//! A monitor interval ends with the flow ([`Interval::Rpc`]); or also every so often, with the flow seen as what
//! is left of it: B the bytes left, d_o the time left, d the time they take at the flow's rate. With [`Remap::PerInterval`]
//! the flow then gets the class that its own draw at issue gives it under the probability of now; upgrades wait in the
//! sender until nothing of the flow is on its way (docs/assumptions.md#firapam-remap).
//!
//! The paper is silent or contradicts itself in fourteen places: docs/assumptions.md#firapam-demand to
//! docs/assumptions.md#firapam-headline.

mod max_deadline;
mod utility;

use rustc_hash::FxHashMap;

use utility::Observation;
pub use utility::{Constants, Rival, Terms};

use max_deadline::MaxDeadlineWindow;

use super::account::{AdmissionState, Drift, LogHistogram};
use super::active_flow::{ActiveFlow, loss};
use super::admission::{Admission, AdmissionPolicy, Source, lowest};
use super::monitor::{Interval, Monitoring, Remap};
use crate::endpoint::{FlowReport, FlowSpec};
use crate::ids::{Class, FlowId, HostId};
use crate::keys::{Keys, Misfit, Words};
use crate::part::Part;
use crate::rng::Stream;
use crate::units::{Span, Time};

/// Parameters of Firapam.
#[derive(Clone, Copy, Debug, PartialEq, Keys, Part)]
#[keys(group = "firapam", check = Self::check)]
#[part(
    name = "firapam",
    summary = "probabilities follow the gradient of a utility of rate, slack and loss; up or down to the adjacent class",
    source = "Firapam Algorithm 1, Eqs. 15-19"
)]
pub struct Config {
    /// Number of classes.
    #[key(required = "levels = 3", range = "[2, 16]", group = "classes", source = "Firapam §II-A")]
    pub levels: u8,
    /// How the gradient is found: literal (Algorithm 1) or analytic (derivative, bounded steps).
    #[key(default = Mode::Analytic, source = "docs/assumptions.md#firapam-gradient")]
    pub mode: Mode,
    /// Constants of the utility.
    #[keys(flatten)]
    pub utility: Constants,
    /// Step size: 0.05, literal 25.
    #[key(
        default = mode.step_size(),
        shown = "by mode",
        range = "[0, )",
        source = "Firapam §V; docs/assumptions.md#firapam-step"
    )]
    pub a: f64,
    /// The most that an update moves a probability; analytic only.
    #[key(optional, shown = "0.1", range = "(0, 2]", source = "docs/assumptions.md#firapam-step")]
    pub step: Option<f64>,
    /// The least probability.
    #[key(default = 0.1, range = "(0, 1]", source = "docs/assumptions.md#firapam-bounds")]
    pub b_low: f64,
    /// The largest probability; at 2 no flow would keep its class.
    #[key(default = 1.1, range = "[1, 2)", source = "docs/assumptions.md#firapam-bounds")]
    pub b_up: f64,
    /// When probabilities are updated, and whether flows under way are mapped again.
    #[keys(flatten)]
    pub monitoring: Monitoring,
}

impl Config {
    fn check(&mut self) -> Result<(), Misfit> {
        match (self.mode, self.step) {
            (Mode::Literal, Some(_)) => {
                let what = "steps of the literal mode are not bounded";
                return Err(Misfit::of("step", what, "mode = \"analytic\", or no step"));
            }
            (Mode::Analytic, None) => self.step = Some(0.1),
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
            "no flow has a deadline: Eq. 19, which is for those without, compares them with the longest \
             deadline of their class, so that nothing could be learnt",
        )
    }

    fn with_some_deadlines(&self) -> Option<&'static str> {
        Some(
            "flows without a deadline are judged by Eq. 19, against the longest deadline of the last 1000 flows of their \
             class; where those had none, they teach nothing",
        )
    }
}

/// How the gradient is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum Mode {
    /// The derivative of the utility at fixed slack, with bounded steps.
    Analytic,
    /// The difference quotient of successive samples of a key, as Algorithm 1 has it.
    Literal,
}

impl Mode {
    /// The default step size a. The two differ in scale.
    fn step_size(self) -> f64 {
        match self {
            Self::Analytic => 0.05,
            Self::Literal => 25.0,
        }
    }
}

/// Two abscissas closer than this, relative to the larger, make no difference quotient.
const SAME: f64 = 1e-6;

/// The probability of one destination and class.
#[derive(Clone, Debug)]
struct Channel {
    p: f64,
    /// Abscissa and utility of the sample before.
    last: Option<(f64, f64)>,
    drift: Drift,
}

impl Channel {
    fn new(watch: Option<Span>) -> Self {
        Self { p: 1.0, last: None, drift: Drift::new(watch) }
    }

    /// The difference quotient with the sample before, which `(x, u)` becomes; `None` where there is none.
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
    /// With every probability at 1.
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

    /// The admit probability of flows to `dst` that ask for `class`.
    pub(crate) fn admit_probability(&self, dst: HostId, class: Class) -> f64 {
        self.channels.get(&(dst, class)).map_or(1.0, |channel| channel.p)
    }

    /// The class that a flow with this draw gets.
    fn map(&self, active: &ActiveFlow) -> Class {
        let p = self.admit_probability(active.dst, active.asked);
        mapped(active.asked, lowest(self.config.levels), (p, active.draw))
    }

    /// That of the class that a flow runs at.
    fn channel(&mut self, active: &ActiveFlow) -> &mut Channel {
        let watch = self.watch;
        self.channels.entry((active.dst, active.given)).or_insert_with(|| Channel::new(watch))
    }

    /// What was seen of a flow, or of the rest of one, updates the probability of the class it runs at.
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

    /// The gradient, where there is one, and the terms that it, or the utility, is made of; `None` where the
    /// observation makes no utility.
    fn signal(&mut self, active: &ActiveFlow, seen: &Observation) -> Option<(Option<f64>, Terms)> {
        let rival = self.max_deadlines.get(usize::from(active.given)).and_then(MaxDeadlineWindow::get);
        let constants = self.config.utility;
        match self.config.mode {
            Mode::Literal => {
                let terms = constants.utility(seen, rival)?;
                Some((self.channel(active).quotient((seen.rate(), terms.sum())), terms))
            }
            Mode::Analytic => {
                let terms = constants.gradient(seen, rival)?;
                Some((Some(terms.sum()), terms))
            }
        }
    }
}

/// Algorithm 1, lines 9-24: the class of a flow that asks for `asked`, with admit probability `p` and draw `r`.
fn mapped(asked: Class, lowest: Class, (p, r): (f64, f64)) -> Class {
    if p <= 1.0 {
        if r <= p { asked } else { (asked + 1).min(lowest) }
    } else if r <= 2.0 - p {
        asked
    } else {
        asked.saturating_sub(1)
    }
}

/// What a sender reports of a whole flow.
fn whole(active: &ActiveFlow, report: &FlowReport) -> Option<Observation> {
    Observation::new(
        active.size?,
        (active.allowance(), active.deadline.is_some()),
        report.elapsed,
        loss(report),
    )
}

/// What a sender reports of a flow under way, seen as what is left of it at `now`.
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
