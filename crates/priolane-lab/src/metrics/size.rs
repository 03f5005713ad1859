//! Sizes of flows: the offered workload, independent of its outcome.

use std::io;

use super::class::SizeClass;
use super::metric::{Context, Metric, Missing, SHARE, Scope, Unit};
use priolane_results::column::Row;
use priolane_results::flows::FlowRow;
use priolane_results::rows::Table;

const OF_CLASSES: Metric = Metric { scope: Scope::Classes, ..Metric::OF_FLOWS };

/// Flow sizes, and fraction of flows in a class.
pub(super) const METRICS: &[Metric] = &[
    Metric {
        name: "size",
        meaning: "Mean payload of flows, finished or not",
        unit: Unit::Bytes,
        eval: mean,
        of_flow: Some(|flow| flow.bytes.map(|bytes| bytes as f64)),
        ..OF_CLASSES
    },
    Metric {
        name: "flow_share",
        meaning: "Flows of the class over all flows, or over those of the class that it is `over`",
        unit: Unit::Part,
        range: SHARE,
        eval: share,
        ..OF_CLASSES
    },
];

fn mean(context: &Context) -> Result<f64, Missing> {
    let class = context.size_class().cloned().unwrap_or_else(SizeClass::all);
    let failed = |e: io::Error| Missing::Other(format!("run {}: {e}", context.record.run));
    let (mut flows, mut bytes) = (0_u64, 0.0);
    for batch in context.stored.table(context.record, Table::Flows).map_err(failed)? {
        for flow in FlowRow::read(&batch).map_err(failed)?.iter().filter(|flow| class.counts_row(flow)) {
            flows += 1;
            bytes += flow.bytes.unwrap_or_default() as f64;
        }
    }
    if flows == 0 { Err(Missing::Point("no flow")) } else { Ok(bytes / flows as f64) }
}

fn share(context: &Context) -> Result<f64, Missing> {
    let flows = |class: &str| context.record.summary.get(class).map(|summary| summary.flows);
    let whole = flows(context.over().unwrap_or(super::ALL)).filter(|&flows| flows > 0);
    let own = flows(context.class).ok_or(Missing::Point("no flow"))?;
    whole.map(|whole| own as f64 / whole as f64).ok_or(Missing::Point("no flow"))
}
