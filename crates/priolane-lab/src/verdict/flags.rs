//! Reasons to distrust a metric although it has an interval: completion times that are waits for a retransmission timer,
//! means over the flows that happened to finish, and percentiles of few flows.
//!
//! A claim on completion times is flagged if one of its metrics is, at one of its points, over all its seeds:
//!
//! | flag | rule |
//! |---|---|
//! | timeouts | flows that timed out hold more than 10 % of the sum of completion times; for a percentile from the 99th on, they are at least half of the flows from the 99th percentile on |
//! | unfinished | more than 1 % of the flows did not finish, and are in no mean and no percentile |
//! | few flows | a run has, on average, fewer than 10 flows for a mean or a median, 100 for a 95th, 500 for a 99th and 5,000 for a 99.9th percentile, and their number differs between seeds |
//!
//! The rules are our choice: docs/assumptions.md#flags.

use serde::Serialize;

use super::grid::Grid;
use crate::metrics::metric::Metric;
use crate::metrics::path::MetricPath;
use priolane_results::summary::Summary;

/// A reason to distrust a metric of a claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Flag {
    /// What is wrong.
    pub kind: FlagKind,
    /// The metric and the numbers, as a clause.
    pub says: String,
}

/// What is wrong with a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FlagKind {
    /// It shows a retransmission timeout more than the scheme.
    Timeouts,
    /// It leaves out flows that did not finish.
    Unfinished,
    /// It rests on few flows.
    FewFlows,
}

/// Largest part of the sum of completion times that flows with a timeout may hold.
pub(super) const MOST_OF_SUM: f64 = 0.1;

/// Least part of the flows from the 99th percentile on with a timeout at which timeouts determine the tail.
pub(super) const MOST_OF_TAIL: f64 = 0.5;

/// Largest part of the flows that may be unfinished.
pub(super) const MOST_UNFINISHED: f64 = 0.01;

/// Fewest flows of a run for a mean or a median: five on each side of it.
const FEWEST: f64 = 10.0;

/// Returns the flags of a metric at a point, over all seeds.
pub(super) fn of_metric(grid: &Grid, path: &MetricPath, point: usize) -> Vec<Flag> {
    let measure = &path.measure;
    if !measure.metric.is_of_completion_times() {
        return Vec::new();
    }
    let mut flags = Vec::new();
    for scheme in grid.schemes_of(path) {
        let records = grid.records_at(point, scheme);
        let summaries: Vec<&Summary> =
            records.iter().filter_map(|record| record.summary.get(&measure.class)).collect();
        let of = format!("class `{}` of `{scheme}`", measure.class);
        flags.extend(of_class(measure.metric, &summaries, &of));
    }
    flags
}

fn of_class(metric: &Metric, summaries: &[&Summary], of: &str) -> Vec<Flag> {
    let Pooled { flows, unfinished, of_sum, of_tail, runs } = Pooled::of(summaries);
    let mut flags = Vec::new();
    let mut flag = |kind, says| flags.push(Flag { kind, says });
    let percent = |part: f64| format!("{:.0} %", 100.0 * part);
    if metric.percentile().is_some_and(|percentile| percentile >= 99.0) {
        if of_tail >= MOST_OF_TAIL {
            let says = format!("{} of the slowest flows of {of} had a timeout", percent(of_tail));
            flag(FlagKind::Timeouts, says);
        }
    } else if metric.percentile().is_none() && of_sum > MOST_OF_SUM {
        let says = format!("flows of {of} that timed out hold {} of its completion times", percent(of_sum));
        flag(FlagKind::Timeouts, says);
    }
    if unfinished as f64 > MOST_UNFINISHED * flows as f64 {
        let says = format!("{unfinished} of {flows} flows of {of} did not finish and are left out");
        flag(FlagKind::Unfinished, says);
    }
    let needed = FEWEST * 50.0 / (100.0 - metric.percentile().unwrap_or(50.0)).min(50.0);
    let per_run = flows as f64 / runs.max(1) as f64;
    // Runs that all have as many flows by design are not thinned out by chance.
    let drawn = summaries.windows(2).any(|pair| pair[0].flows != pair[1].flows);
    if drawn && per_run < needed {
        let says = format!("{of} has {per_run:.0} flows a run, and {needed:.0} would be needed");
        flag(FlagKind::FewFlows, says);
    }
    flags
}

/// Counts of one class over several runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Pooled {
    pub flows: u64,
    pub unfinished: u64,
    /// Completion times of flows that timed out, over the sum of all.
    pub of_sum: f64,
    /// Flows that timed out, over all from the 99th percentile of each run on, mean over runs.
    pub of_tail: f64,
    pub runs: usize,
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
            unfinished: summaries.iter().map(|summary| summary.unfinished).sum(),
            of_sum: if all > 0.0 { late / all } else { 0.0 },
            of_tail: if tails.is_empty() { 0.0 } else { tails.iter().sum::<f64>() / tails.len() as f64 },
            runs: summaries.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let all: Vec<&Summary> = summaries.iter().collect();
        of_class(metric, &all, "class `small` of `pias`").iter().map(|flag| flag.kind).collect()
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
