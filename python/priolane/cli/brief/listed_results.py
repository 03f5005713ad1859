"""The output of `priolane results`: a small table of each class of flows that there is room for."""

from priolane.cli.brief.screen import MOST_LINES, Screen
from priolane.cli.brief.tables import class_lines
from priolane.cli.brief.warnings import warning_lines
from priolane.report.overview import ALL, Overview
from priolane.results.results import Results
from priolane.storage.directory import PAGE_FILE
from priolane.storage.object_store import display_name
from priolane.text.command_line import command_line, path_word

_QUANTITIES = ("fct", "fct_p50", "fct_p99", "slowdown", "goodput")
_OF_RUNS = ("drops", "timeouts", "unfinished", "trimmed")
_MOST_ROWS = 8


def results_lines(screen: Screen, results: Results, view: Overview) -> list[str]:
    """The lines, at most 20. A class that there is no room for is named below."""
    place = display_name(results.directory)
    report = results.judged()
    warned = [] if report is None else warning_lines(screen, report, 1)
    page = [f"page  {results.directory / PAGE_FILE}"] if (results.directory / PAGE_FILE).is_file() else []
    room = MOST_LINES - 1 - len(warned) - 1 - len(page) - 1
    tables: list[list[str]] = []
    left: list[str] = []
    sections = sorted(view.classes, key=lambda section: section.name == ALL)
    if not sections:
        tables.append(class_lines(screen, view.runs, _OF_RUNS, _MOST_ROWS))
    for section in sections:
        lines = class_lines(screen, section, _QUANTITIES, _MOST_ROWS)
        used = sum(len(table) + 1 for table in tables)
        if lines and used + len(lines) + 1 <= room:
            tables.append(lines)
        elif lines:
            left.append(section.name)
    again = command_line("priolane", "results", path_word(place))
    more = [f"--class {' '.join(left)}"] if left else []
    last = screen.cut(f"more  {again} {', '.join([*more, '-v', '--csv'])}")
    blocks = [[screen.cut(_heading(results, view))], *tables, [*warned, last, *page]]
    return [line for block in blocks if block for line in ("", *block)][1:]


def _heading(results: Results, view: Overview) -> str:
    there = len(results.runs) - view.missing
    seeds = len(view.seeds)
    means = "One seed: no intervals" if seeds == 1 else f"Means of {seeds} seeds and their 95 % intervals; *: best"
    return f"{view.title}: {there} of {len(results.runs)} runs. {means}"
