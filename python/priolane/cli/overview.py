"""The table of results on standard output: a table for each class of flows and one of whole runs."""

import os
import sys
import textwrap
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from priolane.cli.show import line
from priolane.report.overview import ClassTable, Entry, Overview
from priolane.report.overview_text import Column, columns_of, heading, interval_text, mean_text, notes, value_text
from priolane.results.report import key_text, point_text
from priolane.text.command_line import command_line, option, path_word
from priolane.text.printable import printable

# Where there is no terminal and COLUMNS is not set.
_PLAIN_WIDTH = 160
# Rows of all classes together; with more, the last sweep point alone is shown.
_MOST_ROWS = 60
_LONGEST_SCHEME = 28


@dataclass(frozen=True)
class _Layout:
    """The quantities that are left out, and those that have their intervals; `None` for all."""

    without: frozenset[str] = frozenset()
    intervals: frozenset[str] | None = None


# What there may be no room for, the first to go first. Completion times stay, with their tail.
_DISPENSABLE = ("timeouts", "slowdown_p99", "fct_p50", "slowdown", "goodput", "timed_out")
_LAYOUTS = (
    _Layout(),
    _Layout(intervals=frozenset({"fct", "fct_p99", "goodput"})),
    _Layout(intervals=frozenset({"fct", "fct_p99"})),
    _Layout(intervals=frozenset()),
    *(_Layout(frozenset(_DISPENSABLE[: n + 1]), frozenset()) for n in range(len(_DISPENSABLE))),
)


def show(view: Overview, place: str) -> None:
    """Prints the table, what its signs mean, and how to see what it leaves out of the results at `place`."""
    terminal = sys.stdout.isatty()
    width = _width_of_terminal()
    console = Console(width=width, highlight=False, file=sys.stdout)
    points = view.points
    rows = sum(len(section.rows) for section in view.classes)
    shown = points[-1:] if rows > _MOST_ROWS else points
    left_out: dict[str, None] = {}
    bare = False
    for section in view.sections:
        if not section.rows:
            continue
        line(heading(section))
        grid = _Grid(section, shown, marked=not terminal)
        layout = next((each for each in _LAYOUTS if _width(console, grid.table(each)) <= width), _LAYOUTS[-1])
        console.print(grid.table(layout))
        line("")
        labels = [column.quantity.label for column in grid.columns if column.quantity.name in layout.without]
        left_out.update(dict.fromkeys(labels))
        bare = bare or layout.intervals is not None
    again = command_line("priolane", "results", path_word(place))
    lines = notes(view, "Bold" if terminal else "*")
    if left_out or bare:
        what = [*left_out, *(["intervals"] if bare else [])]
        lines.append(f"Not shown for want of width: {', '.join(what)}; `{again} --csv` has all.")
    if len(shown) < len(points):
        lines.append(
            f"Shown is {point_text(shown[0])}, the last of {len(points)} sweep points; "
            f"`{again} {command_line(*option('--point', _assignment(points[0])))}` shows another, --csv has all."
        )
    for text in lines:
        line(textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False))


def _assignment(point: object) -> str:
    """One swept key and its value as `--point` takes them."""
    key, value = next(iter(dict(point).items()))  # type: ignore[call-overload]
    return f"{key_text(key)}={value}"


def _width_of_terminal() -> int:
    """The width of the terminal that standard output, error or input is; output may go through a pipe to it."""
    stated = os.environ.get("COLUMNS", "")
    if stated.isdecimal() and int(stated) > 0:
        return int(stated)
    for stream in (1, 2, 0):
        with suppress(OSError):
            return os.get_terminal_size(stream).columns
    return _PLAIN_WIDTH


def _width(console: Console, table: Table) -> int:
    return console.measure(table, options=console.options.update_width(10_000)).maximum


class _Grid:
    """The rows of a section at some points, laid out in one way or another."""

    def __init__(self, section: ClassTable, points: Sequence[object], *, marked: bool) -> None:
        wanted = {repr(point) for point in points}
        self.rows = [row for row in section.rows if repr(row.point) in wanted]
        self.columns = columns_of(section)
        self.keys = list(dict.fromkeys(key for row in self.rows for key in row.point)) if len(wanted) > 1 else []
        # Where there is no bold, the best is marked by a sign.
        self.marked = marked

    def table(self, layout: _Layout) -> Table:
        """The section as a table."""
        kept = [nth for nth, column in enumerate(self.columns) if column.quantity.name not in layout.without]
        table = Table(box=None, pad_edge=False, show_edge=False, header_style="", padding=(0, 2, 0, 0))
        above = "\n" if any(self.columns[nth].unit for nth in kept) else ""
        for key in self.keys:
            table.add_column(Text(above + printable(key_text(key)), style="bold"), no_wrap=True)
        table.add_column(Text(f"{above}scheme", style="bold"), no_wrap=True)
        for nth in kept:
            table.add_column(self._header(self.columns[nth], units=bool(above)), justify="right", no_wrap=True)
        before: object = None
        for row in self.rows:
            values = ["" if row.point == before else value_text(row.point.get(key)) for key in self.keys]
            before = row.point
            cells = [self._cell(nth, row.entries[nth], layout) for nth in kept]
            table.add_row(*(Text(printable(value)) for value in values), Text(printable(_clipped(row.scheme))), *cells)
        return table

    def _header(self, column: Column, *, units: bool) -> Text:
        sign = " " if self._has_best(column) else ""
        unit = f"\n{column.unit}{sign}" if units else ""
        return Text(f"{column.quantity.label}{sign}{unit}", style="bold")

    def _has_best(self, column: Column) -> bool:
        return self.marked and column.quantity.better != 0

    def _cell(self, nth: int, entry: Entry, layout: _Layout) -> Text:
        column = self.columns[nth]
        with_interval = layout.intervals is None or column.quantity.name in layout.intervals
        interval = interval_text(column, entry) if with_interval else ""
        sign = ("*" if entry.best else " ") if self._has_best(column) else ""
        text = mean_text(column, entry) + (f" {interval}" if interval else "") + sign
        return Text(text, style="bold" if entry.best else "")


def _clipped(name: str) -> str:
    return name if len(name) <= _LONGEST_SCHEME else name[: _LONGEST_SCHEME - 1] + "…"
