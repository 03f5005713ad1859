//! A map of cells: a swept key along x, a row for each series.

use super::line;
use super::panel::{Axes, PanelKind, X};

/// A cell for each value of a swept key and each series: a scheme, a metric and what else is swept.
pub(super) const HEAT_MAP: PanelKind = PanelKind {
    name: "heat_map",
    summary: "a cell for each value of a swept key and each series",
    x: X::Required,
    axes: Axes::Values,
    fill: line::fill,
};
