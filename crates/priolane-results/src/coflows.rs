//! `coflows.parquet`: one row per coflow.
//!
//! ```text
//! CCT      last completion of a flow of the coflow - first start of one
//! size     payload bytes of all its flows
//! ```
//!
//! A coflow is unfinished while one of its flows is. It is measured if its first flow is.

use std::collections::BTreeMap;

use priolane_core::endpoint::FlowSpec;
use priolane_core::ids::CoflowId;
use priolane_core::price::Cos;
use priolane_core::units::Time;
use priolane_sim::outcome::{FlowRecord, Outcome};

use crate::row;
use crate::source::Source;

row! {
    /// A row of `coflows.parquet`: a coflow.
    pub struct CoflowRow<'a> {
        group: &'a str, "", "group of the experiment";
        coflow: u32, "1", "number of the coflow in its group";
        flows: u32, "1", "number of flows";
        bytes: Option<u64>, "B", "payload bytes of all its flows; null if one is endless";
        class_asked: u8, "1", "requested class of its first flow";
        class_given: u8, "1", "assigned class of its first flow at the start";
        start_ps: u64, "ps", "start of its first flow, since the start of the run";
        cct_ps: Option<u64>, "ps",
            "from start_ps to the arrival of the last payload byte of its last flow; null if unfinished";
        cos: &'a str, "", "class of service of its first flow: BE, DS or MRG";
        measured: bool, "", "whether its first flow started inside the measured window";
    }
}

/// Returns the coflows of a run by group and number; empty if no flow belongs to one.
pub fn coflows<'a>(source: &Source<'a>, outcome: &Outcome) -> Vec<CoflowRow<'a>> {
    let mut all: BTreeMap<(u16, CoflowId), (CoflowRow<'a>, Time)> = BTreeMap::new();
    let specs = source.scenario.flows.iter().zip(source.measured).zip(&outcome.flows);
    for ((spec, &measured), record) in specs {
        let Some(coflow) = spec.coflow else { continue };
        let end = record.fct.map(|fct| spec.start + fct);
        let own = CoflowRow { measured, coflow: coflow.number(), ..of_one(source, &spec, &record) };
        all.entry((spec.group, coflow))
            .and_modify(|(sum, last)| {
                let late = end.filter(|_| sum.cct_ps.is_some()).map(|end| end.max(*last));
                let first = if own.start_ps < sum.start_ps { own } else { *sum };
                let bytes = sum.bytes.zip(own.bytes).map(|(a, b)| a.saturating_add(b));
                *last = late.unwrap_or(*last);
                *sum = CoflowRow {
                    flows: sum.flows + 1,
                    bytes,
                    cct_ps: late.map(|end| end.since(Time(first.start_ps)).0),
                    ..first
                };
            })
            .or_insert((own, end.unwrap_or(Time::ZERO)));
    }
    all.into_values().map(|(row, _)| row).collect()
}

/// Returns the row of a coflow with one flow.
fn of_one<'a>(source: &Source<'a>, spec: &FlowSpec, record: &FlowRecord) -> CoflowRow<'a> {
    CoflowRow {
        group: source.group(spec.group).unwrap_or_default(),
        coflow: 0,
        flows: 1,
        bytes: spec.size,
        class_asked: record.class.asked,
        class_given: record.class.given,
        start_ps: spec.start.0,
        cct_ps: record.fct.map(|fct| fct.0),
        cos: Cos::of(spec.weights).word(),
        measured: false,
    }
}
