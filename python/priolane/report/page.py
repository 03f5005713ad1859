"""One self-contained page of a grid: no network, readable in print, in grey and in the dark.

The page carries a content security policy that allows the one style sheet it holds (by its hash) and nothing else. A
page with tables of metrics holds and allows one script besides, which sorts and filters them.
Every text that comes from a file goes through the template's escaping, or into SVG as XML text.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from priolane.directory import FIGURES
from priolane.figures.pictures import Picture
from priolane.report.kinds import kind_of
from priolane.report.metrics_table import table_of
from priolane.report.model import Claim, Panel, Source, Verdict, error_bound, spent_elsewhere, spread, tallies
from priolane.report.over_time import OverTime
from priolane.report.overview import Overview
from priolane.report.overview_page import scheme_tables, sections
from priolane.report.overview_text import notes
from priolane.report.published import printed
from priolane.report.readings import by_reading
from priolane.report.tables import load_rows, priority_rows, run_rows
from priolane.report.templates import own, render
from priolane.results import Results

_MANY = 4


@dataclass(frozen=True)
class _Figure:
    panel: Panel
    files: Mapping[str, str]
    svg: Markup
    is_wide: bool
    columns: list[str]
    rows: list[list[str]]


@dataclass(frozen=True)
class PageOptions:
    """How results were made: the command that makes them again, and whether figures are there as PDF too."""

    rerun: str
    pdf: bool = False


def page(
    results: Results, view: Overview, traces: OverTime | None, pictures: Sequence[Picture], making: PageOptions
) -> str:
    """The page's HTML.

    `view` is the table of results; `pictures` are of the report's drawn panels, then of `traces`.
    """
    return render("page.html.j2", _content(results, view, (traces, pictures), making))


def _content(
    results: Results, view: Overview, drawn: tuple[OverTime | None, Sequence[Picture]], making: PageOptions
) -> dict[str, Any]:
    report = results.report
    traces, pictures = drawn
    experiment = results.experiment
    panels = [*report.drawn, *(traces.panels if traces is not None else ())]
    # What is drawn over time has no files.
    files = [_files(nth, pdf=making.pdf) if nth <= len(report.drawn) else {} for nth in range(1, len(panels) + 1)]
    figures = [_figure(panel, picture, of) for panel, picture, of in zip(panels, pictures, files, strict=True)]
    (style, style_hash), (script, script_hash) = own("page.css"), own("table.js")
    return {
        "style": style,
        "style_hash": style_hash,
        "script": script,
        "script_hash": script_hash,
        "metrics_tables": [table_of(panel) for panel in report.tables],
        "title": report.title,
        "paper": report.paper,
        "figure": report.figure,
        "quote": experiment.get("quote"),
        "assumptions": report.assumptions,
        "tallies": tallies(report),
        "owners": _OWNERS,
        "overview": sections(view),
        "notes": notes(view, "Bold"),
        "schemes": {name: _in_lines(table) for name, table in scheme_tables(results).items()},
        "figures": figures[: len(report.drawn)],
        "printed": printed(curve for panel in report.drawn for curve in panel.published),
        "traces": None if traces is None else traces.text,
        "trace_figures": figures[len(report.drawn) :],
        "claims": report.claims,
        "error_bound": error_bound(report),
        "own_words": _words(report.claims),
        "by_reading": by_reading(results),
        "many": _MANY,
        "spread": spread,
        "states": _STATES,
        "checks": report.checks,
        "warnings": report.warnings,
        "loads": load_rows(results),
        "priorities": priority_rows(results),
        "runs": run_rows(results),
        "experiment": _in_lines(experiment),
        "seeds": report.seeds,
        "digest": report.digest,
        "version": next((record["version"] for record in results.records.values()), ""),
        "rerun": making.rerun,
        "spent": spent_elsewhere(report),
    }


def _in_lines(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _files(nth: int, *, pdf: bool) -> dict[str, str]:
    """The files of a drawn panel, from 1, by what they are, as the page names them."""
    return {kind.upper(): f"{FIGURES}/panel-{nth}.{kind}" for kind in ("png", *(["pdf"] if pdf else []), "csv")}


_OWNERS = {Source.PAPER: "Claims of the paper", Source.OURS: "Our own claims"}


def _words(claims: Sequence[Claim]) -> tuple[str, str]:
    """What it is called that a claim is within its band, and that it is outside."""
    if all(claim.source is Source.OURS for claim in claims):
        return Source.OURS.word(Verdict.REPRODUCED), Source.OURS.word(Verdict.CONTRADICTED)
    return "is reproduced (our own: holds)", "is contradicted (our own: does not hold)"


_STATES = {
    "ok": ("reproduced", "✓ holds"),
    "open": ("open", "– not checked"),
    "warn": ("undecided", "! check this"),
    "fail": ("contradicted", "✗ fails"),
}


def _figure(panel: Panel, picture: Picture, files: Mapping[str, str]) -> _Figure:
    xs: list[float | str] = []
    kind = kind_of(panel.kind)
    svg = Markup(picture.svg)  # noqa: S704 - serialised XML
    if any(mark.across is not None for series in panel.series for mark in series.marks):
        columns, rows = _dots(panel)
        return _Figure(panel=panel, files=files, svg=svg, is_wide=picture.is_wide, columns=columns, rows=rows)
    if kind.table:
        xs = list(dict.fromkeys(mark.x for series in panel.series for mark in series.marks))
    rows = [
        [
            x if isinstance(x, str) else format(x, kind.x_format),
            *(_value_at(series.marks, x) for series in panel.series),
        ]
        for x in xs
    ]
    columns = [panel.x_label or "group", *(series.label for series in panel.series)]
    return _Figure(panel=panel, files=files, svg=svg, is_wide=picture.is_wide, columns=columns, rows=rows)


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


def _value_at(marks: Any, x: float | str) -> str:
    return next((str(mark) for mark in marks if mark.x == x), "–")
