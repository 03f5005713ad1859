//! Checks that a run whose arrivals continue is in a steady state; otherwise no claim about it is decided.
//!
//! ```text
//! load              below 1 on the wire of every link
//! classes           `all`, those of the claim, and the largest one that has flows in the window
//! evidence          each of these classes has a direct mean or a mean in both halves of the window
//! unfinished        of each class, at most 1 % of the flows that start in the window did not complete: the run waits for
//!                   them until its limit, unless it ends with the window (`drain = false`)
//! direct / Little   of each class, over all seeds: 0.85 to 1.15. Above it flows accumulate: those that start in the
//!                   window stay longer than those that are in it. Checked if at most 1 % did not complete.
//! halves            means of each class in both halves of the window: at most 10 % apart, or with overlapping
//!                   95 % intervals over seeds
//! under way         with `drain = false`: the flows of each class under way in the last quarter of the window exceed those
//!                   in the first by at most 10 %, or with overlapping intervals
//! left out          of the flows, coflows or deadlines of its class, a metric leaves out at most 1 %: none of flows if it is a
//!                   mean by Little's law
//! ```
//!
//! The largest class reaches its steady state last (docs/assumptions.md#steady-state).

use std::collections::BTreeMap;

use priolane_results::record::RunRecord;
use priolane_results::steady::SteadySummary;
use priolane_results::summary::Summary;

use super::decision::UndecidedReason;
use super::grid::Grid;
use super::saturation;
use super::unfit::{NotSteady, Unsteady};
use crate::experiment::Timing;
use crate::metrics::coverage::LeftOut;
use crate::metrics::coverage::MOST_LEFT_OUT;
use crate::metrics::estimate::{Estimate, Nature};
use crate::metrics::path::MetricPath;
use crate::metrics::{ALL, SizeClass, mean_of};
use crate::plan::may_start_warm;

/// Bounds of the direct mean over that by Little's law.
const DIRECT_OVER_LITTLE: [f64; 2] = [0.85, 1.15];

/// Largest relative distance between the parts of the window.
const APART: f64 = 0.1;

/// Returns why a claim about `path` at `point` is not decided, if arrivals continue and the runs are not in a steady
/// state. `None` if they are, or if none is claimed.
pub(super) fn unsteady(grid: &Grid, path: &MetricPath, point: usize) -> Option<UndecidedReason> {
    let metric = path.measure.metric;
    let claimed = Claimed::at(grid, point)?;
    let of_scheme = |scheme: &str| {
        let runs = grid.records_at(point, scheme);
        let left_out = || {
            let all = runs.iter().map(|run| metric.coverage.left_out(run, &path.measure.class));
            let part = all.sum::<LeftOut>().part();
            (part > MOST_LEFT_OUT).then_some(Unsteady::LeftOut(metric.coverage, part))
        };
        claimed.fault(&runs, &own_classes(grid, path)).or_else(left_out).map(UndecidedReason::Unsteady)
    };
    grid.schemes_of(path).find_map(of_scheme)
}

/// Returns the classes of flows that a metric is about: its own, and the one that its ratio is relative to.
fn own_classes<'a>(grid: &Grid<'a>, path: &'a MetricPath) -> Vec<&'a str> {
    if path.measure.metric.is_of_coflows() {
        // The bounds of a class are those of coflows, not of their flows.
        return Vec::new();
    }
    let own = path.measure.class.as_str();
    let class = grid.classes().iter().find(|class| class.name == own);
    std::iter::once(own).chain(class.and_then(|class| class.over.as_deref())).collect()
}

/// The condition on which runs end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunEnd {
    /// With the last flow of their window, or at their limit.
    WithFlows,
    /// With their window, which cuts flows off.
    WithWindow,
}

/// The steady state that is claimed at a point.
struct Claimed<'a> {
    classes: &'a [SizeClass],
    end: RunEnd,
    /// The largest load of a link on the wire, if it is 1 or more.
    overload: Option<f64>,
    /// Whether the runs could begin with `time.start = "warm_path"`, and do not.
    may_start_warm: bool,
}

impl<'a> Claimed<'a> {
    /// Returns the steady state that is claimed at a point; `None` if arrivals stop, or traffic or network change.
    fn at(grid: &Grid<'a>, point: usize) -> Option<Self> {
        let experiment = grid.experiment_at(point).filter(|experiment| experiment.is_stationary())?;
        experiment.time.steady_window()?;
        let drains = matches!(experiment.time, Timing::Window { drain: true, .. });
        let end = if drains { RunEnd::WithFlows } else { RunEnd::WithWindow };
        let overload = saturation::overload(grid.offers_at(point));
        let may_start_warm =
            may_start_warm(experiment) && grid.offers_at(point).iter().all(|offer| offer.may_draw_path);
        Some(Self { classes: grid.classes(), end, overload, may_start_warm })
    }

    /// Returns how the runs of a scheme miss their steady state, by `all`, the largest class and the classes `own`;
    /// `None` without runs.
    fn fault(&self, runs: &[&RunRecord], own: &[&str]) -> Option<Unsteady> {
        if runs.is_empty() {
            return None;
        }
        let of_class = |class: &str| {
            let how = not_steady(&of_class(runs, class), self.end)?;
            Some(Unsteady::Class { class: class.to_owned(), how, may_start_warm: self.may_start_warm })
        };
        let arrivals = |run: &RunRecord, class: &str| run.steady.get(class).map_or(0, |own| own.arrivals);
        let largest = largest(self.classes, |class| runs.iter().any(|run| arrivals(run, class) > 0));
        let classes = std::iter::once(ALL).chain(own.iter().copied()).chain(largest.as_deref());
        self.overload
            .map(Unsteady::Overload)
            .or_else(|| classes.filter(|class| is_known(runs, class)).find_map(of_class))
    }
}

/// Whether runs tell of the flows of a class. A class may also be a number of a threshold, or a set of ports.
fn is_known(runs: &[&RunRecord], class: &str) -> bool {
    class == ALL || runs.iter().any(|run| run.steady.contains_key(class))
}

/// The flows of a class in a run.
#[derive(Clone, Copy, Debug)]
struct ClassRun {
    summary: Summary,
    steady: SteadySummary,
}

/// Returns the flows of a class in each run.
fn of_class(runs: &[&RunRecord], class: &str) -> Vec<ClassRun> {
    let of = |run: &&RunRecord| {
        Some(ClassRun { summary: *run.summary.get(class)?, steady: *run.steady.get(class)? })
    };
    runs.iter().filter_map(of).collect()
}

/// Returns whether all runs are in a steady state, or that they measure flows from an empty network; an error if they are
/// not where they should be, and `None` if they measure no window.
pub(super) fn check(grid: &Grid, records: &[&RunRecord]) -> Option<Result<String, String>> {
    if records.iter().all(|record| record.steady.is_empty()) {
        return from_empty(grid, records).map(Ok);
    }
    let claimed: Vec<(usize, Claimed)> =
        (0..grid.points.len()).filter_map(|point| Some((point, Claimed::at(grid, point)?))).collect();
    if claimed.is_empty() {
        return Some(Ok("traffic or network change during the runs: no steady state is claimed".to_owned()));
    }
    let mut faults: BTreeMap<String, Unsteady> = BTreeMap::new();
    for (point, claimed) in &claimed {
        for scheme in &grid.schemes {
            if let Some(fault) = claimed.fault(&grid.records_at(*point, scheme), &[]) {
                faults.entry(scheme.clone()).or_insert(fault);
            }
        }
    }
    let texts: Vec<String> = faults.iter().map(|(scheme, fault)| format!("{scheme}: {fault}")).collect();
    Some(match texts.is_empty() {
        true => Ok(
            "all flows and the largest ones take as long directly as by Little's law, in both halves, with \
                    every scheme"
                .to_owned(),
        ),
        false => Err(texts.join("; ")),
    })
}

/// Returns what runs whose arrivals stop measure; `None` if they measure no window.
fn from_empty(grid: &Grid, records: &[&RunRecord]) -> Option<String> {
    let class = by_size(grid.classes()).pop().unwrap_or_else(|| ALL.to_owned());
    let of = |name: &str| records.iter().filter_map(|record| record.summary.get(name)).collect::<Vec<_>>();
    let flows: u64 = of(ALL).iter().map(|all| all.flows).sum();
    let parts: Vec<f64> = of(&class).iter().filter_map(|own| own.after_stop).collect();
    let part = mean_of(&parts)?;
    Some(format!(
        "of {flows} flows from an empty network: {:.0} % of the time of `{class}` passes after arrivals stopped",
        part * 100.0
    ))
}

/// Returns the names of the classes with a lower bound of sizes, by that bound.
fn by_size(classes: &[SizeClass]) -> Vec<String> {
    let usual = SizeClass::usual();
    let classes = if classes.is_empty() { usual.as_slice() } else { classes };
    let least = |class: &&SizeClass| class.above.or(class.from);
    let mut bounded: Vec<&SizeClass> = classes.iter().filter(|class| least(class).is_some()).collect();
    bounded.sort_by_key(least);
    bounded.into_iter().map(|class| class.name.clone()).collect()
}

/// Returns the largest class of which flows start in the window; `None` without a class with a lower bound.
fn largest(classes: &[SizeClass], has_flows: impl Fn(&str) -> bool) -> Option<String> {
    by_size(classes).into_iter().rev().find(|class| has_flows(class))
}

/// Returns the part of the flows that did not complete, over all runs.
fn unfinished(runs: &[ClassRun]) -> Option<f64> {
    let flows: u64 = runs.iter().map(|run| run.summary.flows).sum();
    let late: u64 = runs.iter().map(|run| run.summary.unfinished).sum();
    (flows > 0).then(|| late as f64 / flows as f64)
}

/// Returns how the runs of a scheme miss their steady state, by the flows of a class.
fn not_steady(runs: &[ClassRun], end: RunEnd) -> Option<NotSteady> {
    let [low, high] = DIRECT_OVER_LITTLE;
    let (direct, halves) = (direct_over_little(runs), Change::of_halves(runs));
    if let Some(part) = unfinished(runs).filter(|&part| end == RunEnd::WithFlows && part > MOST_LEFT_OUT) {
        return Some(NotSteady::Unfinished(part));
    }
    if direct.is_none() && halves.is_none() {
        return Some(NotSteady::NoEvidence(runs.iter().map(|run| run.steady.arrivals).sum()));
    }
    if let Some(ratio) = direct.filter(|ratio| !(low..=high).contains(ratio)) {
        return Some(NotSteady::DirectOverLittle(ratio));
    }
    if let Some(halves) = halves.filter(|halves| halves.shows && halves.apart() > 1.0 + APART) {
        return Some(NotSteady::Halves(halves.ratio));
    }
    let grown = |change: &Change| end == RunEnd::WithWindow && change.shows && change.ratio > 1.0 + APART;
    Change::of_quarters(runs).filter(grown).map(|change| NotSteady::UnderWay(change.ratio))
}

/// Returns the direct mean over that by Little's law, over all flows of all runs; `None` if too many did not complete.
fn direct_over_little(runs: &[ClassRun]) -> Option<f64> {
    unfinished(runs).filter(|&part| part <= MOST_LEFT_OUT)?;
    let mean = |of: fn(&ClassRun) -> (Option<f64>, u64)| {
        let (mut sum, mut count) = (0.0, 0);
        for (mean, flows) in runs.iter().map(of) {
            sum += mean.unwrap_or(0.0) * flows as f64;
            count += flows;
        }
        (sum > 0.0).then(|| sum / count as f64)
    };
    let direct = mean(|run| (run.steady.direct_fct_s, run.summary.flows - run.summary.unfinished))?;
    Some(direct / mean(|run| (run.steady.mean_fct_s, run.steady.arrivals))?)
}

/// The change of a value from an early to a late part of the window, over runs.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Change {
    /// The late mean over the early one.
    ratio: f64,
    /// Whether the 95 % intervals over seeds do not overlap, or there are none.
    shows: bool,
}

impl Change {
    /// Returns the change of the mean time from the first to the second half of the window; `None` if no run has flows in
    /// both.
    fn of_halves(runs: &[ClassRun]) -> Option<Self> {
        let halves = |run: &ClassRun| run.steady.halves_fct_s[0].zip(run.steady.halves_fct_s[1]);
        Self::of(runs.iter().filter_map(halves))
    }

    /// Returns the change of the flows under way from the first to the last quarter of the window; `None` if none is.
    fn of_quarters(runs: &[ClassRun]) -> Option<Self> {
        Self::of(runs.iter().map(|run| run.steady.quarters_under_way.into()))
    }

    fn of(pairs: impl Iterator<Item = (f64, f64)>) -> Option<Self> {
        let (early, late): (Vec<f64>, Vec<f64>) = pairs.unzip();
        let [early, late] = [early, late].map(|values| Estimate::of(&values, Nature::Quantity));
        let ratio = late.mean? / early.mean.filter(|&mean| mean > 0.0)?;
        let overlap = match (early.ends(), late.ends()) {
            (Some((low, high)), Some((other_low, other_high))) => low <= other_high && other_low <= high,
            _ => false,
        };
        Some(Self { ratio, shows: !overlap })
    }

    /// Returns the ratio or its inverse, whichever is above 1.
    fn apart(self) -> f64 {
        self.ratio.max(1.0 / self.ratio)
    }
}

#[cfg(test)]
mod tests;
