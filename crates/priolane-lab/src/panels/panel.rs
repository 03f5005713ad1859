//! Defines panels, their kinds and their data.

use priolane_core::keys::{
    Bounds, Form, KeyConflict, KeyError, Keys, NonEmpty, Schema, Value as KeyedValue, Words, WrittenValue,
};
use serde::Serialize;
use serde_json::{Map, Value};

use super::published::{Curve, Overlay};
use crate::metrics::estimate::Estimate;
use crate::metrics::metric::Bins;
use crate::metrics::path::{Measure, MetricPath};
use priolane_results::flows::FlowRow;

/// A kind of panel. Two kinds are equal if their names are.
#[derive(Clone, Copy, Debug)]
pub struct PanelKind {
    /// Name in experiment files and reports.
    pub name: &'static str,
    /// One-line description of what it shows.
    pub summary: &'static str,
    /// Whether x must be given.
    pub x: X,
    /// The properties of flows that may be along x in place of a swept key.
    pub by: &'static [By],
    /// The quantities that the axes show.
    pub axes: Axes,
    /// Whether published curves can be drawn behind its own values.
    pub overlay: Overlay,
    /// Computes the marks of a panel for its report. An error says why there are none.
    pub fill: fn(&PanelInput<'_>, &mut PanelReport) -> Result<(), String>,
}

/// Whether a panel's x, a swept key or `time`, must be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum X {
    /// It must be given.
    Required,
    /// It may be given.
    Optional,
    /// It must not be given.
    Absent,
}

/// The property of flows that is along x: a panel then has a statistic of the flows in bins of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum By {
    /// The flow size, in bins with equal numbers of flows.
    Size,
}

/// The quantities that the axes of a panel show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axes {
    /// Values of any number of metrics.
    Values,
    /// One metric along x, another along y, and optionally a third as the area of dots.
    Metrics,
}

impl PartialEq for PanelKind {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// `[[panel]]`: one part of a figure.
#[derive(Clone, Debug, PartialEq, Keys)]
#[keys(check = Self::check)]
pub struct Panel {
    /// Title.
    #[key(required = "title = \"Mean FCT\"")]
    pub title: String,
    /// Kind of plot.
    #[key(required = "kind = \"line\"")]
    pub kind: &'static PanelKind,
    /// The swept key on the x axis, or `time`; required for `line` and `heat_map`.
    #[key(optional)]
    pub x: Option<String>,
    /// For `line`, in place of `x`: the property of flows along x. `size`: `fct`, `slowdown` or a percentile of them against
    /// flow size, in at most eight bins with equal numbers of flows.
    #[key(optional)]
    pub by: Option<By>,
    /// Label of the x axis.
    #[key(optional, shown = "depends on x")]
    pub x_label: Option<String>,
    /// The metric to plot: `quantity.class`, such as `fct.all`; or use `metrics`.
    #[key(optional, names = "metric")]
    pub metric: Option<String>,
    /// The metrics to plot, at least one, if there are several.
    #[key(default = Vec::new(), shown = "metric", form = NonEmpty, names = "metric")]
    pub metrics: Vec<String>,
    /// The schemes to plot.
    #[key(optional, shown = "all", form = NonEmpty, names = "scheme")]
    pub schemes: Option<Vec<String>>,
    /// Label of the y axis.
    #[key(optional, shown = "depends on metric")]
    pub y_label: Option<String>,
    /// Whether the y axis is logarithmic.
    #[key(optional, shown = "where values are positive and span more than two decades")]
    pub log_y: Option<bool>,
    /// Position of a horizontal reference line.
    #[key(optional)]
    pub reference: Option<f64>,
    /// The sweep points to which it is restricted: swept keys and their values.
    #[key(default = Map::new(), skip_default, shown = "all", form = SweptValues)]
    pub at: Map<String, Value>,
    /// For `scatter`: the point at which the metrics of the x axis and the area are evaluated, if it differs.
    #[key(default = Map::new(), skip_default, shown = "as y", form = SweptValues)]
    pub x_at: Map<String, Value>,
    /// For `scatter`: the point at which the metric of the y axis is evaluated, if it differs.
    #[key(default = Map::new(), skip_default, shown = "as x", form = SweptValues)]
    pub y_at: Map<String, Value>,
    /// For `scatter`: slopes of reference lines through the origin.
    #[key(default = Vec::<f64>::new(), skip_default, shown = "none", range = "(0, )")]
    pub rays: Vec<f64>,
    /// For `line`, `bar` or `cdf`: path of a CSV file with the values that a paper printed, drawn faintly.
    #[key(optional, shown = "none")]
    pub published: Option<String>,
    /// Curves of that file.
    #[keys(skip)]
    pub curves: Vec<Curve>,
}

impl Panel {
    /// Checks that one of `metric` and `metrics` is given and stores it in `metrics`; a `scatter` has two or three, and
    /// its own keys.
    fn check(&mut self) -> Result<(), KeyConflict> {
        self.one_of_both()?;
        self.one_along_x()?;
        let own = [
            ("x_at", !self.x_at.is_empty()),
            ("y_at", !self.y_at.is_empty()),
            ("rays", !self.rays.is_empty()),
        ];
        if self.published.is_some() && self.kind.overlay == Overlay::Absent {
            let what = format!("a panel of kind {:?} does not have this key", self.kind.name);
            return Err(KeyConflict::of(
                "published",
                what,
                "kind = \"line\", \"bar\" or \"cdf\", or remove the key",
            ));
        }
        match (self.kind.axes, own.into_iter().find(|(_, stated)| *stated)) {
            (Axes::Values, Some((key, _))) => {
                let what = format!("a panel of kind {:?} does not have this key", self.kind.name);
                Err(KeyConflict::of(key, what, "kind = \"scatter\", or remove the key"))
            }
            (Axes::Metrics, _) if !(2..=3).contains(&self.metrics.len()) => {
                let what =
                    format!("a scatter panel has {} metrics instead of two or three", self.metrics.len());
                let fix = "metrics = [\"o1.all\", \"o2.all\"]: for x, for y, and optionally one for the \
                           area of dots";
                Err(KeyConflict::of("metrics", what, fix))
            }
            _ => Ok(()),
        }
    }

    /// Checks that a panel by a property of flows has no swept key along x, and is of a kind that can have one.
    fn one_along_x(&self) -> Result<(), KeyConflict> {
        let Some(by) = self.by else { return Ok(()) };
        if !self.kind.by.contains(&by) {
            let what = format!("a panel of kind {:?} does not have this key", self.kind.name);
            return Err(KeyConflict::of("by", what, "kind = \"line\", or remove the key"));
        }
        match self.x {
            Some(_) => Err(KeyConflict::of("by", "both x and by are set", "either x or by")),
            None => Ok(()),
        }
    }

    fn one_of_both(&mut self) -> Result<(), KeyConflict> {
        match (self.metric.take(), self.metrics.is_empty()) {
            (Some(one), true) => self.metrics.push(one),
            (None, false) => {}
            (None, true) => {
                return Err(KeyConflict::new("no metric is set", "metric = \"fct.all\" or metrics = [...]"));
            }
            (Some(_), false) => {
                return Err(KeyConflict::of(
                    "metrics",
                    "both metric and metrics are set",
                    "either metric or metrics",
                ));
            }
        }
        Ok(())
    }
}

/// Reads values by swept key: `{ "group.all.load.value" = 0.8 }`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SweptValues;

impl Form<Map<String, Value>> for SweptValues {
    const UNIT: &'static str = "";

    fn read(value: &KeyedValue<'_>, _: &Bounds) -> Result<Map<String, Value>, KeyError> {
        match json(value) {
            Value::Object(map) => Ok(map),
            _ => Err(value.unfit("a table such as { key = value }")),
        }
    }

    fn write(map: &Map<String, Value>) -> WrittenValue {
        WrittenValue::Table(map.iter().map(|(key, value)| (key.clone(), written(value))).collect())
    }

    fn schema() -> Schema {
        Schema::Map("group.all.load.value", Box::new(Schema::Any))
    }
}

fn json(value: &KeyedValue<'_>) -> Value {
    match value {
        KeyedValue::Bool(truth) => Value::from(*truth),
        KeyedValue::Integer(n) => Value::from(*n),
        KeyedValue::Float(x) => Value::from(*x),
        KeyedValue::Text(text) => Value::from(*text),
        KeyedValue::List(items) => Value::Array(items.iter().map(json).collect()),
        KeyedValue::Table(entries) => {
            Value::Object(entries.iter().map(|(key, value)| ((*key).to_owned(), json(value))).collect())
        }
    }
}

fn written(value: &Value) -> WrittenValue {
    match value {
        Value::Null => WrittenValue::Table(Vec::new()),
        Value::Bool(truth) => WrittenValue::Bool(*truth),
        Value::Number(n) => match (n.as_u64(), n.as_i64()) {
            (Some(n), _) => WrittenValue::Integer(n),
            (None, Some(n)) => WrittenValue::Negative(n),
            (None, None) => WrittenValue::Float(n.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => WrittenValue::Text(text.clone()),
        Value::Array(items) => WrittenValue::List(items.iter().map(written).collect()),
        Value::Object(map) => {
            WrittenValue::Table(map.iter().map(|(key, value)| (key.clone(), written(value))).collect())
        }
    }
}

/// A panel with its data.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PanelReport {
    /// Title.
    pub title: String,
    /// Name of its kind.
    pub kind: &'static str,
    /// The swept key along x, if x is one.
    pub x: Option<String>,
    /// The property of flows along x, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<&'static str>,
    /// Label of the x axis.
    pub x_label: Option<String>,
    /// Label of the y axis.
    pub y_label: Option<String>,
    /// Whether the y axis is logarithmic; `None` leaves it to the painter.
    pub log_y: Option<bool>,
    /// The metrics drawn, as `quantity.class`.
    pub metrics: Vec<String>,
    /// Position of a horizontal reference line.
    pub reference: Option<f64>,
    /// Slopes of reference lines through the origin.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rays: Vec<f64>,
    /// The values along x, in order: those of the swept key, or the names of metrics; empty for `cdf`, and if `by` is set.
    pub x_values: Vec<Value>,
    /// The series of marks.
    pub series: Vec<Series>,
    /// Published curves.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<Curve>,
}

impl PanelReport {
    /// Returns the report of a panel without marks.
    pub fn empty(panel: &Panel) -> Self {
        Self {
            title: panel.title.clone(),
            kind: panel.kind.name,
            x: panel.x.clone(),
            by: panel.by.map(|By::Size| "size"),
            x_label: panel.x_label.clone(),
            y_label: panel.y_label.clone(),
            log_y: panel.log_y,
            metrics: panel.metrics.clone(),
            reference: panel.reference,
            rays: panel.rays.clone(),
            x_values: Vec::new(),
            series: Vec::new(),
            published: panel.curves.clone(),
        }
    }
}

/// The marks of one scheme.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// Name of the scheme.
    pub scheme: String,
    /// Name of the metric; `*` for bars by metric.
    pub quantity: String,
    /// Class of flows; `*` for bars by metric.
    pub class: String,
    /// Swept keys that are constant along the series.
    pub at: Map<String, Value>,
    /// Its marks.
    pub points: Vec<Mark>,
}

impl Series {
    /// Returns the marks of a metric as a series.
    pub(super) fn of(path: &MetricPath, at: Map<String, Value>, points: Vec<Mark>) -> Self {
        let MetricPath { measure, scheme } = path;
        let (quantity, class) = (measure.metric.name.to_owned(), measure.class.clone());
        Self { scheme: scheme.clone(), quantity, class, at, points }
    }
}

/// One mark. In a `cdf`, x is the value and mean is the fraction of flows at or below it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mark {
    /// Position along x.
    pub x: Value,
    /// Mean and confidence interval over seeds; the mean is null if runs or values are missing.
    #[serde(flatten)]
    pub y: Estimate,
    /// Additional data of a dot in a `scatter`.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub dot: Option<Dot>,
}

impl Mark {
    /// Returns a mark at `x`.
    pub(super) fn new(x: Value, y: Estimate) -> Self {
        Self { x, y, dot: None }
    }
}

/// Data of a dot besides its y.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Dot {
    /// Mean and confidence interval of the metric along x.
    pub x_interval: Estimate,
    /// Metric shown by its area; null if there is none.
    pub size: Option<Estimate>,
    /// Value of the swept key along which dots are joined; null without one.
    pub along: Option<Value>,
}

/// The inputs of a panel: metrics of schemes at sweep points.
pub struct PanelInput<'a> {
    /// The panel.
    pub panel: &'a Panel,
    /// Its metrics.
    pub measures: Vec<Measure>,
    /// Its schemes.
    pub schemes: &'a [String],
    /// Indices of its sweep points, at least one.
    pub points: Vec<usize>,
    /// Source of values.
    pub values: &'a dyn Values,
}

impl std::fmt::Debug for PanelInput<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Drawn").field("panel", &self.panel.title).field("points", &self.points).finish()
    }
}

impl PanelInput<'_> {
    /// Returns the paths of a metric, one per scheme.
    pub(super) fn paths<'a>(&'a self, measure: &'a Measure) -> impl Iterator<Item = MetricPath> + 'a {
        let path = |scheme: &String| MetricPath { measure: measure.clone(), scheme: scheme.clone() };
        self.schemes.iter().map(path)
    }
}

/// Metrics of runs.
pub trait Values {
    /// Returns the swept keys and values of a point.
    fn at(&self, point: usize) -> Map<String, Value>;

    /// Groups points that differ only in the swept key `along`, each group in increasing order of it, with the keys
    /// that are constant.
    fn lines(&self, points: &[usize], along: &str) -> Vec<(Map<String, Value>, Vec<usize>)>;

    /// Returns the point that equals `point` except for the values of `keys`; `None` if the sweep has none.
    fn moved(&self, point: usize, keys: &Map<String, Value>) -> Option<usize>;

    /// Returns mean and confidence interval over seeds.
    fn mean(&self, path: &MetricPath, point: usize) -> Estimate;

    /// Returns the metric over time, for each available seed.
    ///
    /// # Errors
    /// Returns an error if the metric has no value over time.
    fn over_time(&self, path: &MetricPath, point: usize) -> Result<Vec<Bins>, String>;

    /// Evaluates `value` for the measured flows of the path's class, for each available seed.
    ///
    /// # Errors
    /// Returns an error if the class is not a size class, or a table cannot be read.
    fn flows(
        &self,
        path: &MetricPath,
        point: usize,
        value: fn(&FlowRow<'_>) -> Option<f64>,
    ) -> Result<Vec<Vec<FlowValue>>, String>;
}

/// A value of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowValue {
    /// Payload bytes of the flow.
    pub bytes: u64,
    /// The value.
    pub value: f64,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn swept_values_are_written_as_they_were_read() {
        let list = KeyedValue::List(vec![KeyedValue::Text("x"), KeyedValue::Bool(true)]);
        let table = KeyedValue::Table(vec![("e", KeyedValue::Integer(2))]);
        let values =
            vec![("a", KeyedValue::Integer(-1)), ("b", KeyedValue::Float(0.5)), ("c", list), ("d", table)];
        let read = SweptValues::read(&KeyedValue::Table(values), &Bounds::ANY).unwrap();
        let expected = json!({ "a": -1, "b": 0.5, "c": ["x", true], "d": { "e": 2 } });
        assert_eq!(Value::from(read.clone()), expected);
        assert_eq!(serde_json::to_value(SweptValues::write(&read)).unwrap(), expected);
        assert!(SweptValues::read(&KeyedValue::Integer(1), &Bounds::ANY).is_err());
    }
}
