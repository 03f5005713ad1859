//! Reasons to distrust a metric although it has an interval: completion times that are waits for a retransmission timer,
//! values of what happened to finish, networks that are offered more than they carry, and percentiles of few flows.
//!
//! A claim is flagged if one of its metrics is, at one of its points, over all its seeds:
//!
//! | flag | rule |
//! |---|---|
//! | timeouts | flows that timed out hold more than 10 % of the sum of completion times; for a percentile from the 99th on, they are at least half of the flows from the 99th percentile on |
//! | unfinished | the metric leaves out more than 1 % of the flows, coflows or deadlines of its class, as the run ended before |
//! | saturated | more flows arrive than the network can carry (`saturation`) |
//! | few flows | a run has, on average, fewer than 10 flows for a mean or a median, 100 for a 95th, 500 for a 99th and 5,000 for a 99.9th percentile, and their number differs between seeds |
//!
//! A claim that is undecided for one of these reasons has no flag of it. The rules are our choice:
//! docs/assumptions.md#flags.

use serde::Serialize;

use super::decision::UndecidedReason;
use super::grid::Grid;
use super::saturation::{self, Saturation};
use super::scheme_class::SchemeClass;
use super::steady;
use super::unfit::Unsteady;
use crate::metrics::coverage::{Coverage, LeftOut, MOST_LEFT_OUT};
use crate::metrics::metric::Metric;
use crate::metrics::path::MetricPath;
use priolane_results::record::RunRecord;
use priolane_results::summary::Summary;

/// A reason to distrust a metric of a claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Flag {
    /// The kind of the flag.
    pub kind: FlagKind,
    /// Scheme whose flows it is about.
    pub scheme: String,
    /// Class of these flows.
    pub class: String,
    /// The number that is too large or too small: a part of all, or flows a run.
    pub measured: f64,
    /// The largest or the least value without the flag.
    pub limit: f64,
    /// The metric and the numbers, as a clause.
    pub says: String,
}

/// The kind of a flag on a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FlagKind {
    /// It shows a retransmission timeout more than the scheme.
    Timeouts,
    /// It leaves out flows, coflows or deadlines, as the run ended before.
    Unfinished,
    /// It grows with the simulated time, as more flows arrive than the network can carry.
    Saturated,
    /// It rests on few flows.
    FewFlows,
}

/// Largest part of the sum of completion times that flows with a timeout may hold.
pub(super) const MOST_OF_SUM: f64 = 0.1;

/// Least part of the flows from the 99th percentile on with a timeout at which timeouts determine the tail.
pub(super) const MOST_OF_TAIL: f64 = 0.5;

/// Fewest flows of a run for a mean or a median: five on each side of it.
const FEWEST: f64 = 10.0;

/// Returns the flags of a metric at a point, over all seeds.
pub(super) fn of_metric(grid: &Grid, path: &MetricPath, point: usize) -> Vec<Flag> {
    let measure = &path.measure;
    let metric = measure.metric;
    let undecided = match steady::unsteady(grid, path, point) {
        Some(UndecidedReason::Unsteady(reason)) => Some(reason),
        _ => None,
    };
    let grows =
        metric.is_of_completion_times() || matches!(metric.coverage, Coverage::Deadlines | Coverage::Coflows);
    let (mut flags, mut saturated) = (Vec::new(), None);
    for scheme in grid.schemes_of(path) {
        let records = grid.records_at(point, scheme);
        let place = SchemeClass { scheme, class: &measure.class };
        if metric.is_of_completion_times() {
            let of_class = |record: &&'_ RunRecord| record.summary.get(&measure.class).copied();
            let summaries: Vec<Summary> = records.iter().filter_map(of_class).collect();
            flags.extend(
                timeouts(metric, &summaries, place).into_iter().chain(few(metric, &summaries, place)),
            );
        }
        if !undecided.as_ref().is_some_and(Unsteady::is_of_unfinished) {
            let left_out = records.iter().map(|record| metric.coverage.left_out(record, &measure.class));
            flags.extend(unfinished(metric.coverage, left_out.sum(), place));
        }
        if grows && undecided.is_none() {
            let of_point =
                || saturation::of_point(grid, &measure.class, point).filter(|_| !records.is_empty());
            let found = || of_point().or_else(|| saturation::of_runs(&records, place));
            let flag = |found: Saturation| {
                place.flag(FlagKind::Saturated, (found.measured, found.limit), found.says)
            };
            saturated = saturated.or_else(|| found().map(flag));
        }
    }
    flags.extend(saturated);
    flags
}

impl SchemeClass<'_> {
    fn flag(self, kind: FlagKind, (measured, limit): (f64, f64), says: String) -> Flag {
        Flag { kind, scheme: self.scheme.to_owned(), class: self.class.to_owned(), measured, limit, says }
    }
}

/// Flags waits for a retransmission timer.
fn timeouts(metric: &Metric, summaries: &[Summary], of: SchemeClass<'_>) -> Option<Flag> {
    let Pooled { of_sum, of_tail, .. } = Pooled::of(&summaries.iter().collect::<Vec<_>>());
    let percent = |part: f64| format!("{:.0} %", 100.0 * part);
    let (numbers, says) = match metric.percentile() {
        Some(percentile) if percentile >= 99.0 && of_tail >= MOST_OF_TAIL => (
            (of_tail, MOST_OF_TAIL),
            format!("{} of the slowest flows of {of} had a timeout", percent(of_tail)),
        ),
        None if of_sum > MOST_OF_SUM => {
            let says =
                format!("flows of {of} that timed out hold {} of its completion times", percent(of_sum));
            ((of_sum, MOST_OF_SUM), says)
        }
        _ => return None,
    };
    Some(of.flag(FlagKind::Timeouts, numbers, says))
}

/// Flags a metric that leaves out too much.
fn unfinished(coverage: Coverage, left_out: LeftOut, of: SchemeClass<'_>) -> Option<Flag> {
    let says = coverage.says(left_out, &of.to_string());
    (left_out.part() > MOST_LEFT_OUT)
        .then(|| of.flag(FlagKind::Unfinished, (left_out.part(), MOST_LEFT_OUT), says))
}

/// Flags a metric of few flows.
fn few(metric: &Metric, summaries: &[Summary], of: SchemeClass<'_>) -> Option<Flag> {
    let needed = FEWEST * 50.0 / (100.0 - metric.percentile().unwrap_or(50.0)).min(50.0);
    let flows: u64 = summaries.iter().map(|summary| summary.flows).sum();
    let per_run = flows as f64 / summaries.len().max(1) as f64;
    // Runs that all have as many flows by design are not thinned out by chance.
    let drawn = summaries.windows(2).any(|pair| pair[0].flows != pair[1].flows);
    let says = || format!("{of} has {per_run:.0} flows a run, and {needed:.0} would be needed");
    (drawn && per_run < needed).then(|| of.flag(FlagKind::FewFlows, (per_run, needed), says()))
}

/// Counts of one class over several runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Pooled {
    pub flows: u64,
    /// Completion times of flows that timed out, over the sum of all.
    pub of_sum: f64,
    /// Flows that timed out, over all from the 99th percentile of each run on, mean over runs.
    pub of_tail: f64,
}

impl Pooled {
    pub(super) fn of(summaries: &[&Summary]) -> Self {
        let finished = |summary: &Summary| summary.flows.saturating_sub(summary.unfinished) as f64;
        let sum = |summary: &Summary| finished(summary) * summary.mean_fct_s.unwrap_or_default();
        let all: f64 = summaries.iter().map(|summary| sum(summary)).sum();
        let late: f64 = summaries.iter().map(|s| sum(s) * s.timed_out_fct_share.unwrap_or_default()).sum();
        let tails: Vec<f64> = summaries.iter().filter_map(|summary| summary.tail_timed_out).collect();
        Self {
            flows: summaries.iter().map(|summary| summary.flows).sum(),
            of_sum: if all > 0.0 { late / all } else { 0.0 },
            of_tail: if tails.is_empty() { 0.0 } else { tails.iter().sum::<f64>() / tails.len() as f64 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::coverage::MeansFrom;

    fn summary(flows: u64, share: f64, tail: f64) -> Summary {
        Summary {
            flows,
            mean_fct_s: Some(0.01),
            timed_out_fct_share: Some(share),
            tail_timed_out: Some(tail),
            ..Summary::default()
        }
    }

    fn kinds(metric: &str, summaries: &[Summary]) -> Vec<FlagKind> {
        let metric = Metric::named(metric).unwrap();
        let of = SchemeClass { scheme: "pias", class: "small" };
        let completed = |summary: &Summary| metric.coverage.of_flows(summary, MeansFrom::CompletedFlows);
        let left_out = unfinished(metric.coverage, summaries.iter().map(completed).sum(), of);
        let all = [timeouts(metric, summaries, of), left_out, few(metric, summaries, of)];
        all.into_iter().flatten().map(|flag| flag.kind).collect()
    }

    #[test]
    fn a_mean_is_flagged_by_the_sum_that_timeouts_hold_and_a_tail_by_its_flows() {
        // Of 3,000 flows with equal means, 2,000 have 0.14 and 1,000 have 0.01 in flows that timed out: 0.0967.
        let below = [summary(2_000, 0.14, 0.6), summary(1_000, 0.01, 0.3)];
        assert_eq!((kinds("fct", &below), kinds("slowdown_p99", &below)), (vec![], vec![]));
        let above = [summary(2_000, 0.15, 0.6), summary(1_000, 0.02, 0.4)];
        assert_eq!(kinds("gain", &above), [FlagKind::Timeouts]);
        assert_eq!(kinds("fct_p99", &above), [FlagKind::Timeouts]);
        assert_eq!(kinds("fct_p50", &above), []);
    }

    #[test]
    fn flows_that_do_not_finish_and_few_flows_are_flagged() {
        let left = Summary { unfinished: 21, ..summary(2_000, 0.0, 0.0) };
        assert_eq!(kinds("fct", &[left]), [FlagKind::Unfinished]);
        assert_eq!(kinds("fct", &[Summary { unfinished: 20, ..left }]), []);
        // The median of 9.5 flows a run, and the 99th percentile of 499.5: 10 and 500 would be needed.
        assert_eq!(kinds("fct_p50", &[summary(9, 0.0, 0.0), summary(10, 0.0, 0.0)]), [FlagKind::FewFlows]);
        assert_eq!(kinds("fct_p99", &[summary(499, 0.0, 0.0), summary(500, 0.0, 0.0)]), [FlagKind::FewFlows]);
        assert_eq!(kinds("fct_p99", &[summary(500, 0.0, 0.0), summary(501, 0.0, 0.0)]), []);
        // Three flows by design.
        assert_eq!(kinds("fct", &[summary(3, 0.0, 0.0), summary(3, 0.0, 0.0)]), []);
    }
}
