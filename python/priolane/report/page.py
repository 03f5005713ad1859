"""One self-contained page of a grid: no network, readable in print, in grey and in the dark.

The page carries a content security policy that allows the style sheet and the scripts that it holds, by their hashes,
and nothing else. The scripts read figures, and sort and filter tables of metrics; all is there without them.
Every text that comes from a file goes through the template's escaping, or into SVG as XML text.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from priolane.figure.draw import draw_rows, key_of
from priolane.report.answer import answer
from priolane.report.assumption_links import links
from priolane.report.figure_values import values_of
from priolane.report.forest_rows import forest_rows
from priolane.report.leading import shown_first
from priolane.report.look_at import look_at
from priolane.report.meanings import meanings
from priolane.report.metrics_table import table_of
from priolane.report.overview import Overview
from priolane.report.overview_page import page_tables, scheme_tables
from priolane.report.overview_text import notes
from priolane.report.page_figures import PageFigures, ShownFigure
from priolane.report.sentences import finding, reason_text
from priolane.report.slowest import slowest
from priolane.report.tables import load_rows, priority_rows, run_rows
from priolane.report.templates import figure_script, own, render, styled
from priolane.results.published import printed
from priolane.results.report import Claim, Report, Source, Verdict, error_bound, spent_elsewhere, spread
from priolane.results.results import Results
from priolane.storage.directory import FIGURES
from priolane.study.readings import by_reading
from priolane.study.recorded import recorded

_MANY = 4


@dataclass(frozen=True)
class _Figure:
    shown: ShownFigure
    files: Mapping[str, str]
    # What the values of the table are, without a unit; empty where a column says so.
    of: str
    columns: list[str]
    rows: list[list[str]]


@dataclass(frozen=True)
class PageOptions:
    """The origin of results: the command that makes them again, and the kinds of files of each figure besides CSV, such
    as `png`."""

    rerun: str
    formats: tuple[str, ...] = ()


def page(results: Results, view: Overview, drawn: PageFigures, making: PageOptions) -> str:
    """The page's HTML. `view` is the table of results."""
    return render("page.html.j2", _content(results, view, drawn, making))


def _content(results: Results, view: Overview, drawn: PageFigures, making: PageOptions) -> dict[str, Any]:
    report = results.report
    kept = recorded(results)
    first = answer(results, view, kept)
    return {
        **_figures(report, drawn, making),
        **_claims(report),
        "title": report.title,
        "answer": first,
        "quote": results.experiment.get("quote"),
        "paper": report.paper,
        "recorded": kept,
        "own_claim": "our own claim" if kept.of_study or report.paper else "your claim",
        "meanings": meanings(results, view),
        "tables": page_tables(view, first.of_class),
        "keys": {entry.style.name: key_of(entry) for entry in drawn.legend},
        "notes": notes(view, "Bold"),
        "slowest": slowest(results),
        "look_at": look_at(report),
        "states": _STATES,
        "assumptions": links(report.assumptions),
        "by_reading": by_reading(results),
        **_behind(results, making),
    }


def _figures(report: Report, drawn: PageFigures, making: PageOptions) -> dict[str, Any]:
    """The figures, with their style and scripts."""
    figures = [_figure(shown, _files(shown.nth, making.formats)) for shown in drawn.figures]
    # What is drawn over time has no files.
    traces = [_figure(shown, {}) for shown in drawn.traces]
    style, style_hash = styled()
    scripts = [*([figure_script()] if figures or traces else []), *([own("table.js")] if report.tables else [])]
    return {
        "style": style,
        "style_hash": style_hash,
        "scripts": scripts,
        "hero": figures[drawn.hero] if figures else None,
        "figures": [figure for nth, figure in enumerate(figures) if nth != drawn.hero],
        "are_default": drawn.are_default,
        "legend": [(entry.style.name, entry.text, key_of(entry)) for entry in drawn.legend],
        "printed": printed(curve for panel in report.drawn for curve in panel.published),
        "traces": drawn.about_traces,
        "trace_figures": traces,
        "metrics_tables": [table_of(panel) for panel in report.tables],
        "seeds": report.seeds,
    }


def _claims(report: Report) -> dict[str, Any]:
    """The claims as a forest plot and as sentences: those that are told at once, and the others."""
    first, rest = shown_first(report)
    return {
        "forest": _forest([*first, *rest]),
        "claims": [_Sentence(claim, finding(claim), reason_text(claim)) for claim in first],
        "more_claims": [_Sentence(claim, finding(claim), reason_text(claim)) for claim in rest],
        "error_bound": error_bound(report),
        "own_words": _words(report.claims),
        "many": _MANY,
        "spread": spread,
    }


@dataclass(frozen=True)
class _Sentence:
    """A claim, its sentence, and why it is undecided."""

    claim: Claim
    sentence: str
    reason: str


def _forest(claims: Sequence[Claim]) -> Markup:
    """The forest plot; empty if no claim compares with a number above 0."""
    rows = forest_rows(claims)
    if not rows:
        return Markup()
    about = f"Claims: measured over claimed, {len(rows)} values with the bands that are allowed. Sentences follow."
    return draw_rows(rows, about)


def _behind(results: Results, making: PageOptions) -> dict[str, Any]:
    """The assumptions and inputs of the results."""
    report = results.report
    return {
        "schemes": {name: _in_lines(table) for name, table in scheme_tables(results).items()},
        "loads": load_rows(results),
        "priorities": priority_rows(results),
        "runs": run_rows(results),
        "experiment": _in_lines(results.experiment),
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


def _words(claims: Sequence[Claim]) -> tuple[str, str]:
    """The words for a claim that is within its band, and for one that is outside."""
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
    table = values_of(shown.panel)
    return _Figure(shown=shown, files=files, of=table.of, columns=table.columns, rows=table.rows)
