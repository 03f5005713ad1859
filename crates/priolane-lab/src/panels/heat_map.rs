//! A map of cells: a swept key along x, and a row for each series.

use super::line;
use super::panel::{Axes, PanelKind, X};
use super::published::Overlay;

/// A cell for each value of a swept key and each series; a series is a scheme, a metric and values of the other swept
/// keys.
pub(super) const HEAT_MAP: PanelKind = PanelKind {
    name: "heat_map",
    summary: "a cell for each value of a swept key and each series",
    x: X::Required,
    by: &[],
    axes: Axes::Values,
    overlay: Overlay::Absent,
    fill: line::fill,
};
