//! The runs of a plan that are there, by sweep point, scheme and seed, and metric values in them.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use arrow_array::RecordBatch;
use priolane_core::units::{Span, Time};
use serde_json::Value;

use super::path::{Measure, MetricPath, Of, OfCoflows, Quantity, single_flow, threshold_number};
use super::rules::BySeed;
use super::spec::Spec;
use super::thresholds;
use crate::metrics::{SizeClass, coflows, summarize_flow};
use crate::plan::{Plan, Run};
use crate::results::coflows::CoflowRow;
use crate::results::column::Row;
use crate::results::flows::FlowRow;
use crate::results::record::RunRecord;
use crate::results::rows::Table;
use crate::results::series::SeriesRow;
use crate::results::store::{RunId, Store};
use crate::results::summary::{PortSet, RateRecord, Summary};
use crate::results::tables;

/// A sweep point: value by dotted key, in the order of the sweep.
pub(super) type Point = Vec<(String, Value)>;

/// A plan and the records of those of its runs that are whole.
#[derive(Debug)]
pub(super) struct Grid<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// What is evaluated.
    pub spec: &'a Spec,
    /// Sweep points, in the order of the plan.
    pub points: Vec<Point>,
    /// Seeds, in the order of the plan.
    pub seeds: Vec<u64>,
    /// Schemes, in the order of the plan.
    pub schemes: Vec<String>,
    /// Per run of the plan: its record.
    pub records: Vec<Option<RunRecord>>,
    store: Store,
    places: BTreeMap<(usize, String, u64), usize>,
}

/// A quantity over time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OverTime {
    /// Length of a bin, in seconds.
    pub every: f64,
    /// Of each seed that is there: by bin.
    pub seeds: Vec<Vec<Option<f64>>>,
}

/// Why a metric has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Gap {
    /// A run is not there.
    Run(String),
    /// The run is there, but no flow gives a value, or the metric does not apply.
    Value(String),
}

impl<'a> Grid<'a> {
    /// Loads the runs of `plan` that are whole in `dir`.
    pub(super) fn load(plan: &'a Plan, spec: &'a Spec, dir: &Path) -> Self {
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
        Self { plan, spec, points, seeds, schemes, records, store, places }
    }

    /// The points at which all keys of `at` have the given values.
    pub(super) fn points_at(&self, at: &[(String, Value)]) -> Vec<usize> {
        let matches = |point: &Point| {
            at.iter().all(|(key, value)| value_of(point, key).is_some_and(|v| same(v, value)))
        };
        (0..self.points.len()).filter(|&i| matches(&self.points[i])).collect()
    }

    /// The point that differs from `point` in having the values of `keys`; `None` if the sweep has none.
    pub(super) fn moved(&self, point: usize, keys: &Point) -> Option<usize> {
        let wanted =
            |key: &str, own: &'_ Value, value: &Value| same(value, value_of(keys, key).unwrap_or(own));
        let matches = |other: &Point| {
            self.points[point]
                .iter()
                .all(|(key, own)| value_of(other, key).is_some_and(|value| wanted(key, own, value)))
                && keys.iter().all(|(key, _)| value_of(other, key).is_some())
        };
        (0..self.points.len()).find(|&i| matches(&self.points[i]))
    }

    /// The record of a run; the gap says which run is missing.
    pub(super) fn record(&self, point: usize, scheme: &str, seed: u64) -> Result<&RunRecord, Gap> {
        let place = self.places.get(&(point, scheme.to_owned(), seed));
        let missing = || Gap::Run(format!("{scheme}, seed {seed}, {}", show(&self.points[point])));
        place.and_then(|&place| self.records[place].as_ref()).ok_or_else(missing)
    }

    /// A metric at a point by seed, and why some seeds have no value.
    pub(super) fn by_seed(&self, path: &MetricPath, point: usize) -> (BySeed, Vec<Gap>) {
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

    fn value(&self, path: &MetricPath, point: usize, seed: u64) -> Result<f64, Gap> {
        let Measure { quantity, class } = &path.measure;
        if let Quantity::Thresholds(of) = *quantity {
            return self.threshold(of, path, point, seed);
        }
        let record = self.record(point, &path.scheme, seed)?;
        if let Quantity::Rates(of) = *quantity {
            let rates = rates(record).map_err(|what| Gap::Value(format!("{path}: {what}")))?;
            let none = || Gap::Value(format!("{path}: no value, seed {seed}"));
            return of.of(rates, class, self.over(class)).ok_or_else(none);
        }
        if let Quantity::Coflows(of) = *quantity {
            let none = || Gap::Value(format!("{path}: no value, seed {seed}, {}", show(&self.points[point])));
            return self
                .of_coflows(of, (record, class), (point, seed))
                .and_then(|value| value.ok_or_else(none));
        }
        let missing = |what: &str| Gap::Value(format!("{path}: {what}, seed {seed}"));
        if let Quantity::Effective(of) = *quantity {
            let effective = record.effective.as_ref().ok_or_else(|| missing("no bottleneck is declared"))?;
            return of.of(effective, class).ok_or_else(|| missing("it has none, or has not settled"));
        }
        if let Quantity::Settling(of) = *quantity {
            let settling = record.admission.as_ref().and_then(|admission| admission.settling.as_ref());
            return settling.map(|settling| of.of(settling)).ok_or_else(|| missing("no probability"));
        }
        if let Quantity::Keys(of) = *quantity {
            let keys =
                record.admission.as_ref().map(|admission| &admission.keys).filter(|keys| keys.count > 0);
            return keys.map(|keys| of.of(keys)).ok_or_else(|| missing("no probability"));
        }
        if *quantity == Quantity::Probability {
            let last = self.probabilities(record, class).and_then(|(_, bins)| bins.last().copied());
            return last.ok_or_else(|| missing("no probability"));
        }
        if let Quantity::Order(cost) = *quantity {
            let order = record.order.as_ref();
            let value = order.and_then(|order| cost.of(order));
            return value.ok_or_else(|| Gap::Value(format!("{path}: no value, seed {seed}")));
        }
        if let Quantity::Ports(of) = *quantity {
            let set = PortSet::named(class).and_then(|set| record.ports.get(&set));
            return set
                .and_then(|set| of.of(set))
                .ok_or_else(|| Gap::Value(format!("{path}: no value, seed {seed}")));
        }
        if let Some(value) = quantity.of_run(record) {
            return value.ok_or_else(|| Gap::Value(format!("{path}: no value, seed {seed}")));
        }
        let own = self.summary(record, class)?;
        let baseline = match (quantity, &self.spec.baseline) {
            (Quantity::FctRatio, _) => match self.over(class) {
                Some(over) => Some(self.summary(record, over)?),
                None => return Err(Gap::Value(format!("{path}: class `{class}` is not `over` another"))),
            },
            (Quantity::Gain, Some(scheme)) => Some(self.summary(self.record(point, scheme, seed)?, class)?),
            (Quantity::Gain, None) => {
                return Err(Gap::Value(format!("{path}: the experiment has no baseline")));
            }
            _ => None,
        };
        let none =
            || Gap::Value(format!("{path}: no finished flow, seed {seed}, {}", show(&self.points[point])));
        quantity.of(&own, baseline.as_ref()).ok_or_else(none)
    }

    fn of_coflows(
        &self,
        of: OfCoflows,
        (record, class): (&RunRecord, &str),
        (point, seed): (usize, u64),
    ) -> Result<Option<f64>, Gap> {
        let baseline = match (&self.spec.baseline, of.is_relative()) {
            (Some(scheme), true) => Some(self.record(point, scheme, seed)?),
            (None, true) => return Err(Gap::Value("the experiment has no baseline".to_owned())),
            (_, false) => None,
        };
        if let (OfCoflows::SpeedUp, Some(baseline)) = (of, baseline) {
            let gap = |e: io::Error| Gap::Value(format!("run {}: {e}", record.run));
            return self.speed_up(record, baseline, class).map_err(gap);
        }
        Ok(record.coflows.get(class).and_then(|own| of.of(own, baseline.and_then(|b| b.coflows.get(class)))))
    }

    /// How many times as long coflows of `class` take in `slow` as in `fast`.
    fn speed_up(&self, fast: &RunRecord, slow: &RunRecord, class: &str) -> io::Result<Option<f64>> {
        if fast.coflows.is_empty() || slow.coflows.is_empty() {
            return Ok(None);
        }
        let batches = |record| self.batches(record, Table::Coflows)?.collect::<io::Result<Vec<_>>>();
        let (fast, slow) = (batches(fast)?, batches(slow)?);
        let all = SizeClass::all();
        let class = self.spec.classes.iter().find(|c| c.name == class).unwrap_or(&all);
        Ok(coflows::speed_up(&rows::<CoflowRow>(&fast)?, &rows::<CoflowRow>(&slow)?, class))
    }

    /// The batches of a table of a stored run.
    fn batches(
        &self,
        record: &RunRecord,
        table: Table,
    ) -> io::Result<impl Iterator<Item = io::Result<RecordBatch>> + use<>> {
        let id = RunId::new(&record.run).ok_or(io::ErrorKind::InvalidInput)?;
        tables::read(&self.store.path(&id), table)
    }

    /// Length of bins, and mean probability by bin, of flows that ask for the class that `class` names.
    fn probabilities<'r>(&self, record: &'r RunRecord, class: &str) -> Option<(f64, &'r [f64])> {
        let asked = self.spec.classes.iter().find(|own| own.name == class)?.asked?;
        let over_time = record.admission.as_ref()?.over_time.as_ref()?;
        let own = over_time.classes.iter().find(|own| own.class == asked)?;
        Some((over_time.every_s, &own.mean_p))
    }

    /// The class that ratios of `class` are relative to.
    fn over(&self, class: &str) -> Option<&str> {
        self.spec.classes.iter().find(|c| c.name == class)?.over.as_deref()
    }

    /// A quantity over time.
    pub(super) fn over_time(&self, path: &MetricPath, point: usize) -> Result<OverTime, Gap> {
        let Measure { quantity, class } = &path.measure;
        let mut seeds = Vec::new();
        let mut every = 0.0;
        for &seed in &self.seeds {
            let Ok(record) = self.record(point, &path.scheme, seed) else { continue };
            let wrong = |what: String| Gap::Value(format!("{path}: {what}"));
            let values = match (quantity, &record.effective) {
                (Quantity::Effective(of), Some(effective)) => {
                    every = effective.every_s;
                    of.over_time(effective, class)
                }
                (Quantity::Rates(of), _) => {
                    let rates = rates(record).map_err(wrong)?;
                    every = rates.every_s;
                    of.over_time(rates, class)
                }
                (Quantity::Probability, _) => self.probabilities(record, class).map(|(bin, means)| {
                    every = bin;
                    means.iter().copied().map(Some).collect()
                }),
                _ => None,
            };
            seeds.push(values.ok_or_else(|| Gap::Value(format!("{path} is not known over time")))?);
        }
        Ok(OverTime { every, seeds })
    }

    fn threshold(&self, of: Of, path: &MetricPath, point: usize, seed: u64) -> Result<f64, Gap> {
        let MetricPath { measure, scheme } = path;
        let record = self.record(point, scheme, seed)?;
        let run =
            self.places.get(&(point, scheme.clone(), seed)).and_then(|&place| self.plan.runs.get(place));
        let number = threshold_number(&measure.class);
        let (Some(run), Some(number)) = (run, number) else {
            return Err(Gap::Value(format!("{path}: `{}` is no threshold's number", measure.class)));
        };
        let history = thresholds::History::of(run, of.ladder(), number);
        let told = |name: &str| self.told(record, name);
        history.value(of, told).map_err(|what| Gap::Value(format!("{path}: {what}")))
    }

    /// When a controller told a threshold, and its bytes, in order of time.
    fn told(&self, record: &RunRecord, name: &str) -> io::Result<Vec<(Time, f64)>> {
        let mut told = Vec::new();
        for batch in self.batches(record, Table::Series)? {
            let batch = batch?;
            let rows = SeriesRow::read(&batch)?;
            told.extend(rows.iter().filter(|row| row.metric == name).map(|row| (Time(row.t_ps), row.value)));
        }
        Ok(told)
    }

    fn summary(&self, record: &RunRecord, class: &str) -> Result<Summary, Gap> {
        if let Some(summary) = record.summary.get(class) {
            return Ok(*summary);
        }
        let unknown =
            || Gap::Value(format!("`{class}` is neither a size class nor a flow of run {}", record.run));
        let flow = single_flow(class).ok_or_else(unknown)?;
        let span = |ps: Option<u64>| ps.map(Span);
        let of = |row: &FlowRow| {
            let ends = (span(row.fct_ps), span(row.fct_acked_ps));
            (row.flow == flow).then(|| summarize_flow(ends, span(row.bare_fct_ps), row.slowdown))
        };
        let found = self.flows(record, of).map_err(|e| Gap::Value(format!("run {}: {e}", record.run)))?;
        found.first().copied().ok_or_else(unknown)
    }

    /// What `value` makes of the flows of a stored run, by id.
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

    /// Whether both engines agreed on a stored run.
    pub(super) fn is_verified(&self, record: &RunRecord) -> bool {
        RunId::new(&record.run).is_some_and(|id| self.store.is_verified(&id))
    }
}

/// The rows of all batches of a table.
fn rows<'a, R: Row<'a>>(batches: &'a [RecordBatch]) -> io::Result<Vec<R>> {
    let mut rows = Vec::new();
    for batch in batches {
        rows.extend(R::read(batch)?);
    }
    Ok(rows)
}

fn rates(record: &RunRecord) -> Result<&RateRecord, String> {
    record.rates.as_ref().ok_or_else(|| "no flow is without end, or `rates_every` is not stated".to_owned())
}

/// The value of a sweep key at a point.
pub(super) fn value_of<'a>(point: &'a Point, key: &str) -> Option<&'a Value> {
    point.iter().find(|(k, _)| k == key).map(|(_, value)| value)
}

/// Whether two values of a sweep key are the same, numbers compared as numbers.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(x), Some(y)) => x == y,
        _ => a == b,
    }
}

/// A point for people: `group.all.load.value = 0.8`.
pub(super) fn show(point: &Point) -> String {
    let pairs: Vec<String> = point.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    if pairs.is_empty() { "the only point".to_owned() } else { pairs.join(", ") }
}

/// The place of `item`, appended if it is new.
fn index_of<T: PartialEq + Clone>(items: &mut Vec<T>, item: &T) -> usize {
    items.iter().position(|i| i == item).unwrap_or_else(|| {
        items.push(item.clone());
        items.len() - 1
    })
}
