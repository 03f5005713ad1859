//! Targets and windows of Swift that do not go together with the empty path.

use super::{Config, Law};
use crate::finding::{Finding, NetworkFacts, PathFacts, Severity};
use crate::quantity::{about_bytes, about_span, show_span};
use crate::units::Span;

/// Least fraction of the rate of an empty path that a lone flow should keep.
const KEPT: f64 = 0.5;

/// A path as Swift sees it when nothing waits.
struct EmptyPath {
    /// The delay that the controller compares with its target, in picoseconds.
    delay: f64,
    law: Law,
    bdp: f64,
}

impl EmptyPath {
    fn of(config: &Config, path: &PathFacts, network: &NetworkFacts<'_>) -> Self {
        let mss = u64::from(network.frame.mss());
        let delay = config.signal.base(&path.path.data);
        Self { delay, law: Law::new(config, mss, &path.path), bdp: path.path.bdp() as f64 }
    }

    /// The target for the smallest window: the highest of all.
    fn highest_target(&self) -> f64 {
        self.law.target + self.law.range
    }

    /// The window, in bytes, at which the target is the delay of the empty path. The window decreases above it although
    /// nothing waits; infinite if the delay is below every target.
    fn resting_window(&self) -> f64 {
        let over = self.delay - self.law.target;
        if over < 0.0 {
            return f64::INFINITY;
        }
        let root = self.law.fa / (over - self.law.fb);
        if over >= self.law.range { 0.0 } else { root * root }
    }
}

impl Config {
    /// Returns which of its settings do not go together on a network.
    pub(super) fn findings(&self, network: &NetworkFacts<'_>) -> Vec<Finding> {
        let delay = idle(self, network).or_else(|| slow(self, network)).or_else(|| deep(self, network));
        [used_up(self, network), delay, ceiling(self, network)].into_iter().flatten().collect()
    }
}

/// A step by class that leaves the lowest class no target above zero.
fn used_up(config: &Config, network: &NetworkFacts<'_>) -> Option<Finding> {
    let below = u64::from(network.classes.saturating_sub(1));
    if config.class_step.times(below) < config.target {
        return None;
    }
    let what = format!(
        "a step of {} for each of {below} lower classes leaves nothing of the target of {}",
        show_span(config.class_step),
        show_span(config.target)
    );
    Some(Finding::new(Severity::Error, "class_step", what, "a smaller step, or a higher target"))
}

/// A target below the delay of the empty path at any window: the window falls to its floor.
fn idle(config: &Config, network: &NetworkFacts<'_>) -> Option<Finding> {
    let seen = |path: &PathFacts| EmptyPath::of(config, path, network);
    let below = |path: &PathFacts| {
        let empty = seen(path);
        empty.delay >= empty.highest_target() && empty.law.min < KEPT * empty.bdp
    };
    let (path, severity) = network.worst(below)?;
    let empty = seen(path);
    let what = format!(
        "the delay target is at most {}, but on {} the delay is {} when nothing waits: the window falls to its floor \
         of {} on an idle network",
        about_span(Span(empty.highest_target() as u64)),
        path.name(),
        about_span(Span(empty.delay as u64)),
        about_bytes(empty.law.min as u64)
    );
    Some(Finding::new(severity, "target", what, remedy(&empty)))
}

/// A target that a lone flow meets only with a window far below the bandwidth-delay product.
fn slow(config: &Config, network: &NetworkFacts<'_>) -> Option<Finding> {
    let seen = |path: &PathFacts| EmptyPath::of(config, path, network);
    let (path, _) = network.worst(|path| {
        let empty = seen(path);
        empty.resting_window().max(empty.law.min) < KEPT * empty.bdp
    })?;
    let empty = seen(path);
    let what = format!(
        "the delay target is {} without flow scaling, but on {} the delay is {} when nothing waits: a lone flow rests \
         at {:.2} % of the rate",
        about_span(Span(empty.law.target as u64)),
        path.name(),
        about_span(Span(empty.delay as u64)),
        100.0 * empty.resting_window().max(empty.law.min) / empty.bdp
    );
    Some(Finding::warning("target", what, remedy(&empty)))
}

/// A target that no queue of the path can reach: only losses limit the window.
fn deep(config: &Config, network: &NetworkFacts<'_>) -> Option<Finding> {
    let full = |path: &PathFacts| {
        let wait = path.full_queue(&network.frame).filter(|_| network.lossless.is_none())?;
        Some(EmptyPath::of(config, path, network).delay + wait.0 as f64)
    };
    let target = |path: &PathFacts| EmptyPath::of(config, path, network).law.target;
    let (path, _) = network.worst(|path| full(path).is_some_and(|full| target(path) >= full))?;
    let what = format!(
        "the delay target is {}, but on {} the delay is {} when the queue is full: packets are lost before the window \
         decreases",
        about_span(Span(target(path) as u64)),
        path.name(),
        about_span(Span(full(path)? as u64))
    );
    Some(Finding::warning("target", what, "a lower target, or a larger buffer"))
}

/// A ceiling of the window below the bandwidth-delay product.
fn ceiling(config: &Config, network: &NetworkFacts<'_>) -> Option<Finding> {
    let seen = |path: &PathFacts| EmptyPath::of(config, path, network);
    let (path, _) = network.worst(|path| seen(path).law.max < seen(path).bdp)?;
    let empty = seen(path);
    let what = format!(
        "a window of at most {} is below the {} that fill {}: a flow alone uses {:.0} % of the rate",
        about_bytes(empty.law.max as u64),
        about_bytes(empty.bdp as u64),
        path.name(),
        100.0 * empty.law.max / empty.bdp
    );
    Some(Finding::warning("max_cwnd", what, "max_cwnd = \"2bdp\""))
}

fn remedy(empty: &EmptyPath) -> String {
    format!("target_from = \"base\", or a target above {}", about_span(Span(empty.delay as u64)))
}
