"""One self-contained page of a grid: no scripts, no network, readable in print, in grey and in the dark.

The page carries a content security policy that allows the one style sheet it holds (by its hash) and nothing else.
Every text that comes from a file goes through the template's escaping, or into SVG as XML text.
"""

import base64
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from priolane.directory import PAGE_FILE
from priolane.figures.draw import SINGLE_IN, draw_panel, width_of
from priolane.figures.panels.trace import trace_text
from priolane.figures.svg import page_svg
from priolane.files import write_whole
from priolane.report.kinds import kind_of
from priolane.report.model import Panel, Source, Verdict, point_text, spread, tallies
from priolane.report.numbers import short
from priolane.report.over_time import over_time
from priolane.report.readings import by_reading
from priolane.report.tables import load_rows, priority_rows, run_rows
from priolane.results import Results

_TEMPLATES = Path(__file__).parent
_MANY = 4


@dataclass(frozen=True)
class _Figure:
    panel: Panel
    svg: Markup
    columns: list[str]
    rows: list[list[str]]

    @property
    def is_wide(self) -> bool:
        """Whether a column of the page has no room for it."""
        return width_of(self.panel) > SINGLE_IN


def write_page(results: Results, rerun: str | None = None) -> Path:
    """Writes the page of a whole grid beside its runs and returns its path. `rerun` is the command that made it."""
    path = results.directory / PAGE_FILE
    write_whole(path, page(results, rerun or results.rerun_command()))
    return path


def page(results: Results, rerun: str) -> str:
    """The page's HTML."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["short"] = short
    environment.filters["point"] = point_text
    return environment.get_template("page.html.j2").render(content(results, rerun))


def content(results: Results, rerun: str) -> dict[str, Any]:
    """Everything the template shows."""
    report = results.report
    experiment = results.experiment
    traces = over_time(results)
    style = (_TEMPLATES / "page.css").read_text(encoding="utf-8")
    return {
        "style": Markup(style),  # noqa: S704 - the package's own file
        "style_hash": base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
        "title": report.title,
        "paper": report.paper,
        "figure": report.figure,
        "quote": experiment.get("quote"),
        "assumptions": report.assumptions,
        "tallies": tallies(report),
        "owners": _OWNERS,
        "figures": [_figure(nth, panel) for nth, panel in enumerate(report.panels)],
        "traces": None if traces is None else traces.says,
        "trace_figures": [_figure(len(report.panels) + nth, panel) for nth, panel in enumerate(traces.panels)]
        if traces is not None
        else [],
        "claims": report.claims,
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


def _figure(nth: int, panel: Panel) -> _Figure:
    label = f"{panel.title}. {panel.y_label} by {panel.x_label or 'group'}."
    svg = page_svg(draw_panel(panel), f"f{nth}-", label)
    xs: list[float | str] = []
    kind = kind_of(panel.kind)
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
    return _Figure(panel=panel, svg=Markup(svg), columns=columns, rows=rows)  # noqa: S704 - serialised XML


def _value_at(marks: Any, x: float | str) -> str:
    return next((trace_text(mark) for mark in marks if mark.x == x), "–")
