//! Completion times and slowdowns of flows by class.

use priolane_core::units::Span;

use super::coverage::Coverage;
use super::metric::{Context, Metric, Missing, Need, SHARE, Scale, Scope, Unit, parts};
use super::path::single_flow;
use super::summarize_flow;
use priolane_results::column::Row;
use priolane_results::flows::FlowRow;
use priolane_results::record::RunRecord;
use priolane_results::rows::Table;
use priolane_results::summary::Summary;

const OF_COMPLETED: Metric = Metric { coverage: Coverage::Completed, ..Metric::OF_FLOWS };

const SECONDS: Metric = Metric { unit: Unit::Seconds, ..OF_COMPLETED };

/// Completion times, slowdowns, and assigned classes.
pub(super) const METRICS: &[Metric] = &[
    // Mean completion time of the baseline divided by that of the scheme, for the same point and seed (NOS2 §V).
    Metric {
        name: "gain",
        meaning: "Mean FCT of the baseline over that of the scheme, at the same point and seed",
        needs: &[Need::Baseline],
        scale: Scale::Relative,
        quotient: Some(gain),
        coverage: Coverage::LittlesLaw,
        arrivals: Some(arrivals_of_gain),
        ..OF_COMPLETED
    },
    Metric {
        name: "fct",
        meaning: "Mean flow completion time",
        eval: |c| of(c, |s| s.mean_fct_s),
        of_flow: Some(|flow| flow.fct_ps.map(|fct| Span(fct).as_secs_f64())),
        tuned: Some(|s| s.mean_fct_s),
        coverage: Coverage::LittlesLaw,
        arrivals: Some(arrivals),
        ..SECONDS
    },
    Metric {
        name: "fct_acked",
        meaning: "Mean time to the last acknowledgement at the sender",
        eval: |c| of(c, |s| s.mean_fct_acked_s),
        ..SECONDS
    },
    Metric { name: "fct_p50", meaning: "Median FCT", eval: |c| of(c, |s| s.p50_fct_s), ..SECONDS },
    Metric {
        name: "fct_p95",
        meaning: "95th percentile of FCT",
        eval: |c| of(c, |s| s.p95_fct_s),
        ..SECONDS
    },
    Metric {
        name: "fct_p99",
        meaning: "99th percentile of FCT",
        eval: |c| of(c, |s| s.p99_fct_s),
        tuned: Some(|s| s.p99_fct_s),
        ..SECONDS
    },
    Metric {
        name: "fct_p999",
        meaning: "99.9th percentile of FCT",
        eval: |c| of(c, |s| s.p999_fct_s),
        ..SECONDS
    },
    Metric {
        name: "cv",
        meaning: "Coefficient of variation of FCT: standard deviation over mean",
        eval: |c| of(c, |s| s.cv),
        coverage: Coverage::LittlesLaw,
        ..OF_COMPLETED
    },
    Metric {
        name: "slowdown",
        meaning: "Mean slowdown: FCT over that of the flow alone in the network",
        eval: |c| of(c, |s| s.mean_slowdown),
        of_flow: Some(|flow| flow.slowdown),
        tuned: Some(|s| s.mean_slowdown),
        coverage: Coverage::LittlesLaw,
        arrivals: Some(arrivals),
        ..OF_COMPLETED
    },
    Metric {
        name: "slowdown_p50",
        meaning: "Median slowdown",
        eval: |c| of(c, |s| s.p50_slowdown),
        ..OF_COMPLETED
    },
    Metric {
        name: "slowdown_p95",
        meaning: "95th percentile of slowdown",
        eval: |c| of(c, |s| s.p95_slowdown),
        ..OF_COMPLETED
    },
    Metric {
        name: "slowdown_p99",
        meaning: "99th percentile of slowdown",
        eval: |c| of(c, |s| s.p99_slowdown),
        tuned: Some(|s| s.p99_slowdown),
        ..OF_COMPLETED
    },
    Metric {
        name: "slowdown_p999",
        meaning: "99.9th percentile of slowdown",
        eval: |c| of(c, |s| s.p999_slowdown),
        ..OF_COMPLETED
    },
    Metric {
        name: "fct_ratio",
        meaning: "Mean FCT of the class over that of the class that it is `over`",
        scope: Scope::Classes,
        needs: &[Need::Over],
        quotient: Some(ratio),
        coverage: Coverage::LittlesLaw,
        arrivals: Some(arrivals_of_ratio),
        ..OF_COMPLETED
    },
    // Lower bound on the mean completion time of any scheme (see `metrics::bound`).
    Metric {
        name: "fct_bound",
        meaning: "Lower bound of the mean FCT: no scheme that finishes all flows is below it",
        eval: |c| of(c, |s| s.mean_fct_bound_s),
        ..SECONDS
    },
    Metric {
        name: "fct_over_bound",
        meaning: "`fct` over `fct_bound`",
        quotient: Some(over_bound),
        ..OF_COMPLETED
    },
    Metric {
        name: "downgraded",
        meaning: "Part of the flows that were given a lower class than they asked for",
        unit: Unit::Part,
        range: SHARE,
        eval: |c| of(c, |s| s.downgraded),
        ..Metric::OF_FLOWS
    },
    Metric {
        name: "upgraded",
        meaning: "Part of the flows that were given a higher class than they asked for",
        unit: Unit::Part,
        range: SHARE,
        eval: |c| of(c, |s| s.upgraded),
        ..Metric::OF_FLOWS
    },
];

/// Returns a value of the summary of the class.
pub(super) fn of(context: &Context, value: fn(&Summary) -> Option<f64>) -> Result<f64, Missing> {
    value(&summary(context, context.record, context.class)?).ok_or(NONE)
}

const NONE: Missing = Missing::Point("no finished flow");

fn gain(context: &Context) -> Result<(f64, f64), Missing> {
    let own = summary(context, context.record, context.class)?;
    let baseline = summary(context, context.stored.baseline()?, context.class)?;
    parts(baseline.mean_fct_s, own.mean_fct_s, NONE)
}

fn over_bound(context: &Context) -> Result<(f64, f64), Missing> {
    let own = summary(context, context.record, context.class)?;
    parts(own.mean_fct_s, own.mean_fct_bound_s, NONE)
}

fn ratio(context: &Context) -> Result<(f64, f64), Missing> {
    let own = summary(context, context.record, context.class)?;
    let over = context.over();
    let over = over.ok_or_else(|| {
        Missing::Scheme(format!("class `{}` is not relative to another (`over`)", context.class))
    })?;
    let other = summary(context, context.record, over)?;
    parts(own.mean_fct_s, other.mean_fct_s, NONE)
}

/// Returns the arrivals of the class, and 1 for a value without a second part.
fn arrivals(context: &Context) -> Option<(f64, f64)> {
    Some((arrivals_in(context.record, context.class)?, 1.0))
}

fn arrivals_of_gain(context: &Context) -> Option<(f64, f64)> {
    let baseline = context.stored.baseline().ok()?;
    Some((arrivals_in(baseline, context.class)?, arrivals_in(context.record, context.class)?))
}

fn arrivals_of_ratio(context: &Context) -> Option<(f64, f64)> {
    Some((arrivals_in(context.record, context.class)?, arrivals_in(context.record, context.over()?)?))
}

/// Returns the flows of a class that arrive in the steady window of a run; `None` if the run has none.
fn arrivals_in(record: &RunRecord, class: &str) -> Option<f64> {
    record.steady.get(class).map(|steady| steady.arrivals as f64)
}

/// Returns the summary of a class, or of a single flow, of a run.
fn summary(context: &Context, record: &RunRecord, class: &str) -> Result<Summary, Missing> {
    if let Some(summary) = record.summary.get(class) {
        return Ok(*summary);
    }
    let unknown =
        || Missing::Other(format!("`{class}` is neither a size class nor a flow of run {}", record.run));
    let flow = single_flow(class).ok_or_else(unknown)?;
    let failed = |e: std::io::Error| Missing::Other(format!("run {}: {e}", record.run));
    for batch in context.stored.table(record, Table::Flows).map_err(failed)? {
        let rows = FlowRow::read(&batch).map_err(failed)?;
        if let Some(row) = rows.iter().find(|row| row.flow == flow) {
            let span = |ps: Option<u64>| ps.map(Span);
            let ends = (span(row.fct_ps), span(row.fct_acked_ps));
            return Ok(summarize_flow(ends, span(row.bare_fct_ps), row.slowdown));
        }
    }
    Err(unknown())
}
