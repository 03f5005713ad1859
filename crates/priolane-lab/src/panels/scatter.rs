//! One metric against another: a dot for each scheme and sweep point, joined along a swept key if x names one.

use serde_json::{Map, Value};

use super::panel::{Axes, Dot, Mark, PanelInput, PanelKind, PanelReport, Series, X};
use super::published::Overlay;
use crate::metrics::path::{Measure, MetricPath};

/// A dot for each scheme and sweep point: one metric along x, one along y, and optionally one as its area.
pub(crate) const SCATTER: PanelKind = PanelKind {
    name: "scatter",
    summary: "a dot for each scheme and point: one metric along x, another along y, optionally a third as \
              its area; dots are connected along x, if it is set",
    x: X::Optional,
    by: &[],
    axes: Axes::Metrics,
    overlay: Overlay::Absent,
    fill,
};

fn fill(drawn: &PanelInput<'_>, report: &mut PanelReport) -> Result<(), String> {
    let [across, up, area @ ..] = &drawn.measures[..] else {
        return Err("a scatter panel needs two metrics".to_owned());
    };
    let lines = lines(drawn)?;
    for scheme in drawn.schemes {
        let mean = |measure: &Measure, point| {
            let path = MetricPath { measure: measure.clone(), scheme: scheme.clone() };
            drawn.values.mean(&path, point)
        };
        for line in &lines {
            let mark = |place: &DotPoints| {
                let x_interval = mean(across, place.x);
                let size = area.first().map(|area| mean(area, place.x));
                let dot = Dot { x_interval, size, along: place.along.clone() };
                Mark { x: Value::from(x_interval.mean), y: mean(up, place.y), dot: Some(dot) }
            };
            report.series.push(Series {
                scheme: scheme.clone(),
                quantity: "*".to_owned(),
                class: "*".to_owned(),
                at: line.fixed.clone(),
                points: line.places.iter().map(mark).collect(),
            });
        }
    }
    Ok(())
}

/// Dots that are joined.
struct Line {
    /// The swept keys that they have in common.
    fixed: Map<String, Value>,
    places: Vec<DotPoints>,
}

/// The points at which the metrics of a dot are evaluated.
struct DotPoints {
    x: usize,
    y: usize,
    along: Option<Value>,
}

/// Returns the dots of a scheme. Points that differ only in keys of `x_at` and `y_at` form one dot.
fn lines(drawn: &PanelInput<'_>) -> Result<Vec<Line>, String> {
    let (panel, values) = (drawn.panel, drawn.values);
    let groups = match panel.x.as_deref() {
        Some(key) => values.lines(&drawn.points, key),
        None => drawn.points.iter().map(|&point| (values.at(point), vec![point])).collect(),
    };
    let moved =
        |point, keys| values.moved(point, keys).ok_or("no point of the sweep matches `x_at` or `y_at`");
    let mut seen = Vec::new();
    let mut lines = Vec::new();
    for (mut fixed, points) in groups {
        let own = |key: &String| panel.x_at.contains_key(key) || panel.y_at.contains_key(key);
        fixed.retain(|key, _| !own(key));
        let mut places = Vec::new();
        for point in points {
            let (x, y) = (moved(point, &panel.x_at)?, moved(point, &panel.y_at)?);
            if !seen.contains(&(x, y)) {
                seen.push((x, y));
                let along = panel.x.as_ref().and_then(|key| values.at(point).get(key).cloned());
                places.push(DotPoints { x, y, along });
            }
        }
        if !places.is_empty() {
            lines.push(Line { fixed, places });
        }
    }
    Ok(lines)
}
