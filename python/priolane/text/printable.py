"""Text of files and peers as a terminal may show it.

A name or a text from elsewhere may hold characters that a terminal obeys instead of showing: escape sequences, marks
of the writing direction (U+202E reverses what follows), separators of lines. `priolane_core::text` lists them, and
`printable` replaces them. Everything that the package prints goes through it: tables and lines by
`priolane.cli.show`, messages by `message`.
"""

import re
import sys
from typing import TextIO

from priolane import _core


def _class_of_characters() -> str:
    """The characters of `priolane_core::text` but tab and line feed, and lone surrogates, which no text in Rust has."""
    controls, *others = _core.unprintable()
    first_and_last = [(controls[0], 8), (11, controls[1]), *others, (0xD800, 0xDFFF)]
    ranges = "".join(f"{re.escape(chr(first))}-{re.escape(chr(last))}" for first, last in first_and_last)
    return f"[{ranges}]"


_UNPRINTABLE = re.compile(_class_of_characters())
_LONGEST_MESSAGE = 20_000


def printable(text: str) -> str:
    """`text` with the replacement character for each character that a terminal obeys or hides.

    Tab and line feed stay: the caller's text may have several lines.
    """
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def is_printable(text: str) -> bool:
    """Whether `printable` leaves `text` as it is."""
    return _UNPRINTABLE.search(text) is None


def printable_line(text: str) -> str:
    """`printable`, on one line: tabs and line feeds are replaced too."""
    return printable(text).translate({9: "\N{REPLACEMENT CHARACTER}", 10: "\N{REPLACEMENT CHARACTER}"})


def escaped_json(text: str) -> str:
    r"""JSON in which the characters that `printable` replaces are escaped (`\u202e`): the values stay the same."""
    import json  # noqa: PLC0415 - every command loads this module

    return _UNPRINTABLE.sub(lambda match: json.dumps(match[0])[1:-1], text)


def message(text: str, stream: TextIO | None = None) -> None:
    """Prints `priolane: TEXT` on `stream` (default: standard error), of at most 20,000 characters."""
    shown = text if len(text) <= _LONGEST_MESSAGE else text[:_LONGEST_MESSAGE] + "..."
    print(f"priolane: {printable(shown)}", file=stream or sys.stderr, flush=True)
