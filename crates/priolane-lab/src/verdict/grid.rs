//! The available runs of a plan by sweep point, scheme and seed, and metric values in them.

use priolane_core::endpoint::ThresholdSet;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use priolane_results::RecordBatch;
use serde_json::{Map, Value};

use super::rules::BySeed;
use super::thresholds;
use crate::experiment::Experiment;
use crate::metrics::SizeClass;
use crate::metrics::estimate::Nature;
use crate::metrics::ladder::Threshold;
use crate::metrics::metric::{Bins, Context, Metric, Missing, Need, Runs, StoredData};
use crate::metrics::path::MetricPath;
use crate::metrics::pooled::Part;
use crate::plan::{GroupOffer, Plan, Run};
use priolane_results::column::Row;
use priolane_results::flows::FlowRow;
use priolane_results::record::RunRecord;
use priolane_results::rows::Table;
use priolane_results::store::{RunId, Store};
use priolane_results::tables::Batches;

/// A sweep point: dotted keys and values, in the order of the sweep.
pub(super) type Point = Vec<(String, Value)>;

/// A plan and the records of its complete runs.
#[derive(Debug)]
pub(super) struct Grid<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Sweep points without the keys that metrics average over, in the order of the plan.
    pub points: Vec<Point>,
    /// Seeds, in the order of the plan.
    pub seeds: Vec<u64>,
    /// Schemes, in the order of the plan.
    pub schemes: Vec<String>,
    /// Record of each run of the plan, if complete.
    pub records: Vec<Option<RunRecord>>,
    /// Records of the complete runs of groups alone, by id.
    pub alone: BTreeMap<String, RunRecord>,
    store: Store,
    /// The runs of a point, scheme and seed: one for each combination of values that metrics average over.
    places: BTreeMap<(usize, String, u64), Vec<usize>>,
    /// Whether seeds change the results.
    over_seeds: Runs,
}

/// The reason why a metric has no value.
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
        let alone = plan.alone.runs.iter().filter_map(|run| Some((run.id.clone(), record(run)?))).collect();
        let (mut points, mut seeds, mut schemes) = (Vec::new(), Vec::new(), Vec::new());
        let mut places: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        let averaged = plan.experiment.metrics.averaged_keys();
        for (place, run) in plan.runs.iter().enumerate() {
            let kept = run.point.iter().filter(|(key, _)| !averaged.contains(key)).cloned().collect();
            let point = index_of(&mut points, &kept);
            index_of(&mut seeds, &run.seed);
            index_of(&mut schemes, &run.scheme);
            places.entry((point, run.scheme.clone(), run.seed)).or_default().push(place);
        }
        let over_seeds = Runs::Differ;
        let grid = Self { plan, points, seeds, schemes, records, alone, store, places, over_seeds };
        let over_seeds = if grid.seeds_change_nothing() { Runs::Same } else { Runs::Differ };
        Self { over_seeds, ..grid }
    }

    /// Returns the nature of the values of a metric over the seeds of the plan.
    pub(super) fn nature(&self, metric: &Metric) -> Nature {
        metric.nature_over_seeds(self.over_seeds)
    }

    /// Whether all seeds have the same results at each point and with each scheme, as far as runs are complete.
    fn seeds_change_nothing(&self) -> bool {
        let digests = |point, scheme: &str, seed| -> Option<Vec<&str>> {
            let records = self.records_of(point, scheme, seed)?;
            Some(records.into_iter().map(|record| record.digest.as_str()).collect())
        };
        let is_same = |point, scheme: &String| {
            let mut of_seeds = self.seeds.iter().filter_map(|&seed| digests(point, scheme, seed));
            let first = of_seeds.next();
            of_seeds.all(|other| Some(&other) == first.as_ref())
        };
        (0..self.points.len()).all(|point| self.schemes.iter().all(|scheme| is_same(point, scheme)))
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

    /// Returns a planned run of a point; `None` if the plan has no run there.
    fn run_at(&self, point: usize) -> Option<&'a Run> {
        let (_, places) = self.places.iter().find(|((of, ..), _)| *of == point)?;
        places.first().map(|&place| &self.plan.runs[place])
    }

    /// Returns the merged experiment of a point; `None` if the plan has no run there.
    pub(super) fn experiment_at(&self, point: usize) -> Option<&'a Experiment> {
        self.run_at(point).map(|run| run.experiment.as_ref())
    }

    /// Returns what each group with a stated load offers at a point; none if the plan has no run there.
    pub(super) fn offers_at(&self, point: usize) -> &'a [GroupOffer] {
        self.run_at(point).map_or(&[], |run| &run.offers)
    }

    /// Returns the places of the runs of a scheme at a point with a seed.
    fn places(&self, point: usize, scheme: &str, seed: u64) -> &[usize] {
        self.places.get(&(point, scheme.to_owned(), seed)).map_or(&[], Vec::as_slice)
    }

    /// Returns the records of all runs of a scheme at a point with a seed; `None` unless all are complete.
    pub(super) fn records_of(&self, point: usize, scheme: &str, seed: u64) -> Option<Vec<&RunRecord>> {
        let places = self.places(point, scheme, seed);
        let records: Option<Vec<&RunRecord>> =
            places.iter().map(|&place| self.records[place].as_ref()).collect();
        records.filter(|records| !records.is_empty())
    }

    /// Returns the records of all complete runs of a scheme at a point, over all seeds.
    pub(super) fn records_at(&self, point: usize, scheme: &str) -> Vec<&RunRecord> {
        self.seeds.iter().filter_map(|&seed| self.records_of(point, scheme, seed)).flatten().collect()
    }

    /// Returns the record of a run of groups alone, which may be one of the grid; `None` if it is not complete.
    fn alone_record(&self, id: &str) -> Option<&RunRecord> {
        self.alone.get(id).or_else(|| self.records.iter().flatten().find(|record| record.run == id))
    }

    /// Returns the schemes from whose runs a metric is computed: its own and, for a gain, the baseline.
    pub(super) fn schemes_of<'p>(&'p self, path: &'p MetricPath) -> impl Iterator<Item = &'p str> {
        let own = path.scheme.as_str();
        let baseline = self.plan.experiment.metrics.baseline.as_deref();
        let needed = path.measure.metric.needs.contains(&Need::Baseline);
        std::iter::once(own).chain(baseline.filter(move |&name| needed && name != own))
    }

    /// Returns the runs of a scheme at a point with a seed, complete or not; one if there are none, which reports that.
    fn runs<'g>(&'g self, point: usize, scheme: &'g str, seed: u64) -> impl Iterator<Item = RunContext<'g>> {
        let count = self.places(point, scheme, seed).len().max(1);
        (0..count).map(move |nth| RunContext { grid: self, scheme, point, seed, nth })
    }

    /// Returns a metric at a point by seed, and why some seeds have no value. With several runs of a seed, it is their
    /// mean, and of a quotient that of the means. Means of a steady state are such that their geometric mean over seeds is
    /// a ratio of sums (`metrics::pooled`).
    pub(super) fn by_seed(&self, path: &MetricPath, point: usize) -> (BySeed, Vec<MissingValue>) {
        let (mut seeds, mut gaps) = (Vec::new(), Vec::new());
        let (mut of, mut over) = (Vec::new(), Vec::new());
        for &seed in &self.seeds {
            match self.parts(path, point, seed) {
                Ok((own, per)) => {
                    seeds.push(seed);
                    of.push(own);
                    over.push(per);
                }
                Err(gap) => gaps.push(gap),
            }
        }
        let values =
            Part::over_seeds(&of).into_iter().zip(Part::over_seeds(&over)).map(|(of, over)| of / over);
        (seeds.into_iter().zip(values).collect(), gaps)
    }

    /// Returns both parts of a metric for a seed; of one that is not a quotient, the second is 1.
    fn parts(&self, path: &MetricPath, point: usize, seed: u64) -> Result<(Part, Part), MissingValue> {
        let runs: Vec<RunContext<'_>> = self.runs(point, &path.scheme, seed).collect();
        let metric = path.measure.metric;
        let values = match metric.quotient {
            Some(parts) => evaluate_all(&runs, path, parts)?,
            None => evaluate_all(&runs, path, metric.eval)?.into_iter().map(|value| (value, 1.0)).collect(),
        };
        let arrivals = |run: &RunContext<'_>| {
            run.evaluate(path, |context| Ok(metric.arrivals.and_then(|arrivals| arrivals(context)))).ok()?
        };
        let arrivals: Option<Vec<(f64, f64)>> = runs.iter().map(arrivals).collect();
        let (of, over): (Vec<f64>, Vec<f64>) = values.into_iter().unzip();
        let (of_arrivals, over_arrivals): (Option<Vec<f64>>, Option<Vec<f64>>) =
            arrivals.map(|all| all.into_iter().unzip()).unzip();
        Ok((Part::of(&of, of_arrivals.as_deref()), Part::of(&over, over_arrivals.as_deref())))
    }

    /// Returns a metric over time, for each seed whose runs are all complete. With several runs of a seed, each bin is
    /// their mean.
    pub(super) fn over_time(&self, path: &MetricPath, point: usize) -> Result<Vec<Bins>, MissingValue> {
        let bins = path.measure.metric.over_time.unwrap_or(|_| Err(Missing::OverTime));
        let mut seeds = Vec::new();
        for &seed in &self.seeds {
            if self.records_of(point, &path.scheme, seed).is_none() {
                continue;
            }
            let runs: Vec<RunContext<'_>> = self.runs(point, &path.scheme, seed).collect();
            seeds.extend(Bins::mean(&evaluate_all(&runs, path, bins)?));
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
    fn batches(&self, record: &RunRecord, table: Table) -> io::Result<Batches> {
        self.store.table(&RunId::new(&record.run).ok_or(io::ErrorKind::InvalidInput)?, table)
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
    /// The index of the run among the runs of this seed.
    nth: usize,
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

    /// Returns the place of this run, or of that of another scheme with the same values that metrics average over.
    fn place(&self, scheme: &str) -> Option<usize> {
        self.grid.places(self.point, scheme, self.seed).get(self.nth).copied()
    }

    fn record(&self, scheme: &str) -> Result<&RunRecord, Missing> {
        let place = self.place(scheme);
        place.and_then(|place| self.grid.records[place].as_ref()).ok_or_else(|| {
            let point =
                place.map_or(&self.grid.points[self.point], |place| &self.grid.plan.runs[place].point);
            Missing::Run(format!("{scheme}, seed {}, {}", self.seed, show(point)))
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

/// Evaluates a metric in each of `runs`.
fn evaluate_all<T>(
    runs: &[RunContext<'_>],
    path: &MetricPath,
    eval: impl Fn(&Context<'_>) -> Result<T, Missing>,
) -> Result<Vec<T>, MissingValue> {
    runs.iter().map(|run| run.evaluate(path, &eval).map_err(|missing| run.gap(path, missing))).collect()
}

impl StoredData for RunContext<'_> {
    fn baseline(&self) -> Result<&RunRecord, Missing> {
        let none = || Missing::Scheme("the experiment has no baseline".to_owned());
        self.record(self.grid.plan.experiment.metrics.baseline.as_deref().ok_or_else(none)?)
    }

    fn alone(&self, class: &str) -> Result<&RunRecord, Missing> {
        let own = self.record(self.scheme)?;
        let none = || Missing::Scheme(format!("no metric of the experiment asks for class {class} alone"));
        let id = self.grid.plan.alone.id(&own.run, class).ok_or_else(none)?;
        let missing =
            || Missing::Run(format!("{}, seed {}, with class {class} alone", self.scheme, self.seed));
        self.grid.alone_record(id).ok_or_else(missing)
    }

    fn table(&self, run: &RunRecord, table: Table) -> io::Result<Vec<RecordBatch>> {
        self.grid.batches(run, table)?.collect()
    }

    fn threshold(&self, ladder: ThresholdSet, number: usize) -> Option<Threshold> {
        Some(thresholds::planned(self.grid.plan.runs.get(self.place(self.scheme)?)?, ladder, number))
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
