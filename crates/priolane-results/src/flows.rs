//! `flows.parquet`: one row per flow.

use std::ops::Range;

use priolane_core::endpoint::FlowSpec;
use priolane_core::ids::CoflowId;
use priolane_core::price::Cos;
use priolane_core::units::{Span, Time};
use priolane_sim::outcome::{FlowRecord, Outcome, StartTime};

use crate::row;
use crate::source::Source;

row! {
    /// A row of `flows.parquet`: a flow.
    pub struct FlowRow<'a> {
        flow: u32, "1", "id of the flow: its row in the flow list of the run, from 0";
        group: Option<&'a str>, "",
            "group of the experiment that the flow belongs to; null if it has none";
        src: u32, "1", "sending host";
        dst: u32, "1", "receiving host";
        bytes: Option<u64>, "B", "payload bytes; null for an endless flow";
        start_ps: Option<u64>, "ps",
            "start of the flow by the application, since the start of the run; null if it never started \
             because it depends on unfinished flows";
        fct_ps: Option<u64>, "ps",
            "from start_ps to the arrival of the last payload byte at the receiver; null if unfinished";
        fct_acked_ps: Option<u64>, "ps",
            "from start_ps to the last acknowledgement at the sender; null if it did not arrive or is never \
             sent";
        bare_fct_ps: Option<u64>, "ps",
            "fct_ps of the same flow alone in the network at line rate without handshake; null for an \
             endless flow";
        slowdown: Option<f64>, "1",
            "fct_ps / bare_fct_ps, with a handshake in bare_fct_ps if the experiment sets so; never \
             clamped; null if unfinished";
        class_asked: u8, "1", "requested class at the start; 0 is served first";
        class_given: u8, "1",
            "assigned class at the start: class_asked without an admission policy";
        moves: u32, "1", "number of changes of the assigned class while the flow was active";
        class_first: u8, "1", "class of the first payload packet";
        class_last: u8, "1", "class of the last payload packet sent";
        deadline_ps: Option<u64>, "ps",
            "deadline, since the start of the run; null without a deadline";
        met: Option<bool>, "",
            "whether the last byte arrived by deadline_ps; null without a deadline, or if unfinished with a \
             deadline after the end of the run";
        retransmits: u32, "1", "retransmitted packets";
        timeouts: u32, "1", "retransmission timeouts";
        cos: &'a str, "", "class of service of the minimum rate and weight below: BE, DS or MRG";
        theta_bps: u64, "bit/s",
            "minimum rate paid by the flow or by its machine; 0 for none";
        w: f64, "1",
            "weight paid by the flow or by its machine; 1 for best effort";
        missing_bytes: u64, "B",
            "payload bytes that an unreliable transport abandoned and that did not arrive; fct_ps is of the \
             rest";
        measured: bool, "", "whether the flow started inside the measured window";
        attained_bytes: u64, "B",
            "payload bytes that the flow had sent before the run, in addition to bytes; 0 unless the run \
             starts warm";
        coflow: Option<u32>, "1",
            "coflow of its group that it belongs to; null if none";
    }
}

/// Returns the rows of the flows in `range`.
pub(crate) fn rows<'a>(source: &Source<'a>, outcome: &Outcome, range: Range<usize>) -> Vec<FlowRow<'a>> {
    let specs = source.scenario.flows.range(range.clone()).zip(outcome.flows.range(range.clone()));
    let alone = source.bare_fct[range.clone()].iter().zip(&source.denominators()[range.clone()]);
    let rows = specs.zip(alone).zip(&source.measured[range]);
    rows.map(|(((spec, record), (&bare, &denominator)), &measured)| FlowRow {
        measured,
        bare_fct_ps: spec.size.map(|_| bare.0),
        slowdown: slowdown(record.fct, spec.size.map(|_| denominator)),
        met: met_deadline(&spec, &record, outcome.stopped_at),
        ..row_of(source, &spec, &record)
    })
    .collect()
}

/// Returns the row of a flow, without values that depend on the rest of the run.
fn row_of<'a>(source: &Source<'a>, spec: &FlowSpec, record: &FlowRecord) -> FlowRow<'a> {
    FlowRow {
        flow: spec.id.0,
        group: source.group(spec.group),
        src: spec.src.0.into(),
        dst: spec.dst.0.into(),
        bytes: spec.size,
        start_ps: (record.began != StartTime::Never).then_some(spec.start.0),
        fct_ps: record.fct.map(|fct| fct.0),
        fct_acked_ps: record.fct_acked.map(|fct| fct.0),
        bare_fct_ps: None,
        slowdown: None,
        class_asked: record.class.asked,
        class_given: record.class.given,
        moves: record.moves,
        class_first: record.class.first,
        class_last: record.class.last,
        deadline_ps: spec.deadline.map(|deadline| deadline.0),
        met: None,
        retransmits: record.retransmits,
        timeouts: record.timeouts,
        cos: Cos::of(spec.weights).word(),
        theta_bps: spec.weights.theta_bps(),
        w: spec.weights.w(),
        missing_bytes: record.missing,
        measured: false,
        attained_bytes: spec.attained,
        coflow: spec.coflow.map(CoflowId::number),
    }
}

/// Returns a flow's completion time over its ideal completion time, not clamped; `None` if either is unknown.
pub fn slowdown(fct: Option<Span>, bare: Option<Span>) -> Option<f64> {
    let (fct, bare) = (fct?, bare.filter(|bare| bare.0 > 0)?);
    Some(fct.0 as f64 / bare.0 as f64)
}

/// Returns whether a flow met its deadline. `None` without a deadline, for an endless flow, or if it is unfinished at
/// `stopped_at` with its deadline in the future (censored).
pub fn met_deadline(spec: &FlowSpec, record: &FlowRecord, stopped_at: Time) -> Option<bool> {
    let deadline = spec.deadline?;
    spec.size?;
    match record.fct {
        Some(fct) => Some(spec.start + fct <= deadline),
        None if deadline <= stopped_at => Some(false),
        None => None,
    }
}
