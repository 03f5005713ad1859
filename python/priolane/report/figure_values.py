"""The values of a figure as a table, each with the unit that its axis has or that fits it."""

from dataclasses import dataclass

from priolane.figure.numbers import Label, estimate_text, value_text
from priolane.results.estimate import Estimate
from priolane.results.kinds import kind_of
from priolane.results.report import Mark, Panel


@dataclass(frozen=True)
class ValueTable:
    """The columns and rows of the values of a panel; no rows where it has none. `of` says what the values are, without
    their unit; it is empty where columns say so."""

    of: str
    columns: list[str]
    rows: list[list[str]]


def values_of(panel: Panel) -> ValueTable:
    """The table of the values of a panel."""
    if any(mark.across is not None for series in panel.series for mark in series.marks):
        return _dots(panel)
    kind = kind_of(panel.kind)
    across, along = Label.read(panel.x_label or "group"), Label.read(panel.y_label)
    xs = list(dict.fromkeys(mark.x for series in panel.series for mark in series.marks)) if kind.table else []
    rows = [
        [_x_text(panel, x, across.unit), *(_value_at(series.marks, x, along.unit) for series in panel.series)]
        for x in xs
    ]
    return ValueTable(along.in_unit(None), [across.in_unit(None), *(series.label for series in panel.series)], rows)


def _x_text(panel: Panel, x: float | str, unit: str) -> str:
    if isinstance(x, str):
        return panel.in_words(x)
    return format(x, kind_of(panel.kind).x_format) if unit == "1" else value_text(x, unit)


def _dots(panel: Panel) -> ValueTable:
    """The table of a scatter: a row for each dot."""
    across, along = Label.read(panel.x_label), Label.read(panel.y_label)
    rows = [
        [
            series.label if mark.along is None else f"{series.label}, {mark.along}",
            "" if mark.across is None else _text(mark.across, across.unit),
            _text(mark.estimate, along.unit),
            "" if mark.size is None else str(mark.size),
        ]
        for series in panel.series
        for mark in series.marks
    ]
    sized = any(row[-1] for row in rows)
    columns = ["dot", across.in_unit(None), along.in_unit(None), *(["area"] if sized else [])]
    return ValueTable("", columns, [row if sized else row[:-1] for row in rows])


def _value_at(marks: tuple[Mark, ...], x: float | str, unit: str) -> str:
    return next((_mark_text(mark, unit) for mark in marks if mark.x == x), "\N{EN DASH}")


def _mark_text(mark: Mark, unit: str) -> str:
    """The estimate, and the largest value of a bin."""
    most = "" if mark.peak is None else f", at most {value_text(mark.peak, unit)}"
    return f"{_text(mark.estimate, unit)}{most}"


def _text(estimate: Estimate, unit: str) -> str:
    return str(estimate) if unit == "1" else estimate_text(estimate, unit)
