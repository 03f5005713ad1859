"""Small tables: what schemes make of a class of flows, or of the values of a figure, with intervals, in few columns."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from priolane.cli.brief.screen import Screen, in_columns
from priolane.report.overview import ALL, ClassTable, Entry, Overview, Row
from priolane.report.overview_text import Column, column_name, columns_of
from priolane.report.sentences.places import place_text
from priolane.report.sentences.values import common_decimals, rounded
from priolane.results.numbers import relabelled, short
from priolane.results.report import Mark, Panel

_MOST_POINTS = 4
_MOST_PLACES = 5
_LONGEST_NAME = 24
_NONE = "-"


@dataclass(frozen=True)
class _Layout:
    """The columns of a class, with or without intervals, at these points."""

    columns: Sequence[tuple[int, Column]]
    points: Sequence[Mapping[str, Any]]
    intervals: bool


def class_lines(screen: Screen, section: ClassTable, quantities: Sequence[str], most_rows: int) -> list[str]:
    """The table of a class of flows: as many of the `quantities`, the first ones first, as there is room for.

    Empty where the class has none of them. At most `most_rows` schemes are shown, the last line says how many are not.
    """
    known = {column.quantity.name: (nth, column) for nth, column in enumerate(columns_of(section))}
    columns = [known[name] for name in quantities if name in known]
    points = list({repr(row.point): row.point for row in section.rows}.values())
    if not columns or not points:
        return []
    schemes = len({row.scheme for row in section.rows})
    # The line that says that one is left out would have room for it.
    most_rows = schemes if schemes == most_rows + 1 else most_rows
    lines: list[str] = []
    for layout in _layouts(columns, points):
        lines = in_columns(_cells(screen, section, layout, most_rows))
        if max(map(len, lines)) <= screen.columns:
            break
    more = [f"{schemes - most_rows} more schemes: -v"] if schemes > most_rows else []
    return [screen.cut(line) for line in (*lines, *more)]


def _layouts(columns: Sequence[tuple[int, Column]], points: Sequence[Mapping[str, Any]]) -> Iterator[_Layout]:
    """From the layout that says most to the narrowest one."""
    few = points if len(points) <= _MOST_POINTS else points[-1:]
    for many in range(len(columns), 1, -1):
        yield _Layout(columns[:many], few, intervals=True)
    for many in range(len(columns), 1, -1):
        yield _Layout(columns[:many], few, intervals=False)
    yield _Layout(columns[:1], few, intervals=True)
    for many in range(len(columns), 0, -1):
        yield _Layout(columns[:many], points[-1:], intervals=True)
    yield _Layout(columns[:1], points[-1:], intervals=False)


def _cells(screen: Screen, section: ClassTable, layout: _Layout, most_rows: int) -> list[list[str]]:
    every = list({repr(row.point): row.point for row in section.rows}.values())
    title = "all flows" if section.name == ALL else ", ".join(text for text in (section.name, section.text) if text)
    alone = len(layout.points) == 1
    head = [f"{title}, {place_text(layout.points[0], every)}" if alone and len(every) > 1 else title]
    for _, column in layout.columns:
        name = column_name(column.quantity)
        head += [f"{name}, {column.unit}" if column.unit else name, *([""] * (len(layout.points) - 1))]
    rows = [[screen.text(cell) for cell in head]]
    if not alone:
        places = [place_text(point, every) for point in layout.points]
        rows.append(["", *(place for _ in layout.columns for place in places)])
    by_scheme: dict[str, dict[str, Row]] = {}
    for row in section.rows:
        by_scheme.setdefault(row.scheme, {})[repr(row.point)] = row
    for scheme, at in list(by_scheme.items())[:most_rows]:
        cells = [screen.cut(scheme, _LONGEST_NAME)]
        for nth, column in layout.columns:
            placed = (at.get(repr(point)) for point in layout.points)
            decimals = common_decimals((row.entries[nth].estimate for row in section.rows), column.scale)
            cells += [_cell(column, row.entries[nth], decimals, layout) if row else _NONE for row in placed]
        rows.append(cells)
    return rows


def _cell(column: Column, entry: Entry, decimals: int | None, layout: _Layout) -> str:
    if entry.estimate.mean is None:
        return _NONE
    texts = rounded(entry.estimate, column.scale, decimals)
    best = "*" if entry.best else ""
    return texts[0] + best if len(texts) == 1 or not layout.intervals else f"{texts[0]} [{texts[1]}, {texts[2]}]{best}"


def class_of(view: Overview, of_class: str | None) -> ClassTable | None:
    """The table of a class, or of all flows if there is none of that name; `None` where no flow finished."""
    known = {section.name: section for section in view.classes}
    return known.get(of_class or "") or next(iter(known.values()), None)


def panel_lines(screen: Screen, panel: Panel, most_rows: int) -> list[str]:
    """The values of a figure's panel: a row for each series, and the published ones. Empty where it has no marks that a
    table can have."""
    series = [curve for curve in panel.series if curve.marks]
    places = list(dict.fromkeys(mark.x for curve in series for mark in curve.marks))
    if not series or any(mark.across is not None or mark.peak is not None for curve in series for mark in curve.marks):
        return []
    # Of many values along x, the first, the last, and some between.
    step = max(1, -(-len(places) // _MOST_PLACES))
    places = places if len(places) <= _MOST_PLACES else [*places[:-1:step], places[-1]][-_MOST_PLACES:]
    largest = max((abs(mark.estimate.mean or 0.0) for curve in series for mark in curve.marks), default=0.0)
    label, scale = relabelled(panel.y_label.partition(";")[0], largest)
    rows = [
        [screen.cut(curve.label, _LONGEST_NAME), *(_mark(curve.marks, place, scale) for place in places)]
        for curve in series
    ]
    printed = [
        [
            screen.cut(f"{curve.series}, paper", _LONGEST_NAME),
            *(next((short(p.y * scale) for p in curve.points if p.x == place), "") for place in places),
        ]
        for curve in panel.published
    ]
    both = [*rows, *(row for row in printed if any(row[1:]))]
    most_rows = len(both) if len(both) == most_rows + 1 else most_rows
    shown = both[:most_rows]
    lines = in_columns([[screen.text(label), *(panel.in_words(_place(place)) for place in places)], *shown])
    more = [f"{len(both) - most_rows} more rows: -v"] if len(both) > most_rows else []
    if max(map(len, lines)) > screen.columns:
        return []
    return [*lines, *more]


def _place(place: float | str) -> str:
    return f"{place:g}" if isinstance(place, float) else str(place)


def _mark(marks: Sequence[Mark], place: float | str, scale: float) -> str:
    estimate = next((mark.estimate for mark in marks if mark.x == place), None)
    if estimate is None or estimate.mean is None:
        return _NONE
    texts = rounded(estimate, scale)
    return texts[0] if len(texts) == 1 or texts[1] == texts[2] else f"{texts[0]} [{texts[1]}, {texts[2]}]"
