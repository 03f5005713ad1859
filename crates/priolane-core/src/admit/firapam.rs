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
//! A monitor interval ends with the flow ([`Interval::Rpc`]); or also every round-trip time, with the flow seen as what
//! is left of it: B the bytes left, d_o the time left, d the time they take at the flow's rate. With [`Remap::PerInterval`]
//! the flow then gets the class that its own draw at issue gives it under the probability of now; upgrades wait in the
//! sender until nothing of the flow is on its way (docs/assumptions.md#firapam-remap).
//!
//! The paper is silent or contradicts itself in fourteen places: docs/assumptions.md#firapam-demand to
//! docs/assumptions.md#firapam-headline.

mod longest;
mod utility;

use rustc_hash::FxHashMap;

pub use utility::{Constants, Observation, Rival, Terms};

use longest::Longest;

use super::account::{Account, Drift, Magnitudes};
use super::admission::{Admission, Remap, lowest};
use super::live::{Live, loss};
use crate::endpoint::{FlowReport, FlowSpec};
use crate::ids::{Class, FlowId, HostId};
use crate::rng::Stream;
use crate::units::{Span, Time};

/// Parameters of Firapam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Number of classes, 1 to 16.
    pub levels: u8,
    /// Constants of the utility.
    pub utility: Constants,
    /// How the gradient is found, and how far it moves a probability.
    pub mode: Mode,
    /// The least probability, above 0, at most 1. Default 0.1 (docs/assumptions.md#firapam-bounds).
    pub b_low: f64,
    /// The largest probability, at least 1, below 2. Default 1.9.
    pub b_up: f64,
    /// When probabilities are updated.
    pub interval: Interval,
    /// Whether flows under way are given classes anew; only where intervals are shorter than flows.
    pub remap: Remap,
}

/// How the gradient is found, and how far it moves a probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mode {
    /// The difference quotient of successive samples of a key, as Algorithm 1 has it.
    Literal {
        /// The step size a, at least 0. Default 25 (§V).
        a: f64,
    },
    /// The derivative of the utility at fixed slack, with bounded steps.
    Analytic {
        /// The step size a, at least 0. Default 0.05.
        a: f64,
        /// The most that one update moves a probability, above 0. Default 0.1.
        step: f64,
    },
}

/// What a monitor interval is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Interval {
    /// A flow, from start to last acknowledgement.
    #[default]
    Rpc,
    /// The transport's monitor interval; at its end a flow counts once more, as a whole.
    Monitor,
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
    longest: Vec<Longest>,
    live: FxHashMap<FlowId, Live>,
    magnitudes: [Magnitudes; 3],
    skipped: u64,
    watch: Option<Span>,
}

impl Firapam {
    /// With every probability at 1.
    pub fn new(config: Config) -> Self {
        Self {
            longest: vec![Longest::default(); usize::from(config.levels)],
            config,
            channels: FxHashMap::default(),
            live: FxHashMap::default(),
            magnitudes: Default::default(),
            skipped: 0,
            watch: None,
        }
    }

    /// The admit probability of flows to `dst` that ask for `class`.
    pub fn admit_probability(&self, dst: HostId, class: Class) -> f64 {
        self.channels.get(&(dst, class)).map_or(1.0, |channel| channel.p)
    }

    /// The class that a flow with this draw gets.
    fn map(&self, live: &Live) -> Class {
        let p = self.admit_probability(live.dst, live.asked);
        mapped(live.asked, lowest(self.config.levels), (p, live.draw))
    }

    /// That of the class that a flow runs at.
    fn channel(&mut self, live: &Live) -> &mut Channel {
        let watch = self.watch;
        self.channels.entry((live.dst, live.given)).or_insert_with(|| Channel::new(watch))
    }

    /// What was seen of a flow, or of the rest of one, updates the probability of the class it runs at.
    fn learn(&mut self, live: &Live, (seen, now): (Option<Observation>, Time)) {
        let signal = seen.and_then(|seen| self.signal(live, &seen));
        let Some((g, terms)) = signal else {
            self.skipped += 1;
            return;
        };
        std::iter::zip(&mut self.magnitudes, terms.each()).for_each(|(all, one)| all.add(one));
        let Config { b_low, b_up, mode, .. } = self.config;
        let Some(g) = g.filter(|g| g.is_finite()) else {
            self.skipped += 1;
            return;
        };
        let step = match mode {
            Mode::Literal { a } => a * g,
            Mode::Analytic { a, step } => (a * g).clamp(-step, step),
        };
        let channel = self.channel(live);
        channel.p = (channel.p + step).min(b_up).max(b_low);
        channel.drift.updated(channel.p, now);
    }

    /// The gradient, where there is one, and the terms that it, or the utility, is made of; `None` where the
    /// observation makes no utility.
    fn signal(&mut self, live: &Live, seen: &Observation) -> Option<(Option<f64>, Terms)> {
        let rival = self.longest.get(usize::from(live.given)).and_then(Longest::get);
        let constants = self.config.utility;
        match self.config.mode {
            Mode::Literal { .. } => {
                let terms = constants.utility(seen, rival)?;
                Some((self.channel(live).quotient((seen.rate(), terms.sum())), terms))
            }
            Mode::Analytic { .. } => {
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
fn whole(live: &Live, report: &FlowReport) -> Option<Observation> {
    Observation::new(live.size?, (live.allowance(), live.deadline.is_some()), report.elapsed, loss(report))
}

/// What a sender reports of a flow under way, seen as what is left of it at `now`.
fn rest(live: &Live, report: &FlowReport, now: Time) -> Option<Observation> {
    live.size?;
    let left = live.deadline.map(|deadline| deadline.since(now)).filter(|&span| span > Span::ZERO);
    let bits = u128::from(report.remaining) * 8 * u128::from(crate::units::PS_PER_S);
    let takes = bits.checked_div(u128::from(report.rate_bps))?;
    let takes = Span(u64::try_from(takes).ok()?);
    Observation::new(report.remaining, (left, live.deadline.is_some()), takes, loss(report))
}

impl Admission for Firapam {
    fn open(&mut self, flow: &FlowSpec, _now: Time, dice: &mut Stream) -> Class {
        let asked = flow.class.min(lowest(self.config.levels));
        let mut live = Live::new(flow, asked, dice.uniform());
        live.given = self.map(&live);
        self.live.insert(flow.id, live);
        live.given
    }

    fn report(&mut self, report: &FlowReport, now: Time) -> Option<Class> {
        if self.config.interval == Interval::Rpc {
            return None;
        }
        let mut live = *self.live.get(&report.flow)?;
        self.learn(&live, (rest(&live, report, now), now));
        if self.config.remap == Remap::AtIssue {
            return None;
        }
        let given = self.map(&live);
        let moved = (given != live.given).then_some(given);
        live.given = given;
        self.live.insert(report.flow, live);
        moved
    }

    fn completed(&mut self, report: &FlowReport, now: Time) {
        let Some(live) = self.live.remove(&report.flow) else { return };
        self.learn(&live, (whole(&live, report), now));
        if let Some(longest) = self.longest.get_mut(usize::from(live.given)) {
            longest.completed(live.size.zip(live.allowance()));
        }
    }

    fn aborted(&mut self, flow: FlowId) {
        self.live.remove(&flow);
    }

    fn watch(&mut self, every: Span) {
        self.watch = Some(every);
    }

    fn account(&self) -> Account {
        let mut keys: Vec<_> = self.channels.iter().map(|(&key, c)| c.drift.key(key, c.p)).collect();
        keys.sort_by_key(|key| (key.dst, key.class));
        let terms = std::iter::zip(Terms::NAMES, self.magnitudes.clone()).collect();
        Account { keys, terms, skipped: self.skipped }
    }
}

#[cfg(test)]
pub(super) mod tests;
