//! The available runs of a plan by sweep point, scheme and seed, and metric values in them.

use priolane_core::endpoint::ThresholdSet;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use priolane_results::RecordBatch;
use serde_json::{Map, Value};

use super::rules::BySeed;
use super::thresholds;
use crate::metrics::SizeClass;
use crate::metrics::ladder::Threshold;
use crate::metrics::metric::{Bins, Context, Missing, StoredData};
use crate::metrics::path::MetricPath;
use crate::plan::{Plan, Run};
use priolane_results::column::Row;
use priolane_results::flows::FlowRow;
use priolane_results::record::RunRecord;
use priolane_results::rows::Table;
use priolane_results::store::{RunId, Store};
use priolane_results::tables;

/// A sweep point: dotted keys and values, in the order of the sweep.
pub(super) type Point = Vec<(String, Value)>;

/// A plan and the records of its complete runs.
#[derive(Debug)]
pub(super) struct Grid<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Sweep points, in the order of the plan.
    pub points: Vec<Point>,
    /// Seeds, in the order of the plan.
    pub seeds: Vec<u64>,
    /// Schemes, in the order of the plan.
    pub schemes: Vec<String>,
    /// Record of each run of the plan, if complete.
    pub records: Vec<Option<RunRecord>>,
    store: Store,
    places: BTreeMap<(usize, String, u64), usize>,
}

/// Why a metric has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MissingValue {
    /// A run is missing.
    Run(String),
    /// The run exists, but no flow contributes a value, or the metric does not apply.
    Value(String),
}

impl<'a> Grid<'a> {
    /// Loads the complete runs of `plan` in `dir`.
    pub(super) fn load(plan: &'a Plan, dir: &Path) -> Self {
        let store = Store::at(dir);
        let record = |run: &Run| RunId::new(&run.id).and_then(|id| store.accept(&id));
        let records = plan.runs.iter().map(record).collect();
        let (mut points, mut seeds, mut schemes) = (Vec::new(), Vec::new(), Vec::new());
        let mut places = BTreeMap::new();
        for (place, run) in plan.runs.iter().enumerate() {
            let point = index_of(&mut points, &run.point);
            index_of(&mut seeds, &run.seed);
            index_of(&mut schemes, &run.scheme);
            places.insert((point, run.scheme.clone(), run.seed), place);
        }
        Self { plan, points, seeds, schemes, records, store, places }
    }

    /// Returns the size classes of the experiment.
    pub(super) fn classes(&self) -> &'a [SizeClass] {
        &self.plan.experiment.metrics.classes
    }

    /// Returns the points at which all keys of `at` have the given values.
    pub(super) fn points_at(&self, at: &Map<String, Value>) -> Vec<usize> {
        let matches = |point: &Point| {
            at.iter().all(|(key, value)| value_of(point, key).is_some_and(|v| same(v, value)))
        };
        (0..self.points.len()).filter(|&i| matches(&self.points[i])).collect()
    }

    /// Returns the point that equals `point` except for the values of `keys`; `None` if the sweep has none.
    pub(super) fn moved(&self, point: usize, keys: &Map<String, Value>) -> Option<usize> {
        let wanted = |key: &str, own: &'_ Value, value: &Value| same(value, keys.get(key).unwrap_or(own));
        let matches = |other: &Point| {
            self.points[point]
                .iter()
                .all(|(key, own)| value_of(other, key).is_some_and(|value| wanted(key, own, value)))
                && keys.iter().all(|(key, _)| value_of(other, key).is_some())
        };
        (0..self.points.len()).find(|&i| matches(&self.points[i]))
    }

    /// Returns the record of a run, or a gap that names the missing run.
    pub(super) fn record(&self, point: usize, scheme: &str, seed: u64) -> Result<&RunRecord, MissingValue> {
        let place = self.places.get(&(point, scheme.to_owned(), seed));
        let missing = || MissingValue::Run(format!("{scheme}, seed {seed}, {}", show(&self.points[point])));
        place.and_then(|&place| self.records[place].as_ref()).ok_or_else(missing)
    }

    /// Returns a metric at a point by seed, and why some seeds have no value.
    pub(super) fn by_seed(&self, path: &MetricPath, point: usize) -> (BySeed, Vec<MissingValue>) {
        let mut values = BySeed::new();
        let mut gaps = Vec::new();
        for &seed in &self.seeds {
            match self.value(path, point, seed) {
                Ok(value) => drop(values.insert(seed, value)),
                Err(gap) => gaps.push(gap),
            }
        }
        (values, gaps)
    }

    fn value(&self, path: &MetricPath, point: usize, seed: u64) -> Result<f64, MissingValue> {
        let near = RunContext { grid: self, scheme: &path.scheme, point, seed };
        near.evaluate(path, path.measure.metric.eval).map_err(|missing| near.gap(path, missing))
    }

    /// Returns a metric over time, for each available seed.
    pub(super) fn over_time(&self, path: &MetricPath, point: usize) -> Result<Vec<Bins>, MissingValue> {
        let mut seeds = Vec::new();
        for &seed in &self.seeds {
            let near = RunContext { grid: self, scheme: &path.scheme, point, seed };
            if near.record(near.scheme).is_err() {
                continue;
            }
            let bins = match path.measure.metric.over_time {
                Some(bins) => near.evaluate(path, bins),
                None => Err(Missing::OverTime),
            };
            seeds.push(bins.map_err(|missing| near.gap(path, missing))?);
        }
        Ok(seeds)
    }

    /// Evaluates `value` for the flows of a stored run, by id.
    pub(super) fn flows<T>(
        &self,
        record: &RunRecord,
        value: impl Fn(&FlowRow) -> Option<T>,
    ) -> io::Result<Vec<T>> {
        let mut values = Vec::new();
        for batch in self.batches(record, Table::Flows)? {
            let batch = batch?;
            values.extend(FlowRow::read(&batch)?.iter().filter_map(&value));
        }
        Ok(values)
    }

    /// Returns the batches of a table of a stored run.
    fn batches(
        &self,
        record: &RunRecord,
        table: Table,
    ) -> io::Result<impl Iterator<Item = io::Result<RecordBatch>> + use<>> {
        let id = RunId::new(&record.run).ok_or(io::ErrorKind::InvalidInput)?;
        tables::read(&self.store.path(&id), table)
    }

    /// Whether both engines agreed on a stored run.
    pub(super) fn is_verified(&self, record: &RunRecord) -> bool {
        RunId::new(&record.run).is_some_and(|id| self.store.is_verified(&id))
    }
}

/// A run of the grid, with access to related runs.
#[derive(Clone, Copy)]
struct RunContext<'a> {
    grid: &'a Grid<'a>,
    scheme: &'a str,
    point: usize,
    seed: u64,
}

impl RunContext<'_> {
    fn evaluate<T>(
        &self,
        path: &MetricPath,
        eval: impl Fn(&Context<'_>) -> Result<T, Missing>,
    ) -> Result<T, Missing> {
        let record = self.record(self.scheme)?;
        let class = path.measure.class.as_str();
        eval(&Context { record, class, classes: self.grid.classes(), stored: self })
    }

    fn record(&self, scheme: &str) -> Result<&RunRecord, Missing> {
        self.grid.record(self.point, scheme, self.seed).map_err(|gap| match gap {
            MissingValue::Run(which) => Missing::Run(which),
            MissingValue::Value(what) => Missing::Other(what),
        })
    }

    /// Explains why the metric at `path` has no value.
    fn gap(&self, path: &MetricPath, missing: Missing) -> MissingValue {
        let seed = self.seed;
        MissingValue::Value(match missing {
            Missing::Run(which) => return MissingValue::Run(which),
            Missing::Scheme(what) => format!("{path}: {what}"),
            Missing::Seed(what) => format!("{path}: {what}, seed {seed}"),
            Missing::Point(what) => {
                format!("{path}: {what}, seed {seed}, {}", show(&self.grid.points[self.point]))
            }
            Missing::OverTime => format!("{path} is not known over time"),
            Missing::Other(what) => what,
        })
    }
}

impl StoredData for RunContext<'_> {
    fn baseline(&self) -> Result<&RunRecord, Missing> {
        let none = || Missing::Scheme("the experiment has no baseline".to_owned());
        self.record(self.grid.plan.experiment.metrics.baseline.as_deref().ok_or_else(none)?)
    }

    fn table(&self, run: &RunRecord, table: Table) -> io::Result<Vec<RecordBatch>> {
        self.grid.batches(run, table)?.collect()
    }

    fn threshold(&self, ladder: ThresholdSet, number: usize) -> Option<Threshold> {
        let place = self.grid.places.get(&(self.point, self.scheme.to_owned(), self.seed))?;
        Some(thresholds::planned(self.grid.plan.runs.get(*place)?, ladder, number))
    }
}

/// Returns the value of a swept key at a point.
pub(super) fn value_of<'a>(point: &'a Point, key: &str) -> Option<&'a Value> {
    point.iter().find(|(k, _)| k == key).map(|(_, value)| value)
}

/// Whether two values of a swept key are equal; numbers are compared as numbers.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(x), Some(y)) => x == y,
        _ => a == b,
    }
}

/// Formats a point: `group.all.load.value = 0.8`.
pub(super) fn show(point: &Point) -> String {
    let pairs: Vec<String> = point.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    if pairs.is_empty() { "the only point".to_owned() } else { pairs.join(", ") }
}

/// Returns the index of `item`, which is appended if it is new.
fn index_of<T: PartialEq + Clone>(items: &mut Vec<T>, item: &T) -> usize {
    items.iter().position(|i| i == item).unwrap_or_else(|| {
        items.push(item.clone());
        items.len() - 1
    })
}
