//! Metrics of coflows: the completion time of a coflow is that of its last flow (see `results::coflows`).
//!
//! The class of a coflow is that which its first flow requests. The bounds of size classes apply to the size of the
//! coflow.

use std::collections::BTreeMap;

use priolane_core::units::PS_PER_S;
use priolane_results::RecordBatch;

use super::coverage::Coverage;
use super::metric::{Context, Metric, Missing, Need, Scale, Scope, Unit, parts};
use super::{Payer, PerMille, SizeClass, mean_of, percentile};
use priolane_results::coflows::CoflowRow;
use priolane_results::column::Row;
use priolane_results::record::RunRecord;
use priolane_results::rows::Table;
use priolane_results::summary::CoflowSummary;

const OF_CLASSES: Metric = Metric { scope: Scope::Classes, ..Metric::OF_FLOWS };

const OF_COFLOWS: Metric = Metric { coverage: Coverage::Coflows, ..OF_CLASSES };

const SECONDS: Metric = Metric { unit: Unit::Seconds, ..OF_COFLOWS };

/// Coflow completion times.
pub(super) const METRICS: &[Metric] = &[
    Metric {
        name: "cct",
        meaning: "Mean coflow completion time: from the first start to the last finish",
        eval: |c| of(c, |own| own.mean_cct_s),
        ..SECONDS
    },
    Metric { name: "cct_p50", meaning: "Median CCT", eval: |c| of(c, |own| own.p50_cct_s), ..SECONDS },
    Metric {
        name: "cct_p95",
        meaning: "95th percentile of CCT",
        eval: |c| of(c, |own| own.p95_cct_s),
        ..SECONDS
    },
    Metric {
        name: "cct_p99",
        meaning: "99th percentile of CCT",
        eval: |c| of(c, |own| own.p99_cct_s),
        ..SECONDS
    },
    Metric {
        name: "cct_gain",
        meaning: "Mean CCT of the baseline over that of the scheme",
        needs: &[Need::Baseline],
        quotient: Some(gain),
        ..OF_COFLOWS
    },
    Metric {
        name: "coflow_speedup",
        meaning: "Mean over coflows of the baseline's CCT over the scheme's",
        needs: &[Need::Baseline],
        eval: speedup,
        ..OF_COFLOWS
    },
    Metric {
        name: "coflows_finished",
        meaning: "Coflows that finished",
        scale: Scale::Events,
        eval: |c| of(c, |own| Some(own.finished() as f64)),
        ..OF_CLASSES
    },
    Metric {
        name: "coflows_finished_gain",
        meaning: "Coflows that finished over those of the baseline",
        needs: &[Need::Baseline],
        quotient: Some(finished_gain),
        ..OF_CLASSES
    },
];

const NONE: Missing = Missing::Point("no value");

fn of(context: &Context, value: fn(&CoflowSummary) -> Option<f64>) -> Result<f64, Missing> {
    context.record.coflows.get(context.class).and_then(value).ok_or(NONE)
}

fn gain(context: &Context) -> Result<(f64, f64), Missing> {
    let [own, baseline] = with_baseline(context, |own| own.mean_cct_s)?;
    parts(baseline, own, NONE)
}

fn finished_gain(context: &Context) -> Result<(f64, f64), Missing> {
    let [own, baseline] = with_baseline(context, |own| Some(own.finished() as f64))?;
    parts(own, baseline, NONE)
}

/// Returns the value of the class in this run and in that of the baseline.
fn with_baseline(
    context: &Context,
    value: fn(&CoflowSummary) -> Option<f64>,
) -> Result<[Option<f64>; 2], Missing> {
    let of = |run: &RunRecord| run.coflows.get(context.class).and_then(value);
    Ok([context.record, context.stored.baseline()?].map(of))
}

fn speedup(context: &Context) -> Result<f64, Missing> {
    let (fast, slow) = (context.record, context.stored.baseline()?);
    if fast.coflows.is_empty() || slow.coflows.is_empty() {
        return Err(NONE);
    }
    let failed = |e: std::io::Error| Missing::Other(format!("run {}: {e}", fast.run));
    let table = |run| context.stored.table(run, Table::Coflows).map_err(failed);
    let (fast, slow) = (table(fast)?, table(slow)?);
    let all = SizeClass::all();
    let class = context.size_class().unwrap_or(&all);
    let (fast, slow) = (rows(&fast).map_err(failed)?, rows(&slow).map_err(failed)?);
    speed_up(&fast, &slow, class).ok_or(NONE)
}

/// Returns the rows of all batches of a table.
fn rows(batches: &[RecordBatch]) -> std::io::Result<Vec<CoflowRow<'_>>> {
    let mut rows = Vec::new();
    for batch in batches {
        rows.extend(CoflowRow::read(batch)?);
    }
    Ok(rows)
}

/// Whether `coflow` counts in `class`: it is measured and meets all criteria of the class.
fn counts(class: &SizeClass, coflow: &CoflowRow) -> bool {
    let payer = Payer::named(coflow.group, coflow.cos);
    coflow.measured
        && class.contains(coflow.bytes, payer)
        && class.holds((coflow.class_asked, coflow.class_given))
}

/// Returns the summaries of `all` and of `classes`; empty if there is no coflow.
pub(crate) fn summarize(coflows: &[CoflowRow], classes: &[SizeClass]) -> BTreeMap<String, CoflowSummary> {
    if coflows.is_empty() {
        return BTreeMap::new();
    }
    let all = SizeClass::all();
    let classes = std::iter::once(&all).chain(classes);
    classes.map(|class| (class.name.clone(), summary(coflows, class))).collect()
}

fn summary(coflows: &[CoflowRow], class: &SizeClass) -> CoflowSummary {
    let own: Vec<&CoflowRow> = coflows.iter().filter(|coflow| counts(class, coflow)).collect();
    let mut times: Vec<u64> = own.iter().filter_map(|coflow| coflow.cct_ps).collect();
    let sum: u128 = times.iter().map(|&ps| u128::from(ps)).sum();
    times.sort_unstable();
    let seconds = |ps: f64| ps / PS_PER_S as f64;
    let at = |p| percentile(&times, PerMille(p)).map(|ps| seconds(ps as f64));
    CoflowSummary {
        coflows: own.len() as u64,
        unfinished: (own.len() - times.len()) as u64,
        mean_cct_s: (!times.is_empty()).then(|| seconds(sum as f64 / times.len() as f64)),
        p50_cct_s: at(500),
        p95_cct_s: at(950),
        p99_cct_s: at(990),
    }
}

/// Returns the mean ratio of completion times in `slow` to those in `fast` over the coflows of a class that are
/// measured and complete in both lists; `None` if there are none.
pub(crate) fn speed_up(fast: &[CoflowRow], slow: &[CoflowRow], class: &SizeClass) -> Option<f64> {
    let before: BTreeMap<_, u64> =
        slow.iter().filter_map(|coflow| Some(((coflow.group, coflow.coflow), coflow.cct_ps?))).collect();
    let ratio = |coflow: &CoflowRow| {
        let own = coflow.cct_ps.filter(|&cct| cct > 0)?;
        let other = before.get(&(coflow.group, coflow.coflow))?;
        Some(*other as f64 / own as f64)
    };
    let ratios: Vec<f64> = fast.iter().filter(|coflow| counts(class, coflow)).filter_map(ratio).collect();
    mean_of(&ratios)
}

#[cfg(test)]
mod tests {
    use priolane_core::ids::CoflowId;
    use priolane_core::units::{Span, Time};

    use super::*;
    use crate::metrics::ALL;
    use priolane_results::coflows::coflows;
    use priolane_testkit::made_up::MadeUp;

    const US: u64 = 1_000_000;

    /// Flows of (coflow, start in us, bytes, completion time in us).
    fn run(rows: &[(Option<u32>, u64, u64, Option<u64>)]) -> MadeUp {
        let mut fixture = MadeUp::with_flows(rows.len() as u32);
        for (place, &(coflow, start, bytes, fct)) in rows.iter().enumerate() {
            let coflow = coflow.and_then(CoflowId::new);
            fixture.scenario.flows.edit(place, |flow| {
                (flow.coflow, flow.start, flow.size) = (coflow, Time(start * US), Some(bytes));
            });
            fixture.outcome.flows.edit(place, |flow| flow.fct = fct.map(|us| Span(us * US)));
            fixture.measured[place] = start >= 10;
        }
        fixture
    }

    /// Coflow 0 has two flows that start at 10 us and end at 15 and 30 us: 20 us. Coflow 1 has one that starts at 20 us
    /// and another that waits until 40 and ends at 70 us: 50 us. Coflow 2 starts before the measured window; coflow 3
    /// does not complete.
    const ROWS: [(Option<u32>, u64, u64, Option<u64>); 9] = [
        (Some(2), 9, 100, Some(5)),
        (Some(0), 10, 400, Some(5)),
        (Some(2), 10, 100, Some(500)),
        (Some(0), 10, 600, Some(20)),
        (None, 10, 1, Some(900)),
        (Some(1), 20, 4_000, Some(10)),
        (Some(3), 30, 7_000, None),
        (Some(3), 30, 7_000, Some(1)),
        (Some(1), 40, 5_000, Some(30)),
    ];

    #[test]
    fn a_coflow_lasts_from_its_first_start_to_its_last_finish() {
        let fixture = run(&ROWS);
        let all = coflows(&fixture.source(), &fixture.outcome);
        let of = |c: &CoflowRow| (c.coflow, c.flows, c.bytes, c.cct_ps.map(|cct| cct / US), c.measured);
        assert_eq!(
            all.iter().map(of).collect::<Vec<_>>(),
            [
                (0, 2, Some(1_000), Some(20), true),
                (1, 2, Some(9_000), Some(50), true),
                (2, 2, Some(200), Some(501), false),
                (3, 2, Some(14_000), None, true),
            ]
        );
        let small = SizeClass { name: "small".into(), to: Some(1_000), ..SizeClass::all() };
        let sums = summarize(&all, &[small]);
        let CoflowSummary { coflows: count, unfinished, mean_cct_s, p50_cct_s, p99_cct_s, .. } = sums[ALL];
        // The mean of 20 and 50 us; of two values, the first is the median and the second the 99th percentile.
        assert_eq!((count, unfinished, mean_cct_s), (3, 1, Some(35e-6)));
        assert_eq!(sums[ALL].finished(), 2);
        assert_eq!((p50_cct_s, p99_cct_s), (Some(20e-6), Some(50e-6)));
        assert_eq!((sums["small"].coflows, sums["small"].mean_cct_s), (1, Some(20e-6)));
        let none = run(&[(None, 10, 1, Some(1))]);
        assert!(summarize(&coflows(&none.source(), &none.outcome), &[]).is_empty());
    }

    #[test]
    fn speed_up_is_the_mean_of_the_ratios_of_coflows_that_end_in_both() {
        let mut slow = ROWS;
        // Coflow 0 takes 60 us instead of 20, coflow 1 still takes 50, coflow 3 completes: ratios 3 and 1.
        slow[3].3 = Some(60);
        slow[6].3 = Some(1);
        let (fast, slow) = (run(&ROWS), run(&slow));
        let rows = |fixture| coflows(&MadeUp::source(fixture), &fixture.outcome);
        let (fast, slow) = (rows(&fast), rows(&slow));
        assert_eq!(speed_up(&fast, &slow, &SizeClass::all()), Some(2.0));
        assert_eq!(speed_up(&slow, &fast, &SizeClass::all()), Some((1.0 / 3.0 + 1.0) / 2.0));
        let huge = SizeClass { from: Some(10_000), ..SizeClass::all() };
        assert_eq!(speed_up(&fast, &slow, &huge), None);
    }
}
