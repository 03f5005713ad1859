//! The rows of a run's tables, in Arrow batches of any size.
//!
//! The files, the digest and the comparison of two engines share one definition, so that they agree about rows. Rows
//! are in canonical order: flows by id, ports by link, class and queue, samples by instant, link and metric.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema, SchemaRef};
use priolane_sim::outcome::Outcome;

use crate::bills::{self, BillRow, Pricing};
use crate::coflows::{self, CoflowRow};
use crate::column::{Column, Row};
use crate::flows::{self, FlowRow};
use crate::ports::{self, PortRow, port_names};
use crate::series::{Readings, SeriesRow};
use crate::source::Source;

/// Rows per Arrow batch when a whole table is read or written.
pub(crate) const BATCH: usize = 1 << 16;

/// One of a run's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Table {
    /// One row per flow.
    Flows,
    /// One row per egress port, class and queue with packets.
    Ports,
    /// One row per instant, entity and metric.
    Series,
    /// One row per coflow, if there are coflows.
    Coflows,
    /// One row per machine, and per flow that pays for itself, if the experiment has prices.
    Bills,
}

impl Table {
    /// The tables that every run has, in the order of the digest.
    pub const ALL: [Self; 3] = [Self::Flows, Self::Ports, Self::Series];

    /// Returns the table of the file with this name.
    pub fn of_file(name: &str) -> Option<Self> {
        let [flows, ports, series] = Self::ALL;
        [flows, ports, series, Self::Coflows, Self::Bills].into_iter().find(|table| table.file() == name)
    }

    /// Returns the table's name, without file extension.
    pub fn name(self) -> &'static str {
        match self {
            Self::Flows => "flows",
            Self::Ports => "ports",
            Self::Series => "series",
            Self::Coflows => "coflows",
            Self::Bills => "bills",
        }
    }

    /// Returns the name of the table's file in a run's directory.
    pub fn file(self) -> String {
        format!("{}.parquet", self.name())
    }

    /// Returns names, types, units and meanings of its columns, in order.
    pub fn columns(self) -> &'static [Column] {
        match self {
            Self::Flows => FlowRow::COLUMNS,
            Self::Ports => PortRow::COLUMNS,
            Self::Series => SeriesRow::COLUMNS,
            Self::Coflows => CoflowRow::COLUMNS,
            Self::Bills => BillRow::COLUMNS,
        }
    }

    /// Returns the Arrow schema of its columns.
    pub fn schema(self) -> SchemaRef {
        let fields: Vec<Field> = self.columns().iter().map(Column::field).collect();
        Arc::new(Schema::new(fields))
    }
}

/// The rows of one run.
#[derive(Debug)]
pub struct Rows<'a> {
    source: Source<'a>,
    outcome: &'a Outcome,
    /// Names of ports by link.
    ports: Vec<String>,
    readings: Readings<'a>,
    coflows: Vec<CoflowRow<'a>>,
    /// Bills; `None` without prices.
    bills: Option<Vec<BillRow<'a>>>,
}

impl<'a> Rows<'a> {
    /// Creates the rows of `outcome`, whose records must be in canonical order (see `canonical`).
    pub fn new(source: Source<'a>, outcome: &'a Outcome) -> Self {
        let topology = &source.scenario.topology;
        Self {
            source,
            outcome,
            ports: port_names(topology),
            readings: Readings::of(topology, outcome),
            coflows: coflows::coflows(&source, outcome),
            bills: None,
        }
    }

    /// Adds bills, if `pricing` is given.
    pub fn with_bills(self, pricing: Option<&Pricing>) -> Self {
        let bills = pricing.map(|pricing| bills::bills(pricing, &self.source, self.outcome));
        Self { bills, ..self }
    }

    /// Iterates over the tables of the run, in the order of the digest.
    pub fn tables(&self) -> impl Iterator<Item = Table> + use<> {
        let coflows = (!self.coflows.is_empty()).then_some(Table::Coflows);
        let bills = self.bills.is_some().then_some(Table::Bills);
        Table::ALL.into_iter().chain(coflows).chain(bills)
    }

    /// Returns the number of rows of a table.
    pub fn len(&self, table: Table) -> usize {
        match table {
            Table::Flows => self.source.scenario.flows.len(),
            Table::Ports => self.outcome.ports.len(),
            Table::Series => self.readings.len(),
            Table::Coflows => self.coflows.len(),
            Table::Bills => self.bills.as_ref().map_or(0, Vec::len),
        }
    }

    /// Returns whether a table has no rows.
    pub fn is_empty(&self, table: Table) -> bool {
        self.len(table) == 0
    }

    /// Returns the rows `range` of a table.
    pub fn batch(&self, table: Table, range: Range<usize>) -> RecordBatch {
        let arrays = match table {
            Table::Flows => Row::arrays(&flows::rows(&self.source, self.outcome, range)),
            Table::Ports => {
                let records = self.outcome.ports[range].iter();
                Row::arrays(&records.map(|record| ports::row_of(record, &self.ports)).collect::<Vec<_>>())
            }
            Table::Series => Row::arrays(&self.readings.rows(&self.ports, range)),
            Table::Coflows => Row::arrays(&self.coflows[range]),
            Table::Bills => Row::arrays(self.bills.as_ref().map_or(&[][..], |bills| &bills[range])),
        };
        RecordBatch::try_new(table.schema(), arrays).expect("invariant: `row!` declares schema and arrays")
    }

    /// Iterates over all rows of a table, in batches of at most `BATCH` rows.
    pub fn batches(&self, table: Table) -> impl Iterator<Item = RecordBatch> + '_ {
        let rows = self.len(table);
        (0..rows).step_by(BATCH).map(move |from| self.batch(table, from..rows.min(from + BATCH)))
    }

    /// Returns the coflows of the run.
    pub fn coflows(&self) -> &[CoflowRow<'a>] {
        &self.coflows
    }
}

/// Sorts an outcome's records into the canonical order of rows.
pub fn canonical(outcome: &mut Outcome) {
    outcome.ports.sort_by_key(|p| (p.link, p.class, p.queue));
    outcome.samples.ports.sort_by_key(|s| (s.at, s.link));
}
