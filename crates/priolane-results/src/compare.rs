//! Differences between two runs: two engines row by row, two directories run by run.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use serde::Serialize;
use serde_json::Value;

use crate::cell::View;
use crate::record::RunRecord;
use crate::rows::{Rows, Table};
use crate::store::{RunId, Store, StoreError, store_error};
use crate::tables::Batches;

/// The first cell in which the tables of two runs differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The table's name.
    pub table: &'static str,
    /// The index of the row, from 0.
    pub row: usize,
    /// The column's name; `rows` if one table ends at `row` and the other continues.
    pub column: String,
    /// The value on one side.
    pub a: String,
    /// The value on the other side.
    pub b: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} row {}, {}: {} and {}", self.table, self.row, self.column, self.a, self.b)
    }
}

/// Returns the first cell in which the tables of two runs in memory differ, in the order of the digest.
pub fn first_difference(a: &Rows, b: &Rows) -> Option<Difference> {
    a.tables().find_map(|table| {
        let pairs = a.batches(table).zip(b.batches(table));
        let mut from = 0;
        let cell = pairs.into_iter().find_map(|(a, b)| {
            let found = differing_cell((table, from), &a, &b);
            from += a.num_rows();
            found
        });
        cell.or_else(|| differing_length(table, a.len(table), b.len(table)))
    })
}

fn differing_length(table: Table, a: usize, b: usize) -> Option<Difference> {
    let (a_rows, b_rows) = (format!("{a} rows"), format!("{b} rows"));
    let row = a.min(b);
    (a != b).then(|| Difference { table: table.name(), row, column: "rows".into(), a: a_rows, b: b_rows })
}

/// Returns the first differing cell of two batches that start at row `from` of `table`.
fn differing_cell((table, from): (Table, usize), a: &RecordBatch, b: &RecordBatch) -> Option<Difference> {
    if a == b {
        return None;
    }
    let (left, right) = (View::all(a)?, View::all(b)?);
    let rows = a.num_rows().min(b.num_rows());
    let cells = (0..rows).flat_map(|row| (0..left.len().min(right.len())).map(move |column| (row, column)));
    cells.into_iter().find_map(|(row, column)| {
        let (x, y) = (left[column].cell(row), right[column].cell(row));
        (x != y).then(|| Difference {
            table: table.name(),
            row: from + row,
            column: a.schema_ref().field(column).name().clone(),
            a: x.to_string(),
            b: y.to_string(),
        })
    })
}

/// Comparison of two directories of runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Runs in both: the same experiment, scheme, sweep point and seed.
    pub common: Vec<CommonRun>,
    /// Runs in the first directory only.
    pub only_a: Vec<RunName>,
    /// Runs in the second directory only.
    pub only_b: Vec<RunName>,
}

/// Identifies a run across directories, independent of the version that produced it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct RunName {
    /// Title of the experiment.
    pub title: String,
    /// The scheme.
    pub scheme: String,
    /// The sweep point as compact JSON with sorted keys.
    pub point: String,
    /// The seed.
    pub seed: u64,
}

impl RunName {
    fn of(record: &RunRecord) -> Self {
        let point = serde_json::to_string(&record.point).unwrap_or_default();
        Self { title: record.title.clone(), scheme: record.scheme.clone(), point, seed: record.seed }
    }
}

/// A run that is in both directories.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CommonRun {
    /// The run.
    pub name: RunName,
    /// Its id in the first directory.
    pub run_a: String,
    /// Its id in the second directory.
    pub run_b: String,
    /// The result of the comparison.
    pub outcome: RunComparison,
}

/// The result of comparing two runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunComparison {
    /// Equal digests, and equal records except for the run's name.
    Equal,
    /// The first differing value of the records: its dotted name and both values.
    Metric {
        /// For example `summary.all.mean_fct_s`.
        name: String,
        /// Value in the first directory.
        a: Value,
        /// Value in the second directory.
        b: Value,
    },
    /// Equal records except for the digest: the first differing row.
    Row(Difference),
    /// Digests differ, but the tables are equal: they were written in different table formats.
    Format,
}

/// Compares the complete runs of two directories.
pub fn compare(a: &Path, b: &Path) -> Result<Comparison, StoreError> {
    let [a, b] = [a, b].map(Store::at);
    let (left, right) = (whole_runs(&a)?, whole_runs(&b)?);
    let only =
        |these: &Runs, those: &Runs| these.keys().filter(|k| !those.contains_key(k)).cloned().collect();
    let (only_a, only_b) = (only(&left, &right), only(&right, &left));
    let mut common = Vec::new();
    for (name, x) in &left {
        let Some(y) = right.get(name) else { continue };
        let outcome = sameness((&a, x), (&b, y))?;
        common.push(CommonRun { name: name.clone(), run_a: x.run.clone(), run_b: y.run.clone(), outcome });
    }
    Ok(Comparison { common, only_a, only_b })
}

type Runs = BTreeMap<RunName, RunRecord>;

fn whole_runs(store: &Store) -> Result<Runs, StoreError> {
    let records = store.names()?.into_iter().filter_map(|id| store.accept(&id));
    Ok(records.map(|record| (RunName::of(&record), record)).collect())
}

fn sameness((a, x): (&Store, &RunRecord), (b, y): (&Store, &RunRecord)) -> Result<RunComparison, StoreError> {
    if let Some((name, a, b)) = differing_result(x, y) {
        return Ok(RunComparison::Metric { name, a, b });
    }
    if x.digest == y.digest {
        return Ok(RunComparison::Equal);
    }
    for table in Table::ALL {
        if let Some(row) = stored_difference(table, (a, x), (b, y))? {
            return Ok(RunComparison::Row(row));
        }
    }
    Ok(RunComparison::Format)
}

/// Members of `run.json` that identify the run, its version and the storage of its tables.
pub const NOT_RESULTS: [&str; 8] = ["run", "version", "title", "scheme", "point", "seed", "merged", "files"];

/// Returns the dotted name and both values of the first differing result of two records, without the digest.
fn differing_result(a: &RunRecord, b: &RunRecord) -> Option<(String, Value, Value)> {
    let results = |record: &RunRecord| {
        let mut value = serde_json::to_value(record).unwrap_or(Value::Null);
        if let Some(members) = value.as_object_mut() {
            members.retain(|key, _| key != "digest" && !NOT_RESULTS.contains(&key.as_str()));
        }
        value
    };
    first_differing_value(&results(a), &results(b))
}

/// Returns the dotted name and both values of the first differing member of two records of the same run, the digest
/// first. Ignores the storage of tables (`files`).
pub fn differing_member(a: &RunRecord, b: &RunRecord) -> Option<(String, Value, Value)> {
    if a.digest != b.digest {
        return Some(("digest".to_owned(), Value::from(a.digest.as_str()), Value::from(b.digest.as_str())));
    }
    let [a, b] = [a, b].map(|record| {
        let bare = RunRecord { files: Vec::new(), ..record.clone() };
        serde_json::to_value(bare).unwrap_or(Value::Null)
    });
    first_differing_value(&a, &b)
}

/// Returns the dotted name and both values of the first differing leaf of two JSON trees, in order of keys with
/// `summary` first.
fn first_differing_value(a: &Value, b: &Value) -> Option<(String, Value, Value)> {
    let (Some(x), Some(y)) = (a.as_object(), b.as_object()) else {
        return (a != b).then(|| (String::new(), a.clone(), b.clone()));
    };
    let mut keys: Vec<&String> = x.keys().chain(y.keys()).collect();
    keys.sort_by_key(|k| (*k != "summary", k.as_str()));
    keys.dedup();
    keys.into_iter().find_map(|key| {
        let side = |map: &serde_json::Map<String, Value>| map.get(key).cloned().unwrap_or(Value::Null);
        let (name, a, b) = first_differing_value(&side(x), &side(y))?;
        let name = if name.is_empty() { key.clone() } else { format!("{key}.{name}") };
        Some((name, a, b))
    })
}

/// Opens a table of a stored run, and returns its path for messages.
fn opened(table: Table, (store, record): (&Store, &RunRecord)) -> Result<(Batches, PathBuf), StoreError> {
    let path = store.root().join(&record.run).join(table.file());
    let id = RunId::new(&record.run).ok_or(io::ErrorKind::InvalidInput.into());
    let batches = id.and_then(|id| store.table(&id, table)).map_err(store_error("read", &path))?;
    Ok((batches, path))
}

/// Returns the first differing cell of a table of two stored runs.
fn stored_difference(
    table: Table,
    (a, x): (&Store, &RunRecord),
    (b, y): (&Store, &RunRecord),
) -> Result<Option<Difference>, StoreError> {
    let [(mut left, a), (mut right, b)] = [opened(table, (a, x))?, opened(table, (b, y))?];
    let mut from = 0;
    loop {
        let x = left.next().transpose().map_err(store_error("read", &a))?;
        let y = right.next().transpose().map_err(store_error("read", &b))?;
        let (x_rows, y_rows) =
            (x.as_ref().map_or(0, RecordBatch::num_rows), y.as_ref().map_or(0, RecordBatch::num_rows));
        let (Some(x), Some(y)) = (x, y) else {
            return Ok(differing_length(table, from + x_rows, from + y_rows));
        };
        if let Some(cell) = differing_cell((table, from), &x, &y) {
            return Ok(Some(cell));
        }
        if x_rows != y_rows {
            return Ok(differing_length(table, from + x_rows, from + y_rows));
        }
        from += x_rows;
    }
}
