"""The table of results as the page has it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from priolane.report.model import key_text
from priolane.report.overview import ClassTable, Overview
from priolane.report.overview_text import columns_of, heading, interval_text, mean_text, value_text
from priolane.results import Results

# Of tables with more rows the last sweep point alone is shown, and the rest is folded.
_MOST_ROWS = 40


@dataclass(frozen=True)
class PageCell:
    """A value, its interval if there is one, and whether it is the best; `scheme` is the place of the scheme named
    here among those of the page."""

    text: str
    interval: str = ""
    best: bool = False
    scheme: int | None = None


@dataclass(frozen=True)
class PageSection:
    """A table: what it is of, its columns, how many of them are texts, the rows that are shown, and all rows, which are
    folded, if these are more."""

    heading: str
    columns: tuple[str, ...]
    texts: int
    rows: tuple[tuple[PageCell, ...], ...]
    folded: tuple[tuple[PageCell, ...], ...]


def sections(view: Overview) -> list[PageSection]:
    """All sections that have rows, with all sweep points."""
    return [_section(section, view.schemes) for section in view.sections if section.rows and section.quantities]


def _section(section: ClassTable, schemes: tuple[str, ...]) -> PageSection:
    columns = columns_of(section)
    keys = list(dict.fromkeys(key for row in section.rows for key in row.point))
    rows = tuple(
        (
            *(PageCell(value_text(row.point.get(key, ""))) for key in keys),
            PageCell(row.scheme, scheme=schemes.index(row.scheme)),
            *(
                PageCell(mean_text(column, entry), interval_text(column, entry), entry.best)
                for column, entry in zip(columns, row.entries, strict=True)
            ),
        )
        for row in section.rows
    )
    names = [f"{column.quantity.label}, {column.unit}" if column.unit else column.quantity.label for column in columns]
    last = tuple(cells for cells, row in zip(rows, section.rows, strict=True) if row.point == section.rows[-1].point)
    is_long = len(rows) > _MOST_ROWS and len(last) < len(rows)
    return PageSection(
        heading=heading(section),
        columns=(*map(key_text, keys), "scheme", *names),
        texts=len(keys) + 1,
        rows=last if is_long else rows,
        folded=rows if is_long else (),
    )


def scheme_tables(results: Results) -> dict[str, Mapping[str, Any]]:
    """What each scheme was run with, by name in the order of the grid: the merged scheme of its first run."""
    tables: dict[str, Mapping[str, Any]] = {}
    for run in results.runs:
        if run.id in results.records:
            merged = results.records[run.id]["merged"]
            tables.setdefault(run.scheme, merged.get("scheme", {}).get(run.scheme, {}))
    return tables
