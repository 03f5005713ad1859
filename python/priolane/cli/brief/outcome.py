"""The output of `run`, `reproduce` and `report`: the answer, one table, the worst warning, the page, what to do
next."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from priolane.cli.brief.claims import Recorded, claim_lines
from priolane.cli.brief.screen import MOST_LINES, Screen
from priolane.cli.brief.tables import class_lines, class_of, panel_lines
from priolane.cli.brief.warnings import warning_lines
from priolane.report.grid_text import grid_text
from priolane.report.leading import lead_class
from priolane.report.meanings import panels_in_words
from priolane.report.overview import Overview, overview
from priolane.results.report import Report
from priolane.results.results import Results
from priolane.storage.directory import FIGURES, PAGE_FILE
from priolane.study.recorded import figure_of

_QUANTITIES = ("fct", "fct_p99", "timed_out", "fct_p50", "slowdown", "goodput")
_MOST_ROWS, _LEAST_ROWS = 6, 3
_MOST_WARNING = _MOST_CONCLUSION = 2
# Kinds of panels whose marks are values at places along x.
_TABULAR = ("bar", "line")


@dataclass(frozen=True)
class Outcome:
    """Results with what the command adds: how long it took, what to type next, and recorded verdicts.

    `seconds` is `None` for results that were there. `of_figure`: the table has the values of the first panel, whose
    picture is named. `conclusion` is a sentence that ends the story; it is empty where there is none. `view` is the
    overview of the results, if it has been made.
    """

    results: Results
    seconds: float | None = None
    next_steps: Sequence[str] = ()
    recorded: Recorded = field(default_factory=dict)
    recorded_note: str = ""
    of_figure: bool = False
    conclusion: str = ""
    view: Overview | None = None


def outcome_lines(screen: Screen, outcome: Outcome) -> list[str]:
    """The lines, at most 20."""
    report, view = outcome.results.report, outcome.view or overview(outcome.results)
    head = [screen.cut(_heading(outcome, report))]
    note = [screen.cut(outcome.recorded_note)] if outcome.recorded_note else []
    ending = screen.wrapped(outcome.conclusion, _MOST_CONCLUSION)
    last = [*ending, *_files(outcome), *_steps(screen, outcome.next_steps)]
    of_study = figure_of(outcome.results) is not None
    warned = warning_lines(screen, report, 1 if ending else _MOST_WARNING, of_study=of_study)
    last = ["", *last] if warned and ending else last
    # Blank lines: below the heading, above the table, above the warning.
    room = MOST_LINES - len(head) - len(note) - len(last) - len(warned) - 2
    wanted, _ = claim_lines(screen, report, room, outcome.recorded)
    table = _table(screen, outcome, (report, view), room - len(wanted) - 1 if wanted else room)
    left = room - (len(table) + 1 if table else 0)
    claims, _ = claim_lines(screen, report, left, outcome.recorded)
    parts = [[*claims, *note], table, [*warned, *last]]
    return [*head, *(line for part in parts if part for line in ("", *part))]


def _files(outcome: Outcome) -> list[str]:
    """The picture of a figure, and the page."""
    directory = outcome.results.directory
    picture = directory / FIGURES / "panel-1.svg"
    shown = [f"plot  {picture}"] if outcome.of_figure and picture.is_file() else []
    return [*shown, f"page  {directory / PAGE_FILE}"]


def _steps(screen: Screen, steps: Sequence[str]) -> list[str]:
    return [
        line
        for nth, step in enumerate(steps)
        for line in screen.command(step, "next  " if nth == 0 else "      ", " " * 8)
    ]


def _heading(outcome: Outcome, report: Report) -> str:
    took = "" if outcome.seconds is None else f" in {_time(outcome.seconds)}"
    return f"{report.title}: {grid_text(outcome.results)}{took}"


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _table(screen: Screen, outcome: Outcome, read: tuple[Report, Overview], room: int) -> list[str]:
    """The table that fits into `room` lines, or has a few rows if there is less room; of results without claims, the
    tables of all classes that fit."""
    report, view = read
    rows = max(_LEAST_ROWS, min(_MOST_ROWS, room - 3))
    if outcome.of_figure:
        for panel in panels_in_words(outcome.results, view):
            lines = panel_lines(screen, panel, rows) if panel.kind in _TABULAR else []
            if lines:
                return lines
    if not report.claims:
        return _all_tables(screen, view, rows, room)
    section = class_of(view, lead_class(report))
    return [] if section is None else class_lines(screen, section, _QUANTITIES, rows)


def _all_tables(screen: Screen, view: Overview, rows: int, room: int) -> list[str]:
    lines: list[str] = []
    for section in view.classes:
        table = class_lines(screen, section, _QUANTITIES, rows)
        if table and len(lines) + len(table) + 1 <= room:
            lines += ["", *table] if lines else table
    return lines
