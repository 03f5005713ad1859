"""The values of a figure as a table."""

from collections.abc import Sequence

from priolane.results.kinds import kind_of
from priolane.results.report import Mark, Panel


def values_of(panel: Panel) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of the table of a panel; no rows where it has none."""
    if any(mark.across is not None for series in panel.series for mark in series.marks):
        return _dots(panel)
    kind = kind_of(panel.kind)
    xs = list(dict.fromkeys(mark.x for series in panel.series for mark in series.marks)) if kind.table else []
    rows = [
        [
            x if isinstance(x, str) else format(x, kind.x_format),
            *(_value_at(series.marks, x) for series in panel.series),
        ]
        for x in xs
    ]
    return [panel.x_label or "group", *(series.label for series in panel.series)], rows


def _dots(panel: Panel) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of a scatter: a row for each dot."""
    rows = [
        [
            series.label if mark.along is None else f"{series.label}, {mark.along}",
            str(mark.across),
            str(mark.estimate),
            "" if mark.size is None else str(mark.size),
        ]
        for series in panel.series
        for mark in series.marks
    ]
    sized = any(row[-1] for row in rows)
    columns = ["dot", panel.x_label, panel.y_label, *(["area"] if sized else [])]
    return columns, [row if sized else row[:-1] for row in rows]


def _value_at(marks: Sequence[Mark], x: float | str) -> str:
    return next((str(mark) for mark in marks if mark.x == x), "–")
