"""Markdown that generated pages are made of."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

_DOCS = Path(__file__).parent.parent.parent / "docs"
_DOCUMENT = re.compile(r"\bdocs/([\w-]+\.md(?:#[\w-]+)?)")


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; cells may hold Markdown, bars in them are escaped."""
    lines = [_row(columns), "|" + "---|" * len(columns), *(_row(row) for row in rows)]
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def code(text: str) -> str:
    """Text as code; empty stays empty."""
    return f"`{text}`" if text else ""


def plain(text: str) -> str:
    """Text of the program in which nothing is HTML."""
    return text.replace("<", "&lt;")


def source(text: str, up: str) -> str:
    """A source as the program names it, in which documents are links; `up` leads from the page to docs/."""

    def link(match: re.Match[str]) -> str:
        there = (_DOCS / match[1].partition("#")[0]).is_file()
        return f"[{_label(match[1])}]({up}{match[1]})" if there else match.group()

    return _DOCUMENT.sub(link, text)


def _label(target: str) -> str:
    page, _, anchor = target.partition("#")
    return anchor or page.removesuffix(".md")


def sentence(text: str) -> str:
    """A line of the program as a sentence; a name such as pFabric keeps its first letter."""
    first = text.partition(" ")[0]
    begin = text[:1].upper() if first == first.lower() else text[:1]
    return begin + text[1:].rstrip(".") + "."
