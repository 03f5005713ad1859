//! A table of metrics: a row for each scheme and point of the sweep. It is in the page, where it can be sorted and filtered,
//! and a CSV file; there is no picture of it.

use super::bar;
use super::panel::{Axes, PanelKind, X};

/// A row for each scheme and point, a column for each metric.
pub(super) const TABLE: PanelKind = PanelKind {
    name: "table",
    summary: "a row for each scheme and point of the sweep, a column for each metric; in the page and as CSV",
    x: X::Absent,
    axes: Axes::Values,
    fill: bar::fill,
};
