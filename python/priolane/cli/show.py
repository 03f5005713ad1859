"""Tables on standard output: boxed on a terminal, plain elsewhere."""

import sys
from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from priolane.report.model import Report, Source, Verdict, point_text, tallies
from priolane.report.numbers import short

_COLOURS = {Verdict.REPRODUCED: "green", Verdict.UNDECIDED: "yellow", Verdict.CONTRADICTED: "red"}
_OWNERS = {Source.PAPER: "claims of the paper", Source.OURS: "our own claims"}
_PLAIN_WIDTH = 200
_MANY = 4


def line(text: str) -> None:
    """One line of text."""
    sys.stdout.write(text + "\n")


def table(columns: Sequence[str], rows: Iterable[Sequence[str | Text]]) -> None:
    """A table; cells are never read as markup."""
    boxed = sys.stdout.isatty()
    grid = Table(box=box.SIMPLE_HEAD if boxed else None, pad_edge=False, show_edge=boxed, header_style="bold")
    for name in columns:
        grid.add_column(Text(name), overflow="fold")
    for row in rows:
        grid.add_row(*(cell if isinstance(cell, Text) else Text(cell) for cell in row))
    Console(width=None if boxed else _PLAIN_WIDTH, highlight=False, file=sys.stdout).print(grid)


def claims(report: Report) -> None:
    """Claim, what it asks, measured with interval, verdict; then how many have each, the paper's and ours apart."""
    rows: list[list[str | Text]] = []
    for claim in report.claims:
        measured = [
            f"{item.what} {item.value}" + (f"  ({point_text(item.at)})" if item.at else "") for item in claim.measured
        ]
        rows.append(
            [
                f"{claim.section}{' (ours)' if claim.source is Source.OURS else ''}: {claim.says}",
                claim.asked,
                "\n".join(measured),
                Text("; ".join((claim.verdict.value, *claim.notes)), style=_COLOURS.get(claim.verdict, "")),
            ]
        )
    if rows:
        table(["claim", "asks", "measured, 95 % interval", "verdict"], rows)
    for source, counts in tallies(report):
        line(f"{_OWNERS[source]}: " + ", ".join(f"{count} {verdict.value}" for verdict, count in counts))


def cautions(report: Report) -> None:
    """Checks that do not hold, and warnings: what to look at before trusting the rest."""
    for check in report.checks:
        if check.state not in ("ok", "open"):
            line(f"check {check.name}: {check.says}")
    for warning in report.warnings:
        line(f"warning: {warning}")


def number(value: object) -> str:
    """A cell: numbers to three digits, the rest as it is."""
    return short(value) if isinstance(value, float) else str(value)
