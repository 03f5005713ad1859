//! What a panel is, and what a kind of panel makes of it.

use priolane_core::keys::{
    Bounds, Filled, Form, KeyError, Keys, Misfit, Schema, Value as KeyedValue, Written,
};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::metrics::interval::Interval;
use crate::metrics::metric::Bins;
use crate::metrics::path::{Measure, MetricPath};
use priolane_results::flows::FlowRow;

/// A kind of panel. Two kinds are equal if their names are.
#[derive(Clone, Copy, Debug)]
pub struct PanelKind {
    /// Its name in experiment files and reports.
    pub name: &'static str,
    /// What it draws, in one line.
    pub summary: &'static str,
    /// Whether x must be stated.
    pub x: X,
    /// What its axes show.
    pub axes: Axes,
    /// Puts the marks of a panel into its report. An error says why there are none.
    pub fill: fn(&Drawn<'_>, &mut PanelReport) -> Result<(), String>,
}

/// Whether a panel's x, a swept key or `time`, must be stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum X {
    /// It must.
    Required,
    /// It need not.
    Optional,
    /// There is none.
    Absent,
}

/// What the axes of a panel show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axes {
    /// Values of any number of metrics.
    Values,
    /// One metric along x, another along y, and perhaps a third as the area of dots.
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
    /// Its title.
    #[key(required = "title = \"Mean FCT\"")]
    pub title: String,
    /// How it is drawn.
    #[key(required = "kind = \"line\"")]
    pub kind: &'static PanelKind,
    /// The swept key on the x axis, or `time`; `line` and `heat_map` must have one.
    #[key(optional)]
    pub x: Option<String>,
    /// Text at the x axis.
    #[key(optional, shown = "by x")]
    pub x_label: Option<String>,
    /// What is drawn: `quantity.class`, such as `fct.all`; or `metrics`.
    #[key(optional)]
    pub metric: Option<String>,
    /// What is drawn, where it is several metrics: at least one.
    #[key(default = Vec::new(), shown = "metric", form = Filled)]
    pub metrics: Vec<String>,
    /// The schemes drawn.
    #[key(optional, shown = "all", form = Filled)]
    pub schemes: Option<Vec<String>>,
    /// Text at the y axis.
    #[key(optional, shown = "by metric")]
    pub y_label: Option<String>,
    /// Whether the y axis is logarithmic.
    #[key(default = false)]
    pub log_y: bool,
    /// Where a horizontal line is drawn to compare with.
    #[key(optional)]
    pub reference: Option<f64>,
    /// The points of the sweep that it is restricted to: swept keys and their values.
    #[key(default = Map::new(), skip_default, shown = "all", form = SweptValues)]
    pub at: Map<String, Value>,
    /// Of a `scatter`: the point at which the metric along x, and that of the area, are read, where it is another.
    #[key(default = Map::new(), skip_default, shown = "as y", form = SweptValues)]
    pub x_at: Map<String, Value>,
    /// Of a `scatter`: the point at which the metric along y is read, where it is another.
    #[key(default = Map::new(), skip_default, shown = "as x", form = SweptValues)]
    pub y_at: Map<String, Value>,
    /// Of a `scatter`: slopes of lines through the origin to compare with.
    #[key(default = Vec::<f64>::new(), skip_default, shown = "none", range = "(0, )")]
    pub rays: Vec<f64>,
}

impl Panel {
    /// One of `metric` and `metrics` is stated, and becomes `metrics`; a `scatter` has two or three, and keys of its own.
    fn check(&mut self) -> Result<(), Misfit> {
        self.one_of_both()?;
        let own = [
            ("x_at", !self.x_at.is_empty()),
            ("y_at", !self.y_at.is_empty()),
            ("rays", !self.rays.is_empty()),
        ];
        match (self.kind.axes, own.into_iter().find(|(_, stated)| *stated)) {
            (Axes::Values, Some((key, _))) => {
                let what = format!("a panel of kind {:?} has none", self.kind.name);
                Err(Misfit::of(key, what, "kind = \"scatter\", or leave the key out"))
            }
            (Axes::Metrics, _) if !(2..=3).contains(&self.metrics.len()) => {
                let what = format!("{} metric(s)", self.metrics.len());
                let fix = "metrics = [\"o1.all\", \"o2.all\"]: along x, along y, and perhaps one for the area of dots";
                Err(Misfit::of("metrics", what, fix))
            }
            _ => Ok(()),
        }
    }

    fn one_of_both(&mut self) -> Result<(), Misfit> {
        match (self.metric.take(), self.metrics.is_empty()) {
            (Some(one), true) => self.metrics.push(one),
            (None, false) => {}
            (None, true) => {
                return Err(Misfit::new("no metric is stated", "metric = \"fct.all\" or metrics = [...]"));
            }
            (Some(_), false) => {
                return Err(Misfit::of("metrics", "metric is stated too", "one of metric and metrics"));
            }
        }
        Ok(())
    }
}

/// Values by swept key: `{ "group.all.load.value" = 0.8 }`.
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

    fn write(map: &Map<String, Value>) -> Written {
        Written::Table(map.iter().map(|(key, value)| (key.clone(), written(value))).collect())
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

fn written(value: &Value) -> Written {
    match value {
        Value::Null => Written::Table(Vec::new()),
        Value::Bool(truth) => Written::Bool(*truth),
        Value::Number(n) => match (n.as_u64(), n.as_i64()) {
            (Some(n), _) => Written::Integer(n),
            (None, Some(n)) => Written::Negative(n),
            (None, None) => Written::Float(n.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => Written::Text(text.clone()),
        Value::Array(items) => Written::List(items.iter().map(written).collect()),
        Value::Object(map) => {
            Written::Table(map.iter().map(|(key, value)| (key.clone(), written(value))).collect())
        }
    }
}

/// A panel and what is drawn in it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PanelReport {
    /// Its title.
    pub title: String,
    /// The name of its kind.
    pub kind: &'static str,
    /// The sweep key along x, if x is one.
    pub x: Option<String>,
    /// Label of the x axis.
    pub x_label: Option<String>,
    /// Label of the y axis.
    pub y_label: Option<String>,
    /// Whether y is logarithmic.
    pub log_y: bool,
    /// Where a horizontal line is drawn.
    pub reference: Option<f64>,
    /// Slopes of lines through the origin.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rays: Vec<f64>,
    /// The values along x, in order: of the sweep key, or the metrics' names; empty for `cdf`.
    pub x_values: Vec<Value>,
    /// The marks.
    pub series: Vec<Series>,
}

impl PanelReport {
    /// The report of a panel in which nothing is drawn yet.
    pub fn empty(panel: &Panel) -> Self {
        Self {
            title: panel.title.clone(),
            kind: panel.kind.name,
            x: panel.x.clone(),
            x_label: panel.x_label.clone(),
            y_label: panel.y_label.clone(),
            log_y: panel.log_y,
            reference: panel.reference,
            rays: panel.rays.clone(),
            x_values: Vec::new(),
            series: Vec::new(),
        }
    }
}

/// The marks of one scheme.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// The scheme.
    pub scheme: String,
    /// What is measured; for bars by metric, `*`.
    pub quantity: String,
    /// The class of flows; for bars by metric, `*`.
    pub class: String,
    /// Sweep keys that stay fixed along the series.
    pub at: Map<String, Value>,
    /// Its marks.
    pub points: Vec<Mark>,
}

impl Series {
    /// The marks of a metric.
    pub(super) fn of(path: &MetricPath, at: Map<String, Value>, points: Vec<Mark>) -> Self {
        let MetricPath { measure, scheme } = path;
        let (quantity, class) = (measure.metric.name.to_owned(), measure.class.clone());
        Self { scheme: scheme.clone(), quantity, class, at, points }
    }
}

/// One mark. In a `cdf`, x is the value and mean the fraction of flows at or below it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mark {
    /// Where along x.
    pub x: Value,
    /// Mean and interval over seeds; a null mean where runs or values are missing.
    #[serde(flatten)]
    pub y: Interval,
    /// What a dot of a `scatter` has besides.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub dot: Option<Dot>,
}

impl Mark {
    /// A mark at `x`.
    pub(super) fn new(x: Value, y: Interval) -> Self {
        Self { x, y, dot: None }
    }
}

/// What a dot shows besides its y.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Dot {
    /// Mean and interval of what is along x.
    pub x_interval: Interval,
    /// What its area shows; null where that is no metric.
    pub size: Option<Interval>,
    /// The value of the swept key along which dots are joined; null without one.
    pub along: Option<Value>,
}

/// What a panel draws: metrics of schemes at points of the sweep.
pub struct Drawn<'a> {
    /// The panel.
    pub panel: &'a Panel,
    /// Its metrics.
    pub measures: Vec<Measure>,
    /// Its schemes.
    pub schemes: &'a [String],
    /// Its points, at least one.
    pub points: Vec<usize>,
    /// Where values come from.
    pub values: &'a dyn Values,
}

impl std::fmt::Debug for Drawn<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Drawn").field("panel", &self.panel.title).field("points", &self.points).finish()
    }
}

impl Drawn<'_> {
    /// The paths of a metric, one for each scheme.
    pub(super) fn paths<'a>(&'a self, measure: &'a Measure) -> impl Iterator<Item = MetricPath> + 'a {
        let path = |scheme: &String| MetricPath { measure: measure.clone(), scheme: scheme.clone() };
        self.schemes.iter().map(path)
    }
}

/// Metrics of runs.
pub trait Values {
    /// The sweep keys and values of a point.
    fn at(&self, point: usize) -> Map<String, Value>;

    /// Lines of points that differ in the sweep key `along` only, each in increasing order of it, with the keys that stay
    /// fixed.
    fn lines(&self, points: &[usize], along: &str) -> Vec<(Map<String, Value>, Vec<usize>)>;

    /// The point that differs from `point` in having the values of `keys`; `None` if the sweep has none.
    fn moved(&self, point: usize, keys: &Map<String, Value>) -> Option<usize>;

    /// Mean and interval over seeds.
    fn mean(&self, path: &MetricPath, point: usize) -> Interval;

    /// The metric over time, of each seed that is there.
    ///
    /// # Errors
    /// It has no value over time.
    fn over_time(&self, path: &MetricPath, point: usize) -> Result<Vec<Bins>, String>;

    /// What `value` makes of the measured flows of the path's class, of each seed that is there.
    ///
    /// # Errors
    /// The class is not a size class, or a table cannot be read.
    fn flows(
        &self,
        path: &MetricPath,
        point: usize,
        value: fn(&FlowRow<'_>) -> Option<f64>,
    ) -> Result<Vec<Vec<f64>>, String>;
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
