"""One self-contained page of a grid: no network, readable in print, in grey and in the dark.

The page carries a content security policy that allows the style sheet and the scripts that it holds, by their hashes,
and nothing else. The scripts read figures, and sort and filter tables of metrics; all is there without them.
Every text that comes from a file goes through the template's escaping, or into SVG as XML text.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from priolane.directory import FIGURES
from priolane.figure.draw import key_of
from priolane.report.kinds import kind_of
from priolane.report.metrics_table import table_of
from priolane.report.model import Claim, Panel, Source, Verdict, error_bound, spent_elsewhere, spread, tallies
from priolane.report.overview import Overview
from priolane.report.overview_page import scheme_tables, sections
from priolane.report.overview_text import notes
from priolane.report.page_figures import PageFigures, ShownFigure
from priolane.report.published import printed
from priolane.report.readings import by_reading
from priolane.report.tables import load_rows, priority_rows, run_rows
from priolane.report.templates import figure_script, own, render, styled
from priolane.results import Results

_MANY = 4


@dataclass(frozen=True)
class _Figure:
    shown: ShownFigure
    files: Mapping[str, str]
    columns: list[str]
    rows: list[list[str]]


@dataclass(frozen=True)
class PageOptions:
    """How results were made: the command that makes them again, and the kinds of files that there are of each figure
    besides CSV, such as `png`."""

    rerun: str
    formats: tuple[str, ...] = ()


def page(results: Results, view: Overview, drawn: PageFigures, making: PageOptions) -> str:
    """The page's HTML. `view` is the table of results."""
    return render("page.html.j2", _content(results, view, drawn, making))


def _content(results: Results, view: Overview, drawn: PageFigures, making: PageOptions) -> dict[str, Any]:
    report = results.report
    experiment = results.experiment
    figures = [_figure(shown, _files(nth, making.formats)) for nth, shown in enumerate(drawn.figures, 1)]
    # What is drawn over time has no files.
    traces = [_figure(shown, {}) for shown in drawn.traces]
    style, style_hash = styled()
    scripts = [*([figure_script()] if figures or traces else []), *([own("table.js")] if report.tables else [])]
    return {
        "style": style,
        "style_hash": style_hash,
        "scripts": scripts,
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
        "figures": figures,
        "are_default": drawn.are_default,
        "legend": [(entry.style.name, entry.text, key_of(entry)) for entry in drawn.legend],
        "printed": printed(curve for panel in report.drawn for curve in panel.published),
        "traces": drawn.about_traces,
        "trace_figures": traces,
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


def _files(nth: int, formats: Sequence[str]) -> dict[str, str]:
    """The files of a panel, from 1, by what they are, as the page names them."""
    return {kind.upper(): f"{FIGURES}/panel-{nth}.{kind}" for kind in (*formats, "csv")}


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


def _figure(shown: ShownFigure, files: Mapping[str, str]) -> _Figure:
    columns, rows = _values_of(shown.panel)
    return _Figure(shown=shown, files=files, columns=columns, rows=rows)


def _values_of(panel: Panel) -> tuple[list[str], list[list[str]]]:
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


def _value_at(marks: Any, x: float | str) -> str:
    return next((str(mark) for mark in marks if mark.x == x), "–")
