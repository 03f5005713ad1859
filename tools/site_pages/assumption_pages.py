"""Assumptions by paper: what else its text allows, which figures and schemes take what, and where effects are measured.

Readings and assumptions are those that experiment and scheme files state.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from markdown_text import code, plain, table
from scheme_pages import assumption_texts, schemes

import ledger
from priolane import papers

ROOT = Path(__file__).parent.parent.parent
_FINDINGS = ROOT / "docs" / "findings"
_LINK = re.compile(r"\]\((?!\w+:|#)([^)]+)\)")
_OWN_LINK = re.compile(r"\]\(#")
_STATEMENT = re.compile(r"\s+\*(Also possible|Changes):\*")


@dataclass(frozen=True)
class Figure:
    """A figure of a paper: its key, and its experiment file."""

    key: str
    table: Mapping[str, Any]

    @property
    def assumptions(self) -> Sequence[str]:
        """Anchors that the file names."""
        return tuple(self.table.get("assumptions", ()))


@cache
def _figures(paper: str) -> tuple[Figure, ...]:
    return tuple(
        Figure(item.key, tomllib.loads(item.experiment.read_text(encoding="utf-8")))
        for item in papers.figures()
        if item.paper == paper and item.experiment is not None
    )


def titles() -> dict[str, str]:
    """The path and the title of each page, for the navigation."""
    return {f"assumptions/{paper}.md": _name(paper) for paper in (*ledger.NAMES, papers.OURS)}


def _name(paper: str) -> str:
    return ledger.NAMES.get(paper, "Our own figures")


def pages() -> Iterator[tuple[str, str]]:
    """A page for each paper, and one for our own figures, with its path."""
    for path, title in titles().items():
        yield path, _page(Path(path).stem, title)


def links() -> str:
    """The pages as a line of links, for the page of all assumptions."""
    return "By paper: " + " · ".join(f"[{title}]({path})" for path, title in titles().items()) + "\n"


def on_lines(text: str) -> str:
    """A text in which what else was possible, and what that changes, begin on lines of their own."""
    return _STATEMENT.sub(r"<br>*\1:*", text)


def _page(paper: str, title: str) -> str:
    figures = _figures(paper)
    lines = [f"# {title}: assumptions\n", _intro(paper, title)]
    readings = list(_readings(figures))
    if readings:
        lines += [
            "## Readings\n",
            "Where the paper is silent or contradicts itself, experiment files state what else is possible:\n",
            table(("reading", "evidence", "what it decides", "leads", "figures"), readings),
            _effect(paper),
        ]
    lines += ["## Assumptions\n", *_assumptions(figures)]
    return "\n".join(lines)


def _intro(paper: str, title: str) -> str:
    what = "our own figures take" if paper == papers.OURS else f"is taken where {title} leaves something open"
    return f"What {what}. [All assumptions](../assumptions.md) are on one page by subject.\n"


def _readings(figures: Sequence[Figure]) -> Iterator[tuple[str, ...]]:
    """A row for each reading and its evidence, with all figures that state it so."""
    where: dict[tuple[str, str, str, bool], list[str]] = {}
    for figure in figures:
        for name, reading in figure.table.get("reading", {}).items():
            stated = (name, reading["evidence"], reading["decides"], "set" not in reading)
            where.setdefault(stated, []).append(figure.key)
    for (name, evidence, decides, leads), keys in sorted(where.items(), key=lambda item: (not item[0][3], item[0][0])):
        yield code(name), plain(evidence), plain(decides), "yes" if leads else "", _linked(keys)


def _effect(paper: str) -> str:
    """How to see what a reading changes, and where that was measured."""
    lines = [f"`priolane reproduce {paper}/FIG --reading all` runs a figure under each of its readings."]
    if (_FINDINGS / paper / "readings.md").is_file():
        lines.append(f"[What they change](../findings/{paper}/readings.md) has what was measured.")
    return " ".join(lines) + "\n"


def _linked(keys: Sequence[str]) -> str:
    return ", ".join(f"[{key.partition('/')[2]}](../ledger.md#{key.replace('/', '-')})" for key in keys)


def _assumptions(figures: Sequence[Figure]) -> Iterator[str]:
    """Each assumption that the figures or their schemes take, in the order of the document."""
    of_schemes = {scheme.name: scheme.table.get("assumptions", []) for scheme in schemes()}
    by_figures: dict[str, list[str]] = {}
    by_schemes: dict[str, list[str]] = {}
    for figure in figures:
        for anchor in figure.assumptions:
            by_figures.setdefault(anchor, []).append(figure.key)
        for name in figure.table.get("schemes", ()):
            for anchor in of_schemes.get(name, ()):
                by_schemes.setdefault(anchor, [])
                if name not in by_schemes[anchor]:
                    by_schemes[anchor].append(name)
    for anchor, text in assumption_texts().items():
        if anchor not in by_figures and anchor not in by_schemes:
            continue
        taken = [_linked(by_figures[anchor])] if anchor in by_figures else []
        taken += [f"[`{name}`](../reference/schemes/{name}.md)" for name in by_schemes.get(anchor, ())]
        yield f'- <a id="{anchor}"></a>{on_lines(_from_below(text))}\n\n    *Taken by* {", ".join(taken)}.\n'


def _from_below(text: str) -> str:
    """The text of an entry with links that lead from a page in a folder below docs/."""
    return _LINK.sub(r"](../\1)", _OWN_LINK.sub("](../assumptions.md#", text))
