"""One self-contained page of a grid: no network, readable in print, in grey and in the dark.

The page carries a content security policy that allows the one style sheet it holds (by its hash) and nothing else. A
page with tables of metrics holds and allows one script besides, which sorts and filters them.
Every text that comes from a file goes through the template's escaping, or into SVG as XML text.
"""

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from priolane.figures.pictures import Picture
from priolane.report.kinds import kind_of
from priolane.report.metrics_table import table_of
from priolane.report.model import Panel, Source, Verdict, point_text, promise, spread, tallies
from priolane.report.numbers import short
from priolane.report.over_time import OverTime
from priolane.report.readings import by_reading
from priolane.report.tables import load_rows, priority_rows, run_rows
from priolane.results import Results

_TEMPLATES = Path(__file__).parent
_MANY = 4


@dataclass(frozen=True)
class _Figure:
    panel: Panel
    svg: Markup
    is_wide: bool
    columns: list[str]
    rows: list[list[str]]


def page(results: Results, traces: OverTime | None, pictures: Sequence[Picture], rerun: str) -> str:
    """The page's HTML.

    `pictures` are of the report's drawn panels, then of `traces`; `rerun` is the command that made it.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["short"] = short
    environment.filters["point"] = point_text
    return environment.get_template("page.html.j2").render(_content(results, traces, pictures, rerun))


def _content(results: Results, traces: OverTime | None, pictures: Sequence[Picture], rerun: str) -> dict[str, Any]:
    report = results.report
    experiment = results.experiment
    panels = [*report.drawn, *(traces.panels if traces is not None else ())]
    figures = [_figure(panel, picture) for panel, picture in zip(panels, pictures, strict=True)]
    style, script = ((_TEMPLATES / name).read_text(encoding="utf-8") for name in ("page.css", "table.js"))
    return {
        "style": Markup(style),  # noqa: S704 - the package's own file
        "style_hash": _hash(style),
        "script": Markup(script),  # noqa: S704 - the package's own file
        "script_hash": _hash(script),
        "metrics_tables": [table_of(panel) for panel in report.tables],
        "title": report.title,
        "paper": report.paper,
        "figure": report.figure,
        "quote": experiment.get("quote"),
        "assumptions": report.assumptions,
        "tallies": tallies(report),
        "owners": _OWNERS,
        "figures": figures[: len(report.drawn)],
        "traces": None if traces is None else traces.says,
        "trace_figures": figures[len(report.drawn) :],
        "claims": report.claims,
        "promise": promise(report),
        "by_reading": by_reading(results),
        "many": _MANY,
        "spread": spread,
        "badge": badge,
        "states": _STATES,
        "checks": report.checks,
        "warnings": report.warnings,
        "loads": load_rows(results),
        "priorities": priority_rows(results),
        "runs": run_rows(results),
        "experiment": json.dumps(experiment, indent=2, ensure_ascii=False),
        "seeds": report.seeds,
        "digest": report.digest,
        "version": next((record["version"] for record in results.records.values()), ""),
        "rerun": rerun,
    }


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def badge(verdict: Verdict) -> dict[str, str]:
    """Class and sign of a verdict's badge: told apart by sign and word, not by colour alone."""
    signs = {
        Verdict.REPRODUCED: "✓",
        Verdict.UNDECIDED: "≈",
        Verdict.CONTRADICTED: "✗",
        Verdict.INCOMPLETE: "?",
    }
    return {"class": verdict.value, "sign": signs[verdict]}


_OWNERS = {Source.PAPER: "Claims of the paper", Source.OURS: "Our own claims"}

_STATES = {
    "ok": ("reproduced", "✓ holds"),
    "open": ("open", "– not checked"),
    "warn": ("undecided", "! check this"),
    "fail": ("contradicted", "✗ fails"),
}


def _figure(panel: Panel, picture: Picture) -> _Figure:
    xs: list[float | str] = []
    kind = kind_of(panel.kind)
    svg = Markup(picture.svg)  # noqa: S704 - serialised XML
    if any(mark.across is not None for series in panel.series for mark in series.marks):
        columns, rows = _dots(panel)
        return _Figure(panel=panel, svg=svg, is_wide=picture.is_wide, columns=columns, rows=rows)
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
    return _Figure(panel=panel, svg=svg, is_wide=picture.is_wide, columns=columns, rows=rows)


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
