//! Checks that a run whose arrivals continue is in a steady state; otherwise no claim about it is decided.
//!
//! ```text
//! direct / Little   of the largest class, over all seeds: 0.85 to 1.15. Above it flows accumulate: those that start in
//!                   the window stay longer than those that are in it. Checked if at most 1 % did not complete.
//! halves            means of the largest class in both halves of the window: at most 10 % apart, or with overlapping
//!                   95 % intervals over seeds
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
use super::flags::MOST_LEFT_OUT;
use super::grid::Grid;
use super::unfit::Unsteady;
use crate::experiment::Experiment;
use crate::metrics::coverage::LeftOut;
use crate::metrics::estimate::{Estimate, Nature};
use crate::metrics::path::MetricPath;
use crate::metrics::{ALL, SizeClass, mean_of};

/// Bounds of the direct mean over that by Little's law.
const DIRECT_OVER_LITTLE: [f64; 2] = [0.85, 1.15];

/// Largest relative distance between the halves of the window.
const APART: f64 = 0.1;

/// Returns why a claim about `path` at `point` is not decided, if arrivals continue and the runs are not in a steady
/// state. `None` if they are, or if none is claimed.
pub(super) fn unsteady(grid: &Grid, path: &MetricPath, point: usize) -> Option<UndecidedReason> {
    let metric = path.measure.metric;
    if !grid.experiment_at(point).is_some_and(Experiment::is_stationary) {
        return None;
    }
    let class = largest(grid.classes());
    let of_scheme = |scheme: &str| {
        let runs = grid.records_at(point, scheme);
        let left_out = || {
            let all = runs.iter().map(|run| metric.coverage.left_out(run, &path.measure.class));
            let part = all.sum::<LeftOut>().part();
            (part > MOST_LEFT_OUT).then_some(Unsteady::LeftOut(metric.coverage, part))
        };
        not_steady(&of_class(&runs, &class)).or_else(left_out).map(UndecidedReason::Unsteady)
    };
    grid.schemes_of(path).find_map(of_scheme)
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
    let class = largest(grid.classes());
    let (steady, stopped): (Vec<&RunRecord>, Vec<&RunRecord>) =
        records.iter().copied().partition(|record| !record.steady.is_empty());
    if steady.is_empty() {
        let of =
            |name: &str| stopped.iter().filter_map(|record| record.summary.get(name)).collect::<Vec<_>>();
        let flows: u64 = of(ALL).iter().map(|all| all.flows).sum();
        let parts: Vec<f64> = of(&class).iter().filter_map(|own| own.after_stop).collect();
        let part = mean_of(&parts)?;
        let says = format!(
            "of {flows} flows from an empty network: {:.0} % of the time of `{class}` passes after arrivals stopped",
            part * 100.0
        );
        return Some(Ok(says));
    }
    let mut faults: BTreeMap<String, Unsteady> = BTreeMap::new();
    let stationary = |&point: &usize| grid.experiment_at(point).is_some_and(Experiment::is_stationary);
    for point in (0..grid.points.len()).filter(stationary) {
        for scheme in &grid.schemes {
            let fault = not_steady(&of_class(&grid.records_at(point, scheme), &class));
            if let Some(fault) = fault {
                faults.entry(scheme.clone()).or_insert(fault);
            }
        }
    }
    let texts: Vec<String> = faults.iter().map(|(scheme, fault)| format!("{scheme}: {fault}")).collect();
    Some(match texts.is_empty() {
        true => {
            Ok(format!("`{class}` of all schemes takes as long directly as by Little's law, in both halves"))
        }
        false => Err(texts.join("; ")),
    })
}

/// Returns the name of the class with the largest lower bound of sizes; `all` without one.
fn largest(classes: &[SizeClass]) -> String {
    let usual = SizeClass::usual();
    let classes = if classes.is_empty() { usual.as_slice() } else { classes };
    let least = |class: &&SizeClass| class.above.or(class.from);
    let largest = classes.iter().filter(|class| least(class).is_some()).max_by_key(least);
    largest.map_or(ALL, |class| class.name.as_str()).to_owned()
}

/// Returns the part of the flows that did not complete, over all runs.
fn unfinished(runs: &[ClassRun]) -> Option<f64> {
    let flows: u64 = runs.iter().map(|run| run.summary.flows).sum();
    let late: u64 = runs.iter().map(|run| run.summary.unfinished).sum();
    (flows > 0).then(|| late as f64 / flows as f64)
}

/// Returns how the runs of a scheme miss their steady state, by the flows of the largest class.
fn not_steady(runs: &[ClassRun]) -> Option<Unsteady> {
    let [low, high] = DIRECT_OVER_LITTLE;
    match direct_over_little(runs) {
        Some(ratio) if !(low..=high).contains(&ratio) => Some(Unsteady::DirectOverLittle(ratio)),
        _ => halves(runs).map(Unsteady::Halves),
    }
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

/// Returns the mean of the second halves over that of the first ones if they differ.
fn halves(runs: &[ClassRun]) -> Option<f64> {
    let pairs = runs.iter().filter_map(|run| run.steady.halves_fct_s[0].zip(run.steady.halves_fct_s[1]));
    let (first, second): (Vec<f64>, Vec<f64>) = pairs.unzip();
    let [first, second] = [first, second].map(|values| Estimate::of(&values, Nature::Quantity));
    let ratio = second.mean? / first.mean.filter(|&mean| mean > 0.0)?;
    let overlap = match (first.ends(), second.ends()) {
        (Some((low, high)), Some((other_low, other_high))) => low <= other_high && other_low <= high,
        _ => false,
    };
    (ratio.max(1.0 / ratio) > 1.0 + APART && !overlap).then_some(ratio)
}

#[cfg(test)]
mod tests;
