//! Aequitas (SIGCOMM 2022, Algorithm 1): a class is admitted with a probability that misses decrease and windows
//! without misses increase. Flows that are not admitted run at the lowest class.
//!
//! State per source host, destination and class except the lowest, which has no objective: `p = 1`, `t_last = 0`.
//!
//! ```text
//! issue at class i:     u = U[0, 1);  u <= p[i]: run at i;  else: run at the lowest class
//! completion at i:      met  = latency / size < target[i]      (or latency < target[i], per RPC)
//!   met, now - t_last > window[i]:   p = min(p + alpha, 1);  t_last = now
//!   missed:                          p = max(p - min(beta size, most), floor)
//! window[i] = target[i] * 100 / (100 - percentile[i])
//! ```
//!
//! `size` is in MTUs. The update has three forms. [`Update::Prose`] is the one above. In [`Update::Simulator`] a miss
//! also sets `t_last`. In [`Update::Literal`] every completion that meets its target sets it
//! (docs/assumptions.md#aequitas-window).

use rustc_hash::FxHashMap;

use super::AdmissionState;
use super::account::ProbabilityHistory;
use super::active_flow::ActiveFlow;
use super::admission::{Admission, AdmissionPolicy, Source, lowest};
use crate::endpoint::{FlowReport, FlowSpec};
use crate::finding::{Finding, NetworkFacts};
use crate::ids::{Class, FlowId, HostId};
use crate::keys::{KeyConflict, Keys, Words};
use crate::part::Part;
use crate::quantity::about_span;
use crate::rng::Stream;
use crate::units::{Span, Time};

/// Parameters of Aequitas.
#[derive(Clone, Debug, PartialEq, Keys, Part)]
#[keys(group = "aequitas", check = Self::check)]
#[part(
    name = "aequitas",
    summary = "admits with a probability that missed latency targets lower and windows without misses \
               raise; else uses the lowest class",
    source = "Aequitas (SIGCOMM 2022) Algorithm 1",
    findings = Self::findings,
    deploy = [Classes, UserStack],
    example = r#"levels = 3, targets = ["15us", "25us"], percentile = 99.9"#
)]
pub struct Config {
    /// Number of classes.
    #[key(required = "levels = 3", range = "[2, 16]", group = "classes", source = "Firapam §II-A")]
    pub levels: u8,
    /// Increase of the probability per window without a miss.
    #[key(default = 0.01, range = "(0, 1]", source = "Aequitas §6.1")]
    pub alpha: f64,
    /// Decrease of the probability per MTU of a flow that misses.
    #[key(default = 0.01, range = "[0, 1]", source = "Aequitas §6.1")]
    pub beta: f64,
    /// Minimum probability. The paper states none; the default is that of the authors' simulator.
    #[key(default = 0.1, range = "(0, 1]", source = "docs/assumptions.md#aequitas-floor")]
    pub floor: f64,
    /// Maximum decrease per miss, whatever the size of the flow.
    #[key(default = 1.0, range = "(0, 1]", source = "docs/assumptions.md#aequitas-large-flows")]
    pub most: f64,
    /// Target of each class except the lowest, class 0 first.
    #[key(required = "targets = [\"15us\", \"25us\"]", range = "(0, )", source = "Aequitas §5.1")]
    pub targets: Vec<Span>,
    /// Unit of targets: each mtu of a flow, or an rpc.
    #[key(default = Per::Mtu, source = "Aequitas §5.1")]
    pub per: Per,
    /// Percentage of flows that shall meet the target; determines the window.
    #[key(optional, shown = "99.9", unit = "%", range = "[0, 99.9]", source = "Aequitas §5.1")]
    pub percentile: Option<f64>,
    /// Time between increases, instead of percentile.
    #[key(optional, range = "(0, )", source = "Aequitas §5.1")]
    pub window: Option<Span>,
    /// Event that starts a window, besides an increase.
    #[key(default = Update::Prose, source = "docs/assumptions.md#aequitas-window")]
    pub update: Update,
}

impl Config {
    fn check(&mut self) -> Result<(), KeyConflict> {
        if self.targets.len() + 1 != usize::from(self.levels) {
            let what = format!("there are {} targets for {} classes", self.targets.len(), self.levels);
            return Err(KeyConflict::of(
                "targets",
                what,
                "one target for each class except the lowest, class 0 first",
            ));
        }
        match (self.percentile, self.window) {
            (Some(_), Some(_)) => {
                return Err(KeyConflict::of(
                    "window",
                    "both percentile and window are set",
                    "either percentile or window",
                ));
            }
            (None, None) => self.percentile = Some(99.9),
            _ => {}
        }
        Ok(())
    }

    /// A target that no flow of one packet can meet, even without competition, lowers the probability forever.
    fn findings(&self, network: &NetworkFacts<'_>) -> Vec<Finding> {
        let Some(&least) = self.targets.iter().min() else { return Vec::new() };
        let Some((path, _)) = network.worst(|path| least <= path.path.data.round_trip) else {
            return Vec::new();
        };
        let packet = path.path.rate.serialize(u64::from(network.frame.max_wire()));
        let whom = match self.per {
            Per::Rpc => "no flow meets it",
            Per::Mtu if least <= packet => "no flow meets it, whatever its size",
            Per::Mtu => "flows of one packet never meet it",
        };
        let what = format!(
            "a target is {}, but on {} a packet and its reply take {} when nothing waits: {whom}, and the probability \
             of admission falls to its floor",
            about_span(least),
            path.name(),
            about_span(path.path.data.round_trip)
        );
        let fix = format!("targets above {}", about_span(path.path.data.round_trip));
        vec![Finding::warning("targets", what, fix)]
    }

    /// Returns the objective of each class except the lowest.
    fn objectives(&self) -> Vec<Objective> {
        let per_mille = (self.percentile.unwrap_or_default() * 10.0).round() as u32;
        let objective = |&target: &Span| match self.window {
            Some(window) => Objective { target, window },
            None => Objective::at_percentile(target, per_mille),
        };
        self.targets.iter().map(objective).collect()
    }
}

impl AdmissionPolicy for Config {
    fn at_host(&self, source: &Source) -> Option<Box<dyn Admission>> {
        Some(Box::new(Aequitas::new(self.clone(), source.mtu)))
    }

    fn levels(&self) -> Option<u8> {
        Some(self.levels)
    }
}

/// The unit that a target applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Words)]
pub enum Per {
    /// Each MTU of a flow.
    #[default]
    Mtu,
    /// A whole flow, whatever its size.
    Rpc,
}

/// The service-level objective of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Objective {
    /// The target latency, above zero.
    target: Span,
    /// The time between two increases.
    window: Span,
}

impl Objective {
    /// Returns the objective that `per_mille` thousandths of flows, below 1000, meet `target`: the window is long
    /// enough for one miss in each (§5.1).
    fn at_percentile(target: Span, per_mille: u32) -> Self {
        let left = u128::from(1000u32.saturating_sub(per_mille).max(1));
        let window = u128::from(target.0) * 1000 / left;
        Self { target, window: Span(u64::try_from(window).unwrap_or(u64::MAX)) }
    }
}

/// The event that starts a window, besides an increase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Words)]
pub enum Update {
    /// Nothing (§5.1, in words).
    #[default]
    Prose,
    /// A miss (the authors' simulator).
    Simulator,
    /// Every completion that meets its target (Algorithm 1 as printed).
    Literal,
}

/// The probability of one destination and class.
#[derive(Clone, Debug)]
struct Channel {
    p: f64,
    last_increase: Time,
    drift: ProbabilityHistory,
}

impl Channel {
    fn new(watch: Option<Span>) -> Self {
        Self { p: 1.0, last_increase: Time::ZERO, drift: ProbabilityHistory::new(watch) }
    }
}

/// Aequitas at one source host.
#[derive(Debug)]
pub struct Aequitas {
    config: Config,
    /// Payload bytes per MTU, at least 1.
    mtu: u64,
    /// Objective by class; the lowest class has none.
    objectives: Vec<Objective>,
    channels: FxHashMap<(HostId, Class), Channel>,
    active: FxHashMap<FlowId, ActiveFlow>,
    watch: Option<Span>,
}

impl Aequitas {
    /// Creates the policy with all probabilities at 1; `mtu` is the payload bytes per MTU.
    pub fn new(config: Config, mtu: u32) -> Self {
        Self {
            objectives: config.objectives(),
            config,
            mtu: u64::from(mtu.max(1)),
            channels: FxHashMap::default(),
            active: FxHashMap::default(),
            watch: None,
        }
    }

    /// Returns the admit probability of flows to `dst` that request `class`.
    pub(crate) fn admit_probability(&self, dst: HostId, class: Class) -> f64 {
        self.channels.get(&(dst, class)).map_or(1.0, |channel| channel.p)
    }

    fn update(&mut self, key: (HostId, Class), done: CompletedFlow) {
        let Config { alpha, beta, floor, most, per, update, .. } = self.config;
        let Some(&Objective { target, window }) = self.objectives.get(usize::from(key.1)) else {
            return;
        };
        let mtus = done.bytes.div_ceil(self.mtu).max(1);
        let allowed = match per {
            Per::Mtu => target.times(mtus),
            Per::Rpc => target,
        };
        let watch = self.watch;
        let channel = self.channels.entry(key).or_insert_with(|| Channel::new(watch));
        if done.latency < allowed {
            let due = done.now.since(channel.last_increase) > window;
            if due {
                channel.p = (channel.p + alpha).min(1.0);
            }
            if due || update == Update::Literal {
                channel.last_increase = done.now;
            }
        } else {
            channel.p = (channel.p - (beta * mtus as f64).min(most)).max(floor);
            if update == Update::Simulator {
                channel.last_increase = done.now;
            }
        }
        channel.drift.updated(channel.p, done.now);
    }
}

/// A completed flow.
#[derive(Clone, Copy, Debug)]
struct CompletedFlow {
    now: Time,
    bytes: u64,
    latency: Span,
}

impl Admission for Aequitas {
    fn open(&mut self, flow: &FlowSpec, _now: Time, rng: &mut Stream) -> Class {
        let lowest = lowest(self.config.levels);
        let draw = rng.uniform();
        let mut active = ActiveFlow::new(flow, flow.class.min(lowest), draw);
        if active.asked != lowest && draw > self.admit_probability(active.dst, active.asked) {
            active.given = lowest;
        }
        self.active.insert(flow.id, active);
        active.given
    }

    fn completed(&mut self, report: &FlowReport, now: Time) {
        let Some(active) = self.active.remove(&report.flow) else { return };
        if active.given != lowest(self.config.levels) {
            let done = CompletedFlow { now, bytes: report.bytes, latency: report.elapsed };
            self.update((active.dst, active.given), done);
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
        AdmissionState { keys, ..AdmissionState::default() }
    }
}

#[cfg(test)]
pub(super) mod tests;
