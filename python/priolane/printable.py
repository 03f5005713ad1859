"""Text of files and peers as a terminal may show it.

A name or a text from elsewhere may hold characters that a terminal obeys instead of showing: escape sequences, marks
of the writing direction (U+202E reverses what follows), separators of lines. `printable` replaces them. Everything
that the package prints goes through it: tables and lines by `priolane.cli.show`, messages by `message`.
"""

import re
import sys
from typing import TextIO

# Controls but tab and line feed; marks of the writing direction, invisible characters, separators of lines and
# paragraphs; lone surrogates and what XML 1.0 forbids.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\ufffe\uffff]"
)
_LONGEST_MESSAGE = 20_000


def printable(text: str) -> str:
    """`text` with the replacement character for each character that a terminal obeys or hides.

    Tab and line feed stay: the caller's text may have several lines.
    """
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def printable_line(text: str) -> str:
    """`printable`, on one line: tabs and line feeds are replaced too."""
    return printable(text).translate({9: "\N{REPLACEMENT CHARACTER}", 10: "\N{REPLACEMENT CHARACTER}"})


def escaped_json(text: str) -> str:
    r"""JSON in which the characters that `printable` replaces are escaped (`\u202e`): the values stay the same."""
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def message(text: str, stream: TextIO | None = None) -> None:
    """Prints `priolane: TEXT` on `stream` (default: standard error), of at most 20,000 characters."""
    shown = text if len(text) <= _LONGEST_MESSAGE else text[:_LONGEST_MESSAGE] + "..."
    print(f"priolane: {printable(shown)}", file=stream or sys.stderr, flush=True)
