"""The tables of results as the page has them: one row a scheme, a group of columns a metric, a column a sweep point."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from priolane.report.overview import ALL, ClassTable, Entry, Overview, Row
from priolane.report.overview_text import Column, column_name, columns_of, heading, interval_text, mean_text, value_text
from priolane.report.sentences.places import place_text
from priolane.report.sentences.values import common_decimals, rounded
from priolane.results.report import key_text
from priolane.results.results import Results

# Of a sweep with more points, so many are columns; a folded table has all.
_MOST_POINTS = 4


@dataclass(frozen=True)
class PageCell:
    """A value, its interval if there is one, and whether it is the best."""

    text: str
    interval: str = ""
    best: bool = False


@dataclass(frozen=True)
class SchemeRow:
    """The cells of a scheme. `place` is that of the scheme named here among those of the page; `texts` stand before
    its name in the table of all sweep points."""

    scheme: str
    place: int
    cells: tuple[PageCell, ...]
    texts: tuple[str, ...] = ()


@dataclass(frozen=True)
class LongTable:
    """All sweep points of a class of flows: a row for each point and scheme."""

    keys: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[SchemeRow, ...]


@dataclass(frozen=True)
class PageTable:
    """A class of flows, or whole runs. `groups` are the metrics, `points` the columns of each of them: empty where
    nothing is swept. `every` has all sweep points where some have no column; `is_open` is whether it is shown at once.
    """

    heading: str
    groups: tuple[str, ...]
    points: tuple[str, ...]
    rows: tuple[SchemeRow, ...]
    every: LongTable | None
    is_open: bool


def page_tables(view: Overview, shown: str | None) -> list[PageTable]:
    """All sections that have rows. That of the class `shown` is open, or that of all flows if there is none."""
    sections = [section for section in view.sections if section.rows and section.quantities]
    names = [section.name for section in sections]
    is_open = shown if shown in names else ALL if ALL in names else next(iter(names), None)
    return [_table(section, view, is_open=section.name == is_open) for section in sections]


def _table(section: ClassTable, view: Overview, *, is_open: bool) -> PageTable:
    every = list({repr(row.point): row.point for row in section.rows}.values())
    points = every if len(every) <= _MOST_POINTS else _spread(every)
    by_place = {(row.scheme, repr(row.point)): row for row in section.rows}
    columns = columns_of(section)
    rows_of = {
        scheme: [by_place.get((scheme, repr(point))) for point in points]
        for scheme in dict.fromkeys(row.scheme for row in section.rows)
    }
    cells: dict[str, list[PageCell]] = {scheme: [] for scheme in rows_of}
    for nth, column in enumerate(columns):
        for at in range(len(points)):
            entries = {scheme: _entry(rows[at], nth) for scheme, rows in rows_of.items()}
            for scheme, cell in _column(column, entries).items():
                cells[scheme].append(cell)
    return PageTable(
        heading=heading(section),
        groups=tuple(map(_name, columns)),
        points=tuple(place_text(point, every) for point in points) if len(every) > 1 else (),
        rows=tuple(SchemeRow(name, view.schemes.index(name), tuple(of)) for name, of in cells.items()),
        every=_long(section, view) if len(points) < len(every) else None,
        is_open=is_open,
    )


def _spread(points: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The first point, the last one, and some between."""
    last = len(points) - 1
    return [points[round(nth * last / (_MOST_POINTS - 1))] for nth in range(_MOST_POINTS)]


def _entry(row: Row | None, nth: int) -> Entry | None:
    return None if row is None else row.entries[nth]


def _column(column: Column, entries: Mapping[str, Entry | None]) -> dict[str, PageCell]:
    """The cells of one column by scheme, with the same number of decimals."""
    known = [entry.estimate for entry in entries.values() if entry is not None]
    decimals = common_decimals(known, column.scale)
    return {scheme: _cell(column, entry, decimals) for scheme, entry in entries.items()}


def _cell(column: Column, entry: Entry | None, decimals: int | None) -> PageCell:
    if entry is None or entry.estimate.mean is None:
        return PageCell("\N{EN DASH}")
    if column.is_count:
        return PageCell(mean_text(column, entry), interval_text(column, entry), entry.best)
    mean, *ends = rounded(entry.estimate, column.scale, decimals)
    interval = f"[{', '.join(ends)}]" if ends and ends[0] != ends[1] else ""
    return PageCell(mean, interval, entry.best)


def _name(column: Column) -> str:
    unit = column.unit.replace("us", "µs")
    name = column_name(column.quantity)
    return f"{name}, {unit}" if unit else name


def _long(section: ClassTable, view: Overview) -> LongTable:
    columns = columns_of(section)
    keys = list(dict.fromkeys(key for row in section.rows for key in row.point))
    rows = tuple(
        SchemeRow(
            row.scheme,
            view.schemes.index(row.scheme),
            tuple(
                PageCell(mean_text(column, entry), interval_text(column, entry), entry.best)
                for column, entry in zip(columns, row.entries, strict=True)
            ),
            tuple(value_text(row.point.get(key, "")) for key in keys),
        )
        for row in section.rows
    )
    return LongTable(tuple(map(key_text, keys)), tuple(map(_name, columns)), rows)


def scheme_tables(results: Results) -> dict[str, Mapping[str, Any]]:
    """The settings of each scheme, by name in the order of the grid: the merged scheme of its first run."""
    tables: dict[str, Mapping[str, Any]] = {}
    for run in results.runs:
        if run.id in results.records:
            merged = results.records[run.id]["merged"]
            tables.setdefault(run.scheme, merged.get("scheme", {}).get(run.scheme, {}))
    return tables
