//! Aequitas (SIGCOMM 2022, Algorithm 1): a class is admitted with a probability that misses lower and windows without
//! misses raise; who is not admitted runs at the lowest class.
//!
//! Per source host, destination and class, but the lowest, which has no objective: `p = 1`, `t_last = 0`.
//!
//! ```text
//! issue at class i:     u = U[0, 1);  u <= p[i]: run at i;  else: run at the lowest class
//! completion at i:      met  = latency / size < target[i]      (or latency < target[i], per RPC)
//!   met, now - t_last > window[i]:   p = min(p + alpha, 1);  t_last = now
//!   missed:                          p = max(p - min(beta size, most), floor)
//! window[i] = target[i] * 100 / (100 - percentile[i])
//! ```
//!
//! `size` is in MTUs. The update has three forms: [`Update::Prose`] is the above; in [`Update::Simulator`] a miss sets
//! `t_last` too; in [`Update::Literal`] every completion that met sets it
//! (docs/assumptions.md#aequitas-window).

use rustc_hash::FxHashMap;

use super::Account;
use super::account::Drift;
use super::admission::{Admission, lowest};
use super::live::Live;
use crate::endpoint::{FlowReport, FlowSpec};
use crate::ids::{Class, FlowId, HostId};
use crate::rng::Stream;
use crate::units::{Span, Time};

/// Parameters of Aequitas.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Number of classes, 1 to 16.
    pub levels: u8,
    /// What a window without a miss adds, above 0. Default 0.01 (§6.1).
    pub alpha: f64,
    /// What a miss takes, per MTU, at least 0. Default 0.01 (§6.1).
    pub beta: f64,
    /// The least probability, above 0, at most 1. Default 0.1 (the authors' simulator; the paper prints none).
    pub floor: f64,
    /// The most that one miss takes, whatever its size, above 0. Default 1: all
    /// (docs/assumptions.md#aequitas-large-flows).
    pub most: f64,
    /// Payload bytes of an MTU, above 0.
    pub mtu: u32,
    /// What targets count.
    pub per: Per,
    /// The objective of each class but the lowest, class 0 first.
    pub objectives: Vec<Objective>,
    /// When a window begins.
    pub update: Update,
}

/// What a target is a time of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Per {
    /// Of each MTU of a flow.
    #[default]
    Mtu,
    /// Of a flow, whatever its size.
    Rpc,
}

/// What flows of a class are to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Objective {
    /// The time, above zero.
    pub target: Span,
    /// The time between two increases.
    pub window: Span,
}

impl Objective {
    /// The objective that `per_mille` thousandths of flows, below 1000, keep `target`: windows are long enough for one
    /// miss in each (§5.1).
    pub fn at_percentile(target: Span, per_mille: u32) -> Self {
        let left = u128::from(1000u32.saturating_sub(per_mille).max(1));
        let window = u128::from(target.0) * 1000 / left;
        Self { target, window: Span(u64::try_from(window).unwrap_or(u64::MAX)) }
    }
}

/// What else than an increase begins a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Update {
    /// Nothing (§5.1, in words).
    #[default]
    Prose,
    /// A miss (the authors' simulator).
    Simulator,
    /// Every completion that met its target (Algorithm 1 as printed).
    Literal,
}

/// The probability of one destination and class.
#[derive(Clone, Debug)]
struct Channel {
    p: f64,
    last_increase: Time,
    drift: Drift,
}

impl Channel {
    fn new(watch: Option<Span>) -> Self {
        Self { p: 1.0, last_increase: Time::ZERO, drift: Drift::new(watch) }
    }
}

/// Aequitas at one source host.
#[derive(Debug)]
pub struct Aequitas {
    config: Config,
    channels: FxHashMap<(HostId, Class), Channel>,
    live: FxHashMap<FlowId, Live>,
    watch: Option<Span>,
}

impl Aequitas {
    /// With every probability at 1.
    pub fn new(config: Config) -> Self {
        Self { config, channels: FxHashMap::default(), live: FxHashMap::default(), watch: None }
    }

    /// The admit probability of flows to `dst` that ask for `class`.
    pub fn admit_probability(&self, dst: HostId, class: Class) -> f64 {
        self.channels.get(&(dst, class)).map_or(1.0, |channel| channel.p)
    }

    fn update(&mut self, key: (HostId, Class), done: Done) {
        let Config { alpha, beta, floor, most, per, update, .. } = self.config;
        let Some(&Objective { target, window }) = self.config.objectives.get(usize::from(key.1)) else {
            return;
        };
        let mtus = done.bytes.div_ceil(u64::from(self.config.mtu.max(1))).max(1);
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

/// A completion.
#[derive(Clone, Copy, Debug)]
struct Done {
    now: Time,
    bytes: u64,
    latency: Span,
}

impl Admission for Aequitas {
    fn open(&mut self, flow: &FlowSpec, _now: Time, dice: &mut Stream) -> Class {
        let lowest = lowest(self.config.levels);
        let draw = dice.uniform();
        let mut live = Live::new(flow, flow.class.min(lowest), draw);
        if live.asked != lowest && draw > self.admit_probability(live.dst, live.asked) {
            live.given = lowest;
        }
        self.live.insert(flow.id, live);
        live.given
    }

    fn completed(&mut self, report: &FlowReport, now: Time) {
        let Some(live) = self.live.remove(&report.flow) else { return };
        if live.given != lowest(self.config.levels) {
            let done = Done { now, bytes: report.bytes, latency: report.elapsed };
            self.update((live.dst, live.given), done);
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
        Account { keys, ..Account::default() }
    }
}

#[cfg(test)]
pub(super) mod tests;
