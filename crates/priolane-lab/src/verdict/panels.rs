//! The data of figures: marks with intervals over seeds, never drawn here.

use priolane_core::units::Span;
use serde::Serialize;
use serde_json::Value;

use super::claims::{Line, as_map, lines};
use super::grid::{Gap, Grid, OverTime, value_of};
use super::path::{Measure, MetricPath, Quantity};
use super::spec::{self, Panel, PanelKind};
use crate::metrics::interval::Interval;
use crate::metrics::{Payer, PerMille, SizeClass, percentile};
use crate::results::flows::FlowRow;

/// A panel and what is drawn in it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PanelReport {
    /// Its title.
    pub title: String,
    /// `line`, `bar` or `cdf`.
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
    pub at: serde_json::Map<String, Value>,
    /// Its marks.
    pub points: Vec<Mark>,
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

/// The data of all panels, and what to check before trusting them.
pub(super) fn draw_all(grid: &Grid) -> (Vec<PanelReport>, Vec<String>) {
    let mut warnings = Vec::new();
    let mut panels = Vec::new();
    for panel in &grid.spec.panels {
        let mut report = empty(panel);
        if let Err(what) = fill(grid, panel, &mut report) {
            warnings.push(format!("panel \"{}\": {what}", panel.title));
        }
        panels.push(report);
    }
    (panels, warnings)
}

fn empty(panel: &Panel) -> PanelReport {
    PanelReport {
        title: panel.title.clone(),
        kind: spec::kind_name(panel.kind),
        x: panel.x.clone(),
        x_label: panel.look.x_label.clone(),
        y_label: panel.look.y_label.clone(),
        log_y: panel.look.log_y,
        reference: panel.look.reference,
        x_values: Vec::new(),
        series: Vec::new(),
    }
}

fn fill(grid: &Grid, panel: &Panel, report: &mut PanelReport) -> Result<(), String> {
    let measures: Vec<Measure> = panel.metrics.iter().map(|m| Measure::parse(m)).collect::<Result<_, _>>()?;
    let points = grid.points_at(&panel.at);
    if points.is_empty() {
        return Err("no point of the sweep matches its `at`".to_owned());
    }
    let schemes = if panel.schemes.is_empty() { &grid.schemes } else { &panel.schemes };
    match (panel.kind, &panel.x) {
        (PanelKind::Cdf, _) => distributions(grid, (&measures, schemes), &points, report),
        (_, Some(x)) if x == TIME => over_time(grid, (&measures, schemes), &points, report),
        (_, Some(x)) => along(grid, (&measures, schemes), &lines(grid, &points, x), report),
        (_, None) => {
            by_metric(grid, (&measures, schemes), &points, report);
            Ok(())
        }
    }
}

/// What stands in place of a swept key where x is simulated time.
pub(crate) const TIME: &str = "time";

fn over_time(
    grid: &Grid,
    (measures, schemes): Marks,
    points: &[usize],
    report: &mut PanelReport,
) -> Result<(), String> {
    for (measure, &point) in measures.iter().flat_map(|m| points.iter().map(move |p| (m, p))) {
        for scheme in schemes {
            let path = MetricPath { measure: measure.clone(), scheme: scheme.clone() };
            let OverTime { every, seeds } = grid.over_time(&path, point).map_err(|gap| match gap {
                Gap::Run(what) | Gap::Value(what) => what,
            })?;
            let bins = seeds.iter().map(Vec::len).max().unwrap_or(0);
            let mark = |bin: usize| {
                let values: Vec<f64> = seeds.iter().filter_map(|seed| *seed.get(bin)?).collect();
                // Milliseconds, at the end of the bin.
                Mark { x: Value::from((bin + 1) as f64 * every * 1e3), y: Interval::of(&values) }
            };
            report.series.push(Series {
                scheme: scheme.clone(),
                quantity: measure.quantity.name().into(),
                class: measure.class.clone(),
                at: as_map(&grid.points[point]),
                points: (0..bins).map(mark).filter(|mark| mark.y.mean.is_some()).collect(),
            });
        }
    }
    Ok(())
}

/// What is drawn: measures, and schemes.
type Marks<'a> = (&'a [Measure], &'a [String]);

fn along(
    grid: &Grid,
    (measures, schemes): Marks,
    lines: &[Line],
    report: &mut PanelReport,
) -> Result<(), String> {
    let key = report.x.clone().unwrap_or_default();
    let x_of = |point: usize| value_of(&grid.points[point], &key).cloned().unwrap_or_default();
    let longest = lines.iter().max_by_key(|line| line.points.len());
    let longest = longest.ok_or_else(|| format!("`{key}` is not a key of the sweep"))?;
    report.x_values = longest.points.iter().map(|&(_, point)| x_of(point)).collect();
    for (line, measure) in lines.iter().flat_map(|line| measures.iter().map(move |measure| (line, measure))) {
        for scheme in schemes {
            let path = MetricPath { measure: measure.clone(), scheme: scheme.clone() };
            let mark = |&(_, point): &(f64, usize)| Mark { x: x_of(point), y: mean(grid, &path, point) };
            report.series.push(Series {
                scheme: scheme.clone(),
                quantity: measure.quantity.name().into(),
                class: measure.class.clone(),
                at: as_map(&line.fixed),
                points: line.points.iter().map(mark).collect(),
            });
        }
    }
    Ok(())
}

fn by_metric(grid: &Grid, (measures, schemes): Marks, points: &[usize], report: &mut PanelReport) {
    let name = |m: &Measure| Value::from(format!("{}.{}", m.quantity.name(), m.class));
    report.x_values = measures.iter().map(name).collect();
    for &point in points {
        for scheme in schemes {
            let mark = |measure: &Measure| {
                let path = MetricPath { measure: measure.clone(), scheme: scheme.clone() };
                Mark { x: name(measure), y: mean(grid, &path, point) }
            };
            report.series.push(Series {
                scheme: scheme.clone(),
                quantity: "*".to_owned(),
                class: "*".to_owned(),
                at: as_map(&grid.points[point]),
                points: measures.iter().map(mark).collect(),
            });
        }
    }
}

fn mean(grid: &Grid, path: &MetricPath, point: usize) -> Interval {
    path.measure.quantity.interval(&grid.by_seed(path, point).0)
}

/// Percentiles of the pooled flows at which a distribution is drawn.
const DRAWN: std::ops::RangeInclusive<u32> = 1..=100;

fn distributions(
    grid: &Grid,
    (measures, schemes): Marks,
    points: &[usize],
    report: &mut PanelReport,
) -> Result<(), String> {
    for measure in measures {
        let known = grid.spec.classes.iter().find(|c| c.name == measure.class).cloned();
        let class = known.or_else(|| (measure.class == crate::metrics::ALL).then(SizeClass::all));
        let class = class.ok_or_else(|| format!("`{}` is not a size class", measure.class))?;
        let value = match measure.quantity {
            Quantity::Fct => |flow: &FlowRow| flow.fct_ps.map(|fct| Span(fct).as_secs_f64()),
            Quantity::Slowdown => |flow: &FlowRow| flow.slowdown,
            other => return Err(format!("a cdf is drawn of fct or slowdown, not of {}", other.name())),
        };
        for &point in points {
            for scheme in schemes {
                let seeds = finished(grid, (point, scheme), |flow| {
                    let classes = (flow.class_asked, flow.class_given);
                    let counts = flow.measured && flow.bytes.is_some() && class.holds(classes);
                    let payer = Payer::named(flow.group.unwrap_or_default(), flow.cos);
                    value(flow).filter(|_| counts && class.contains(flow.bytes, payer))
                })?;
                report.series.push(Series {
                    scheme: scheme.clone(),
                    quantity: measure.quantity.name().into(),
                    class: measure.class.clone(),
                    at: as_map(&grid.points[point]),
                    points: distribution(&seeds),
                });
            }
        }
    }
    Ok(())
}

/// The sorted values of each seed that is there.
fn finished(
    grid: &Grid,
    (point, scheme): (usize, &str),
    value: impl Fn(&FlowRow) -> Option<f64>,
) -> Result<Vec<Vec<f64>>, String> {
    let mut seeds = Vec::new();
    for &seed in &grid.seeds {
        let Ok(record) = grid.record(point, scheme, seed) else { continue };
        let mut values = grid.flows(record, &value).map_err(|e| format!("run {}: {e}", record.run))?;
        values.sort_unstable_by(f64::total_cmp);
        seeds.push(values);
    }
    Ok(seeds)
}

/// The fraction of flows at or below each percentile of the pooled flows, with its interval over seeds.
fn distribution(seeds: &[Vec<f64>]) -> Vec<Mark> {
    let mut pooled: Vec<f64> = seeds.iter().flatten().copied().collect();
    pooled.sort_unstable_by(f64::total_cmp);
    let mut xs: Vec<f64> = DRAWN.filter_map(|p| percentile(&pooled, PerMille(p * 10))).collect();
    xs.dedup();
    let fraction =
        |values: &Vec<f64>, x: f64| values.partition_point(|v| *v <= x) as f64 / values.len() as f64;
    let some: Vec<&Vec<f64>> = seeds.iter().filter(|values| !values.is_empty()).collect();
    let mark = |x: f64| {
        let fractions: Vec<f64> = some.iter().map(|values| fraction(values, x)).collect();
        Mark { x: Value::from(x), y: Interval::of(&fractions).map(|y| y.clamp(0.0, 1.0)) }
    };
    xs.into_iter().map(mark).collect()
}
