"""Assumptions on the site: which figures and schemes take each, and the readings that experiment files state.

The pages below docs/assumptions/ hold the texts. Readings and the names of assumptions are those that experiment and
scheme files state.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import finding_pages
from markdown_text import code, plain, table
from scheme_pages import assumption_titles, schemes

import ledger
from priolane.model import folders
from priolane.study import catalogue

ROOT = Path(__file__).parent.parent.parent
_ASSUMPTIONS = ROOT / "docs" / "assumptions"
_SECTION = re.compile(r'^### <a id="([^"]+)"></a>.*?(?=^##|\Z)', re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Figure:
    """A figure: its paper, its key, and its experiment file."""

    paper: str
    key: str
    table: Mapping[str, Any]


@cache
def _figures() -> tuple[Figure, ...]:
    return tuple(
        Figure(item.paper, item.key, item.stated) for item in catalogue.figures() if item.experiment is not None
    )


def titles() -> dict[str, str]:
    """The path and the title of each page, for the navigation."""
    entries = re.findall(r"^## \[(.+?)\]\((assumptions/\w+\.md)\)$", _list(), re.MULTILINE)
    return {path: title for title, path in entries} | {f"assumptions/{folders.OURS}.md": "Our own figures"}


def _list() -> str:
    return (_ASSUMPTIONS.parent / "assumptions.md").read_text(encoding="utf-8")


def pages() -> Iterator[tuple[str, str]]:
    """The page of our own figures, which no file below docs/ has, with its path."""
    yield (
        f"assumptions/{folders.OURS}.md",
        "\n".join(["# Our own figures: assumptions\n", *_of_figures(folders.OURS)]),
    )


def with_takers(text: str, page: str) -> str:
    """A page of assumptions with who takes each, and below the page of a paper what its figures take and read."""
    filled = _SECTION.sub(lambda section: f"{section.group().rstrip()}\n{_taken(section[1])}\n", text)
    paper = Path(page).stem
    if paper not in ledger.NAMES:
        return filled
    return "\n".join([f"{filled.rstrip()}\n", *_of_figures(paper)])


def _of_figures(paper: str) -> Iterator[str]:
    """The readings of a paper's figures, and links to all assumptions that the figures or their schemes take."""
    figures = [figure for figure in _figures() if figure.paper == paper]
    readings = list(_readings(figures))
    if readings:
        yield "## Readings\n"
        yield "Where the paper is silent or contradicts itself, experiment files state what else is possible:\n"
        yield table(("reading", "evidence", "what it decides", "leads", "figures"), readings)
        yield _effect(paper)
    yield "## Assumptions of its figures\n"
    taken = [anchor for anchor in assumption_titles() if any(anchor in _anchors(figure) for figure in figures)]
    links = (f"[{assumption_titles()[anchor]}](../assumptions.md#{anchor})" for anchor in taken)
    yield f"The figures, or schemes in them, take: {' · '.join(links)}.\n"


def _readings(figures: Sequence[Figure]) -> Iterator[tuple[str, ...]]:
    """A line for each reading and its evidence, with all figures that state it so."""
    where: dict[tuple[str, str, str, bool], list[str]] = {}
    for figure in figures:
        for name, reading in figure.table.get("reading", {}).items():
            stated = (name, reading["evidence"], reading["decides"], "set" not in reading)
            where.setdefault(stated, []).append(figure.key)
    for (name, evidence, decides, leads), keys in sorted(where.items(), key=lambda item: (not item[0][3], item[0][0])):
        yield code(name), plain(evidence), plain(decides), "yes" if leads else "", _linked(keys)


def _effect(paper: str) -> str:
    """The way to see what a reading changes, and the place where that was measured."""
    lines = [f"`priolane reproduce {paper}/FIG --reading all` runs a figure under each of its readings."]
    page = f"findings/{paper}/readings.md"
    if page in finding_pages.sources():
        lines.append(f"[What they change](../{page}) has what was measured.")
    return " ".join(lines) + "\n"


def _linked(keys: Sequence[str]) -> str:
    return ", ".join(f"[{key}](../ledger.md#{key.replace('/', '-')})" for key in keys)


@cache
def _of_schemes() -> Mapping[str, Sequence[str]]:
    return {scheme.name: scheme.table.get("assumptions", []) for scheme in schemes()}


def _anchors(figure: Figure) -> set[str]:
    """Anchors that an experiment file names, or a scheme in the experiment."""
    named = set(figure.table.get("assumptions", ()))
    return named.union(*(_of_schemes().get(name, ()) for name in figure.table.get("schemes", ())))


def _taken(anchor: str) -> str:
    """The figures and schemes that name an assumption; empty if none does."""
    keys = [figure.key for figure in _figures() if anchor in figure.table.get("assumptions", ())]
    named = [_linked(keys)] if keys else []
    named += [f"[`{name}`](../reference/schemes/{name}.md)" for name, taken in _of_schemes().items() if anchor in taken]
    return f"\n*Taken by* {', '.join(named)}.\n" if named else ""
