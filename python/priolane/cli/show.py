"""Tables on standard output: boxed on a terminal, plain elsewhere."""

import json
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from priolane.results.numbers import short
from priolane.text.printable import escaped_json, printable

if TYPE_CHECKING:
    from rich.text import Text

_PLAIN_WIDTH = 200


def line(text: str) -> None:
    """One line of text."""
    sys.stdout.write(printable(text) + "\n")


def note(text: str) -> None:
    """One line of text on standard error, beside output that a program reads."""
    sys.stderr.write(printable(text) + "\n")


def table(columns: Sequence[str], rows: "Iterable[Sequence[str | Text]]", width: int = _PLAIN_WIDTH) -> None:
    """A table; cells are never read as markup. `width` is that of plain tables, in characters."""
    from rich import box  # noqa: PLC0415 - slow to load
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    boxed = sys.stdout.isatty()
    grid = Table(box=box.SIMPLE_HEAD if boxed else None, pad_edge=False, show_edge=boxed, header_style="bold")
    for name in columns:
        grid.add_column(Text(printable(name)), overflow="fold")
    for row in rows:
        grid.add_row(*(_cell(cell) for cell in row))
    Console(width=None if boxed else width, highlight=False, file=sys.stdout).print(grid)


def _cell(cell: "str | Text") -> "Text":
    from rich.text import Text  # noqa: PLC0415

    if isinstance(cell, Text):
        # Rich finds the words of a styled cell by their places, which the replacement keeps.
        cell.plain = printable(cell.plain)
        return cell
    return Text(printable(cell))


def json_lines(value: object, indent: int | None = 1) -> None:
    """`value` as JSON, whose characters beyond ASCII a terminal shows."""
    sys.stdout.write(escaped_json(json.dumps(value, indent=indent, ensure_ascii=False)) + "\n")


def number(value: object) -> str:
    """A cell: numbers to three digits, the rest as it is."""
    return short(value) if isinstance(value, float) else str(value)
