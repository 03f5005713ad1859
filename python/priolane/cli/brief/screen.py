"""The space that a command has on standard output: 20 lines, the width of the terminal, signs that can be shown."""

import os
import sys
import textwrap
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from priolane.text.printable import printable, printable_line

MOST_LINES = 20
"""Lines that a command prints unless it is asked for more."""

PIPE_COLUMNS = 100
"""Columns where there is no terminal, and the most that text is wrapped to on a wide one."""

_LEAST_COLUMNS = 40
# By what is meant: the sign, and the ASCII characters where standard output is not UTF-8.
_SIGNS = {
    "reproduced": ("\N{CHECK MARK}", "[ok]"),
    "contradicted": ("\N{BALLOT X}", "[no]"),
    "undecided": ("\N{ALMOST EQUAL TO}", "[??]"),
    "fitted": ("\N{WHITE CIRCLE}", "[fit]"),
    "incomplete": ("?", "[..]"),
    "flag": ("\N{BLACK FLAG}", "[flag]"),
    "ellipsis": ("\N{HORIZONTAL ELLIPSIS}", "..."),
    "plus_minus": ("±", "+-"),
}
# What else sentences have beyond ASCII, where standard output is not UTF-8.
_PLAIN = str.maketrans({"±": "+-", "§": "section ", "–": "-", "µ": "u", "×": "x"})


@dataclass(frozen=True)
class Screen:
    """Columns, and whether signs beyond ASCII can be shown."""

    columns: int
    is_utf8: bool

    @classmethod
    def of_output(cls) -> "Screen":
        """That of standard output: `COLUMNS`, the terminal's width up to 100, or 100 in a pipe."""
        encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "")
        return cls(max(min(_columns(), PIPE_COLUMNS), _LEAST_COLUMNS), encoding == "utf8")

    def sign(self, meaning: str) -> str:
        """The sign of a verdict, or of a flag."""
        return _SIGNS[meaning][0 if self.is_utf8 else 1]

    def text(self, text: str) -> str:
        """A text as this output can show it, with ordinary spaces."""
        shown = printable_line(text).replace("\N{NO-BREAK SPACE}", " ")
        return shown if self.is_utf8 else shown.translate(_PLAIN)

    def cut(self, text: str, width: int | None = None) -> str:
        """A text of one line of at most `width` columns (default: all), with an ellipsis where it was longer."""
        most = self.columns if width is None else width
        shown = self.text(text)
        return shown if len(shown) <= most else self._ended(shown, most)

    def wrapped(self, text: str, most: int, first: str = "", later: str = "") -> list[str]:
        """A text in at most `most` lines that begin with `first` and `later`; what does not fit ends in an ellipsis."""
        lines = textwrap.wrap(
            printable(text),
            self.columns,
            initial_indent=first,
            subsequent_indent=later,
            break_long_words=False,
            break_on_hyphens=False,
        )
        kept = [self.cut(line) for line in lines[:most]]
        if len(lines) > most:
            kept[-1] = self._ended(f"{kept[-1]} {self.text(lines[most])}", self.columns)
        return kept

    def _ended(self, text: str, most: int) -> str:
        """The whole words of a text that fit into `most` columns with an ellipsis, or its characters if none does."""
        end = self.sign("ellipsis")
        words = text[: most - len(end)].rpartition(" ")[0].rstrip()
        return f"{words} {end}" if words.strip() else text[: most - len(end)] + end

    def command(self, command: str, first: str, later: str) -> list[str]:
        """A command to be copied into a shell, on as many lines as it takes."""
        lines = textwrap.wrap(
            printable(command),
            self.columns - 2,
            initial_indent=first,
            subsequent_indent=later,
            break_long_words=False,
            break_on_hyphens=False,
        )
        return [f"{line} \\" for line in lines[:-1]] + lines[-1:]


def _columns() -> int:
    stated = os.environ.get("COLUMNS", "")
    if stated.isdecimal() and int(stated) > 0:
        return int(stated)
    if sys.stdout.isatty():
        with suppress(OSError):
            return os.get_terminal_size(sys.stdout.fileno()).columns
    return PIPE_COLUMNS


def in_columns(rows: Iterable[Sequence[str]], gap: int = 2) -> list[str]:
    """Rows of cells as lines: columns as wide as their widest cell, texts to the left."""
    every = [list(row) for row in rows]
    widths = [max(len(row[nth]) for row in every if nth < len(row)) for nth in range(max(map(len, every), default=0))]
    space = " " * gap
    return [space.join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip() for row in every]
