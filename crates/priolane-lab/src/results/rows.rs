//! The rows of a run's tables, cut into Arrow batches of any size, and the values of single cells.
//!
//! One definition serves the files, the digest and the comparison of two engines, so that they cannot
//! disagree about what a row is. Rows come in canonical order: flows by id, ports by link, class and
//! queue, samples by instant, link and metric.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, UInt8Array, UInt32Array,
    UInt64Array,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use priolane_core::endpoint::{FlowSpec, LadderOf};
use priolane_core::ids::{CoflowId, FlowId, HostId};
use priolane_core::price::Cos;
use priolane_core::units::{Span, Time};
use priolane_sim::outcome::{Began, FlowRecord, Outcome, Sample};
use priolane_sim::scenario::Scenario;
use priolane_sim::topology::Topology;

use super::bills::{self, BillRow, Pricing};
use super::columns;
use crate::metrics::coflows::{self, CoflowRecord};

/// Rows per Arrow batch where a whole table is read or written.
pub const BATCH: usize = 1 << 16;

/// One of a run's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Table {
    /// One row per flow.
    Flows,
    /// One row per egress port, class and queue that saw a packet.
    Ports,
    /// One row per instant, entity and metric.
    Series,
    /// One row per coflow, where flows belong to some.
    Coflows,
    /// One row per machine, and per flow that pays for itself, where the experiment has prices.
    Bills,
}

impl Table {
    /// The tables that every run has, in the order of the digest.
    pub const ALL: [Self; 3] = [Self::Flows, Self::Ports, Self::Series];

    /// The table's name, without ending.
    pub fn name(self) -> &'static str {
        match self {
            Self::Flows => "flows",
            Self::Ports => "ports",
            Self::Series => "series",
            Self::Coflows => "coflows",
            Self::Bills => "bills",
        }
    }

    /// The name of the table's file in a run's directory.
    pub fn file(self) -> String {
        format!("{}.parquet", self.name())
    }

    /// Names, types, units and meanings of its columns.
    pub fn schema(self) -> SchemaRef {
        let fields: Vec<Field> = columns::of(self).iter().map(columns::Column::field).collect();
        Arc::new(Schema::new(fields))
    }
}

/// What the rows of a run's tables are made of.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// What was run.
    pub scenario: &'a Scenario,
    /// Names of the groups that `FlowSpec::group` points at.
    pub groups: &'a [String],
    /// Per flow: whether it started inside the measured window.
    pub measured: &'a [bool],
    /// Per flow: its completion time alone in the network; meaningless for a flow without end.
    pub bare_fct: &'a [Span],
    /// Per flow: the same with a handshake, where slowdowns are over it.
    pub with_handshake: Option<&'a [Span]>,
}

impl<'a> Source<'a> {
    /// Per flow: what its slowdown is over.
    pub fn denominators(&self) -> &'a [Span] {
        self.with_handshake.unwrap_or(self.bare_fct)
    }
}

/// The rows of one run.
#[derive(Debug)]
pub struct Rows<'a> {
    source: Source<'a>,
    outcome: &'a Outcome,
    ports: Vec<String>,
    /// What the controller told, a row for each threshold.
    told: Vec<Told>,
    /// Names of the flows that were reported.
    reported: BTreeMap<FlowId, String>,
    /// Probabilities of admission over time: those of which host, destination and class, when, and what.
    watched: Vec<(Arc<str>, Time, f64)>,
    /// Coflows.
    coflows: Vec<CoflowRecord>,
    /// Bills; `None` where nothing is priced.
    bills: Option<Vec<BillRow>>,
}

/// One threshold that the controller told the hosts.
#[derive(Debug)]
struct Told {
    at: Time,
    metric: String,
    bytes: u64,
}

impl<'a> Rows<'a> {
    /// The rows of `outcome`, whose records must be in canonical order (see `canonical`).
    pub fn new(source: Source<'a>, outcome: &'a Outcome) -> Self {
        let reported = outcome.reports.iter().map(|report| report.flow);
        Self {
            source,
            outcome,
            ports: port_names(&source.scenario.topology),
            told: told(outcome),
            reported: reported.map(|flow| (flow, format!("flow{}", flow.0))).collect(),
            watched: watched(&source.scenario.topology, outcome),
            coflows: coflows::coflows(&source, outcome),
            bills: None,
        }
    }

    /// These rows with those of bills.
    pub fn with_bills(self, pricing: Option<&Pricing>) -> Self {
        let bills = pricing.map(|pricing| bills::bills(pricing, self.source.scenario, self.outcome));
        Self { bills, ..self }
    }

    /// The tables that the run has, in the order of the digest.
    pub fn tables(&self) -> impl Iterator<Item = Table> + use<> {
        let coflows = (!self.coflows.is_empty()).then_some(Table::Coflows);
        let bills = self.bills.is_some().then_some(Table::Bills);
        Table::ALL.into_iter().chain(coflows).chain(bills)
    }

    /// Number of rows of a table.
    pub fn len(&self, table: Table) -> usize {
        match table {
            Table::Flows => self.source.scenario.flows.len(),
            Table::Ports => self.outcome.ports.len(),
            Table::Coflows => self.coflows.len(),
            Table::Bills => self.bills.as_ref().map_or(0, Vec::len),
            Table::Series => {
                self.outcome.samples.ports.len() * SAMPLED.len()
                    + self.told.len()
                    + self.outcome.reports.len()
                    + self.watched.len()
            }
        }
    }

    /// Whether a table has no row.
    pub fn is_empty(&self, table: Table) -> bool {
        self.len(table) == 0
    }

    /// The rows `range` of a table.
    pub fn batch(&self, table: Table, range: Range<usize>) -> RecordBatch {
        let arrays = match table {
            Table::Flows => self.flows(range),
            Table::Ports => self.port_rows(range),
            Table::Series => self.series(range),
            Table::Coflows => self.coflow_rows(range),
            Table::Bills => self.bill_rows(range),
        };
        RecordBatch::try_new(table.schema(), arrays)
            .expect("invariant: columns::of and the arrays here agree")
    }

    /// All rows of a table, in batches of at most `BATCH` rows.
    pub fn batches(&self, table: Table) -> impl Iterator<Item = RecordBatch> + '_ {
        let rows = self.len(table);
        (0..rows).step_by(BATCH).map(move |from| self.batch(table, from..rows.min(from + BATCH)))
    }

    fn flows(&self, range: Range<usize>) -> Vec<ArrayRef> {
        let specs: Vec<FlowSpec> = self.source.scenario.flows.range(range.clone()).collect();
        let records: Vec<FlowRecord> = self.outcome.flows.range(range.clone()).collect();
        let spans = self.source.bare_fct[range.clone()].iter().zip(&specs);
        let bare = spans.map(|(span, spec)| spec.size.map(|_| span.0));
        let alone = self.source.denominators()[range.clone()].iter().zip(&specs);
        let alone = alone.map(|(&span, spec)| spec.size.map(|_| span));
        let group = |g: u16| self.source.groups.get(usize::from(g)).map(String::as_str);
        let stop = self.outcome.stopped_at;
        vec![
            u32s(specs.iter().map(|s| Some(s.id.0))),
            texts(specs.iter().map(|s| group(s.group))),
            u32s(specs.iter().map(|s| Some(u32::from(s.src.0)))),
            u32s(specs.iter().map(|s| Some(u32::from(s.dst.0)))),
            u64s(specs.iter().map(|s| s.size)),
            u64s(specs.iter().zip(&records).map(|(s, r)| (r.began != Began::Never).then_some(s.start.0))),
            u64s(records.iter().map(|r| r.fct.map(|f| f.0))),
            u64s(records.iter().map(|r| r.fct_acked.map(|f| f.0))),
            u64s(bare),
            f64s(records.iter().zip(alone).map(|(r, alone)| crate::metrics::slowdown(r.fct, alone))),
            u8s(records.iter().map(|r| Some(r.class.asked))),
            u8s(records.iter().map(|r| Some(r.class.given))),
            u32s(records.iter().map(|r| Some(r.moves))),
            u8s(records.iter().map(|r| Some(r.class.first))),
            u8s(records.iter().map(|r| Some(r.class.last))),
            u64s(specs.iter().map(|s| s.deadline.map(|d| d.0))),
            bools(specs.iter().zip(&records).map(|(s, r)| crate::metrics::met(s, r, stop))),
            u32s(records.iter().map(|r| Some(r.retransmits))),
            u32s(records.iter().map(|r| Some(r.timeouts))),
            texts(specs.iter().map(|s| Some(Cos::of(s.weights).name()))),
            u64s(specs.iter().map(|s| Some(s.weights.theta_bps()))),
            f64s(specs.iter().map(|s| Some(s.weights.w()))),
            u64s(records.iter().map(|r| Some(r.missing))),
            bools(self.source.measured[range.clone()].iter().map(|&m| Some(m))),
            u32s(specs.iter().map(|s| s.coflow.map(CoflowId::number))),
        ]
    }

    fn port_rows(&self, range: Range<usize>) -> Vec<ArrayRef> {
        let rows = &self.outcome.ports[range];
        let mean = |sum: u64, n: u64| if n == 0 { None } else { Some(sum as f64 / n as f64) };
        vec![
            texts(rows.iter().map(|r| Some(self.ports[r.link.index()].as_str()))),
            u32s(rows.iter().map(|r| Some(r.link.0))),
            u8s(rows.iter().map(|r| Some(r.class))),
            u8s(rows.iter().map(|r| Some(r.queue))),
            u64s(rows.iter().map(|r| Some(r.packets))),
            u64s(rows.iter().map(|r| Some(r.bytes))),
            u64s(rows.iter().map(|r| Some(r.dropped))),
            u64s(rows.iter().map(|r| Some(r.marked))),
            u64s(rows.iter().map(|r| Some(r.lost))),
            u64s(rows.iter().map(|r| Some(r.inversions))),
            f64s(rows.iter().map(|r| mean(r.waited, r.packets))),
            u64s(rows.iter().map(|r| Some(r.trimmed))),
            u64s(rows.iter().map(|r| Some(r.expired))),
            u64s(rows.iter().map(|r| Some(r.paused.0))),
        ]
    }

    fn coflow_rows(&self, range: Range<usize>) -> Vec<ArrayRef> {
        let rows = &self.coflows[range];
        let group = |g: u16| self.source.groups.get(usize::from(g)).map(String::as_str);
        vec![
            texts(rows.iter().map(|r| group(r.payer.group))),
            u32s(rows.iter().map(|r| Some(r.coflow.number()))),
            u32s(rows.iter().map(|r| Some(r.flows))),
            u64s(rows.iter().map(|r| r.bytes)),
            u8s(rows.iter().map(|r| Some(r.class.0))),
            u8s(rows.iter().map(|r| Some(r.class.1))),
            u64s(rows.iter().map(|r| Some(r.start.0))),
            u64s(rows.iter().map(|r| r.cct.map(|cct| cct.0))),
            texts(rows.iter().map(|r| Some(r.payer.cos.name()))),
            bools(rows.iter().map(|r| Some(r.measured))),
        ]
    }

    /// The coflows of the run.
    pub fn coflows(&self) -> &[CoflowRecord] {
        &self.coflows
    }

    fn bill_rows(&self, range: Range<usize>) -> Vec<ArrayRef> {
        let rows = || self.bills.iter().flat_map(|bills| &bills[range.clone()]);
        let reals = |value: fn(&BillRow) -> f64| f64s(rows().map(|row| Some(value(row))));
        let run = self.outcome.stopped_at.as_secs_f64();
        let rate = |row: &BillRow| (run > 0.0).then(|| row.delivered as f64 * 8.0 / run);
        vec![
            texts(rows().map(|r| self.source.groups.get(usize::from(r.group)).map(String::as_str))),
            u32s(rows().map(|r| Some(u32::from(r.host)))),
            u32s(rows().map(|r| r.owed.flow.map(|flow| flow.0))),
            texts(rows().map(|r| Some(r.payer.name()))),
            texts(rows().map(|r| Some(Cos::of(r.pair).name()))),
            u64s(rows().map(|r| Some(r.pair.theta_bps()))),
            reals(|r| r.pair.w()),
            reals(|r| r.owed.usage.seconds()),
            reals(|r| r.owed.usage.weight_seconds()),
            reals(|r| r.owed.usage.reserved_bits()),
            reals(|r| r.owed.usage.sent_bits()),
            reals(|r| r.owed.bill.base),
            reals(|r| r.owed.bill.weight),
            reals(|r| r.owed.bill.rate),
            reals(|r| r.owed.bill.total()),
            u64s(rows().map(|r| Some(r.delivered))),
            f64s(rows().map(rate)),
        ]
    }

    fn series(&self, range: Range<usize>) -> Vec<ArrayRef> {
        let rows = || range.clone().map(|row| self.series_row(row));
        vec![
            u64s(rows().map(|row| Some(row.0.0))),
            texts(rows().map(|row| Some(row.1))),
            texts(rows().map(|row| Some(row.2))),
            f64s(rows().map(|row| Some(row.3))),
        ]
    }

    /// Instant, entity, metric and value: first the samples of ports, then what the controller told, then flows, then
    /// probabilities.
    fn series_row(&self, row: usize) -> (Time, &str, &str, f64) {
        let per = SAMPLED.len();
        if let Some(sample) = self.outcome.samples.ports.get(row / per) {
            let (metric, value) = SAMPLED[row % per];
            return (sample.at, &self.ports[sample.link.index()], metric, value(sample));
        }
        let row = row - self.outcome.samples.ports.len() * per;
        if let Some(told) = self.told.get(row) {
            return (told.at, "controller", &told.metric, told.bytes as f64);
        }
        let row = row - self.told.len();
        if let Some(report) = self.outcome.reports.get(row) {
            return (report.at, &self.reported[&report.flow], "acked_bytes", report.acked_bytes as f64);
        }
        let (key, at, p) = &self.watched[row - self.outcome.reports.len()];
        (*at, key, "p_admit", *p)
    }
}

/// A row for each interval in which a probability was updated: those of `h0->h3/1` are of flows of host 0 to host 3 that
/// ask for class 1.
fn watched(topology: &Topology, outcome: &Outcome) -> Vec<(Arc<str>, Time, f64)> {
    let name = |host: HostId| {
        let node = topology.node_of(host);
        topology.names.get(node.0 as usize).cloned().unwrap_or_else(|| format!("host{}", host.0))
    };
    let keys =
        outcome.admission.iter().flat_map(|(host, account)| account.keys.iter().map(|key| (*host, key)));
    let rows = keys.filter(|(_, key)| !key.watched.is_empty()).flat_map(|(host, key)| {
        let entity: Arc<str> = format!("{}->{}/{}", name(host), name(key.dst), key.class).into();
        key.watched.iter().map(move |&(at, p)| (Arc::clone(&entity), at, p))
    });
    rows.collect()
}

/// A row for each threshold that the controller told: `class_threshold_1` is the first of the class ladder.
fn told(outcome: &Outcome) -> Vec<Told> {
    let rows = outcome.thresholds.iter().flat_map(|change| {
        let ladder = match change.of {
            LadderOf::Class => "class",
            LadderOf::HostLevel => "host",
        };
        let told = move |(i, &bytes): (usize, &u64)| Told {
            at: change.at,
            metric: format!("{ladder}_threshold_{}", i + 1),
            bytes,
        };
        change.bytes.iter().enumerate().map(told)
    });
    rows.collect()
}

/// A metric of a sample: its name, and its value.
type Sampled = (&'static str, fn(&Sample) -> f64);

/// The metrics of a sample, in the order of their rows.
const SAMPLED: [Sampled; 3] = [
    ("queued_bytes", |sample| sample.queued_bytes as f64),
    ("queued_packets", |sample| f64::from(sample.queued_packets)),
    ("sent_bytes", |sample| sample.sent_bytes as f64),
];

/// Puts an outcome's records in the canonical order of rows.
pub fn canonical(outcome: &mut Outcome) {
    outcome.ports.sort_by_key(|p| (p.link, p.class, p.queue));
    outcome.samples.ports.sort_by_key(|s| (s.at, s.link));
}

/// The name of every egress port, by link: `leaf0->spine1`; a second link between the same nodes is
/// `leaf0->spine1#2`.
pub fn port_names(topology: &Topology) -> Vec<String> {
    let mut seen: BTreeMap<_, u32> = BTreeMap::new();
    let name = |node: u32| topology.names.get(node as usize).cloned().unwrap_or_else(|| format!("n{node}"));
    let named = |link: &priolane_sim::topology::Link| {
        let count = seen.entry((link.from, link.to)).or_default();
        *count += 1;
        let plain = format!("{}->{}", name(link.from.0), name(link.to.0));
        if *count == 1 { plain } else { format!("{plain}#{count}") }
    };
    topology.links.iter().map(named).collect()
}

/// One value of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// Unknown, or does not apply.
    Null,
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Int(u64),
    /// A real number.
    Real(f64),
    /// A name.
    Text(&'a str),
}

impl fmt::Display for Cell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(b) => write!(f, "{b}"),
            Self::Int(n) => write!(f, "{n}"),
            Self::Real(x) => write!(f, "{x}"),
            Self::Text(t) => f.write_str(t),
        }
    }
}

/// One column of a batch, its type known.
#[derive(Clone, Copy, Debug)]
pub enum View<'a> {
    /// Yes or no.
    Bool(&'a BooleanArray),
    /// Small whole numbers.
    U8(&'a UInt8Array),
    /// Whole numbers.
    U32(&'a UInt32Array),
    /// Large whole numbers.
    U64(&'a UInt64Array),
    /// Real numbers.
    F64(&'a Float64Array),
    /// Names.
    Text(&'a StringArray),
}

impl<'a> View<'a> {
    /// The typed view of an array; `None` for a type that no table of priolane has.
    pub fn of(array: &'a dyn Array) -> Option<Self> {
        let any = array.as_any();
        match array.data_type() {
            DataType::Boolean => any.downcast_ref().map(Self::Bool),
            DataType::UInt8 => any.downcast_ref().map(Self::U8),
            DataType::UInt32 => any.downcast_ref().map(Self::U32),
            DataType::UInt64 => any.downcast_ref().map(Self::U64),
            DataType::Float64 => any.downcast_ref().map(Self::F64),
            DataType::Utf8 => any.downcast_ref().map(Self::Text),
            _ => None,
        }
    }

    /// Views of all columns of a batch; `None` if one has a type that no table of priolane has.
    pub fn all(batch: &'a RecordBatch) -> Option<Vec<Self>> {
        batch.columns().iter().map(|c| Self::of(c.as_ref())).collect()
    }

    /// The value in `row`.
    pub fn cell(&self, row: usize) -> Cell<'a> {
        match *self {
            Self::Bool(a) if a.is_valid(row) => Cell::Bool(a.value(row)),
            Self::U8(a) if a.is_valid(row) => Cell::Int(u64::from(a.value(row))),
            Self::U32(a) if a.is_valid(row) => Cell::Int(u64::from(a.value(row))),
            Self::U64(a) if a.is_valid(row) => Cell::Int(a.value(row)),
            Self::F64(a) if a.is_valid(row) => Cell::Real(a.value(row)),
            Self::Text(a) if a.is_valid(row) => Cell::Text(a.value(row)),
            _ => Cell::Null,
        }
    }
}

pub(crate) fn u8s(values: impl Iterator<Item = Option<u8>>) -> ArrayRef {
    Arc::new(values.collect::<UInt8Array>())
}

pub(crate) fn u32s(values: impl Iterator<Item = Option<u32>>) -> ArrayRef {
    Arc::new(values.collect::<UInt32Array>())
}

pub(crate) fn u64s(values: impl Iterator<Item = Option<u64>>) -> ArrayRef {
    Arc::new(values.collect::<UInt64Array>())
}

pub(crate) fn f64s(values: impl Iterator<Item = Option<f64>>) -> ArrayRef {
    Arc::new(values.collect::<Float64Array>())
}

pub(crate) fn bools(values: impl Iterator<Item = Option<bool>>) -> ArrayRef {
    Arc::new(values.collect::<BooleanArray>())
}

pub(crate) fn texts<'a>(values: impl Iterator<Item = Option<&'a str>>) -> ArrayRef {
    Arc::new(values.collect::<StringArray>())
}
