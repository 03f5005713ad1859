//! What a panel is, and what a kind of panel makes of it.

use serde::{Serialize, Serializer};
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
    /// Whether x must be stated.
    pub x: X,
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
}

impl PartialEq for PanelKind {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Serialize for PanelKind {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.name)
    }
}

/// `[[panel]]`: one part of a figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Panel {
    /// Its title.
    pub title: String,
    /// How it is drawn.
    pub kind: &'static PanelKind,
    /// The swept key on the x axis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x: Option<String>,
    /// Text at the x axis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x_label: Option<String>,
    /// What is drawn: `metric.class`, at least one.
    pub metrics: Vec<String>,
    /// The schemes drawn; `None` for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schemes: Option<Vec<String>>,
    /// Text at the y axis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub y_label: Option<String>,
    /// Whether the y axis is logarithmic.
    pub log_y: bool,
    /// A line to compare with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<f64>,
    /// The points it is restricted to: swept key and value.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub at: Map<String, Value>,
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
