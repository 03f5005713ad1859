//! A table of metrics: a row for each scheme and sweep point. It appears in the report page, where it can be sorted and
//! filtered, and as a CSV file; there is no image of it.

use super::bar;
use super::panel::{Axes, PanelKind, X};
use super::published::Overlay;

/// A row for each scheme and sweep point, and a column for each metric.
pub(super) const TABLE: PanelKind = PanelKind {
    name: "table",
    summary: "a row for each scheme and point of the sweep, a column for each metric; on the page and as CSV",
    x: X::Absent,
    by: &[],
    axes: Axes::Values,
    overlay: Overlay::Absent,
    fill: bar::fill,
};
