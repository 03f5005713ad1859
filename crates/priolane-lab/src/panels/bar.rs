//! A group of bars per metric, or per value of a swept key.

use serde_json::Value;

use super::line;
use super::panel::{Axes, Mark, PanelInput, PanelKind, PanelReport, Series, X};
use super::published::Overlay;
use crate::metrics::path::{Measure, MetricPath};

/// A group of bars per metric, or per value of a swept key.
pub(crate) const BAR: PanelKind = PanelKind {
    name: "bar",
    summary: "a group of bars per metric, or per value of a swept key",
    x: X::Optional,
    by: &[],
    axes: Axes::Values,
    overlay: Overlay::AtMarks,
    fill,
};

pub(super) fn fill(drawn: &PanelInput<'_>, report: &mut PanelReport) -> Result<(), String> {
    if drawn.panel.x.is_some() {
        return line::fill(drawn, report);
    }
    let name = |measure: &Measure| Value::from(measure.to_string());
    report.x_values = drawn.measures.iter().map(name).collect();
    for &point in &drawn.points {
        for scheme in drawn.schemes {
            let mark = |measure: &Measure| {
                let path = MetricPath { measure: measure.clone(), scheme: scheme.clone() };
                Mark::new(name(measure), drawn.values.mean(&path, point))
            };
            report.series.push(Series {
                scheme: scheme.clone(),
                quantity: "*".to_owned(),
                class: "*".to_owned(),
                at: drawn.values.at(point),
                points: drawn.measures.iter().map(mark).collect(),
            });
        }
    }
    Ok(())
}
