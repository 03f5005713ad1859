//! A line per scheme over a swept key, or over time.

use serde_json::Value;

use super::by_size;
use super::panel::{Axes, By, Mark, PanelInput, PanelKind, PanelReport, Series, X};
use super::published::Overlay;

/// A line per scheme over a swept key, or over time.
pub const LINE: PanelKind = PanelKind {
    name: "line",
    summary: "a line per scheme over a swept key, over time, or by flow size",
    x: X::Required,
    by: &[By::Size],
    axes: Axes::Values,
    overlay: Overlay::Drawn,
    fill,
};

/// The value of `x` if the x axis is simulated time instead of a swept key.
pub const TIME: &str = "time";

pub(super) fn fill(drawn: &PanelInput<'_>, report: &mut PanelReport) -> Result<(), String> {
    match (drawn.panel.by, drawn.panel.x.as_deref().unwrap_or_default()) {
        (Some(By::Size), _) => by_size::fill(drawn, report),
        (None, TIME) => over_time(drawn, report),
        (None, key) => along(drawn, key, report),
    }
}

fn along(drawn: &PanelInput<'_>, key: &str, report: &mut PanelReport) -> Result<(), String> {
    let values = drawn.values;
    let x_of = |point: usize| values.at(point).get(key).cloned().unwrap_or_default();
    let lines = values.lines(&drawn.points, key);
    let longest = lines.iter().max_by_key(|(_, points)| points.len());
    let (_, longest) = longest.ok_or_else(|| format!("`{key}` is not a key of the sweep"))?;
    report.x_values = longest.iter().map(|&point| x_of(point)).collect();
    for ((fixed, points), measure) in
        lines.iter().flat_map(|line| drawn.measures.iter().map(move |measure| (line, measure)))
    {
        for path in drawn.paths(measure) {
            let mark = |&point: &usize| Mark::new(x_of(point), values.mean(&path, point));
            report.series.push(Series::of(&path, fixed.clone(), points.iter().map(mark).collect()));
        }
    }
    Ok(())
}

fn over_time(drawn: &PanelInput<'_>, report: &mut PanelReport) -> Result<(), String> {
    for (measure, &point) in drawn.measures.iter().flat_map(|m| drawn.points.iter().map(move |p| (m, p))) {
        for path in drawn.paths(measure) {
            let seeds = drawn.values.over_time(&path, point)?;
            let every = seeds.last().map_or(0.0, |bins| bins.every);
            let bins = seeds.iter().map(|bins| bins.values.len()).max().unwrap_or(0);
            let mark = |bin: usize| {
                let values: Vec<f64> = seeds.iter().filter_map(|seed| *seed.values.get(bin)?).collect();
                // Milliseconds, at the end of the bin.
                Mark::new(Value::from((bin + 1) as f64 * every * 1e3), measure.metric.estimate(&values))
            };
            let marks = (0..bins).map(mark).filter(|mark| mark.y.mean.is_some()).collect();
            report.series.push(Series::of(&path, drawn.values.at(point), marks));
        }
    }
    Ok(())
}
