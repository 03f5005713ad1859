"""One page of many figures: the counts of what was run on top, and a row for each figure with a link to its page.

The page is one file and needs no other but for its links. It is priolane's to replace if it names priolane as its
generator.
"""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup

from priolane import _core
from priolane.report.generator import GENERATOR
from priolane.report.summary import Summary
from priolane.report.templates import render, styled
from priolane.results.report import Source, Standing
from priolane.storage.files import write_whole
from priolane.study import catalogue


@dataclass(frozen=True)
class Entry:
    """A figure on the page: its item, the path of its own page, and what came of it.

    `summary` is `None` before the figure is done; `failure` says why it was not.
    """

    item: catalogue.PaperFigure
    page: Path
    summary: Summary | None = None
    failure: str = ""


@dataclass(frozen=True)
class Index:
    """The content of the page: figures in the order of the catalogue, and the command that reproduces them."""

    title: str
    entries: Sequence[Entry]
    command: str


def write_index(path: Path, index: Index) -> None:
    """Writes the page; raises `WriteError` if the disk is full or must not be written."""
    style, style_hash = styled()
    groups = list(_groups(index, path.parent))
    content = {
        "style": style,
        "style_hash": style_hash,
        "title": index.title,
        "verdicts": list(Standing),
        "sources": [(Source.PAPER, "Claims of the papers"), (Source.OURS, "Our own claims")],
        "groups": groups,
        "done": _done(index.entries),
        "totals": {source: _tally(index.entries, source) for source in Source},
        "command": index.command,
        "version": _core.version(),
        "generator": GENERATOR,
    }
    write_whole(path, render("index.html.j2", content))


def counts(entries: Sequence[Entry]) -> Iterator[tuple[str, tuple[int, int], Counter[Standing]]]:
    """The number of claims of each paper with each verdict, with its figures done and asked for; last our own on
    all."""
    for paper, name in catalogue.names().items():
        of_paper = [entry for entry in entries if entry.item.paper == paper]
        if of_paper:
            yield name, _done(of_paper), _tally(of_paper, Source.PAPER)
    yield "ours, on the same figures", _done(entries), _tally(entries, Source.OURS)


@dataclass(frozen=True)
class _Row:
    entry: Entry
    link: str
    picture: Markup


@dataclass(frozen=True)
class _Group:
    """The figures of a paper."""

    name: str
    rows: Sequence[_Row]
    done: tuple[int, int]
    tallies: Mapping[Source, Counter[Standing]]


def _groups(index: Index, directory: Path) -> Iterator[_Group]:
    for paper, name in catalogue.names().items():
        entries = [entry for entry in index.entries if entry.item.paper == paper]
        if entries:
            yield _Group(
                name=name,
                rows=[
                    _Row(
                        entry,
                        _link(entry, directory),
                        _picture(entry),
                    )
                    for entry in entries
                ],
                done=_done(entries),
                tallies={source: _tally(entries, source) for source in Source},
            )


def _done(entries: Sequence[Entry]) -> tuple[int, int]:
    return sum(entry.summary is not None for entry in entries), len(entries)


def _tally(entries: Sequence[Entry], source: Source) -> Counter[Standing]:
    total: Counter[Standing] = Counter()
    for entry in entries:
        if entry.summary is not None:
            total.update(entry.summary.counts[source])
    return total


def _link(entry: Entry, directory: Path) -> str:
    """From the page of many figures to that of one."""
    return quote(Path(os.path.relpath(entry.page, directory)).as_posix())


def _picture(entry: Entry) -> Markup:
    return Markup() if entry.summary is None else entry.summary.thumbnail
