"""Writes into the pages of findings which of them an older version of results recorded: `make ledger`.

A finding has one line below its answer, and docs/ours.md one that names its figures.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from priolane.model import folders
from priolane.study import catalogue
from priolane.study.record import Record, results_version

ROOT = Path(__file__).parent.parent.parent
OURS = ROOT / "docs" / "ours.md"
_STUDY = ROOT / "study"
VERSIONS = "results-versions.md"
"""The page of versions of results, below docs/."""
_LINE = re.compile(r"^\*Recorded (?:with|before) .*results version .*\*\n\n", re.MULTILINE)


def without(text: str) -> str:
    """The text of a page without its line."""
    return _LINE.sub("", text, count=1)


def of_finding(text: str, record: Record) -> str:
    """The text of a finding with the version of its record, if that is an older one."""
    up = "../" * len(folders.folder(_STUDY, record.figure).relative_to(ROOT).parts)
    version = f"[results version {record.results}]({up}docs/{VERSIONS})"
    (item,) = catalogue.find(record.figure)
    newer = f"; with version {results_version()}, {item.newer}" if item.newer else ""
    return _with_line(text, f"*Recorded with {version}{newer}.*" if record.is_older else "")


def of_ours(text: str, records: Sequence[Record]) -> str:
    """The text of docs/ours.md with the names of its figures that an older version of results recorded."""
    own = [record for record in records if record.figure.startswith(f"{folders.OURS}/")]
    older = [record.figure.partition("/")[2] for record in own if record.is_older]
    names = ", ".join(f"`{name}`" for name in older)
    line = f"*Recorded before results version {results_version()} ([what changed]({VERSIONS})): {names}.*"
    # The names of files come last: readers want what was found.
    text = without(text.rstrip("\n") + "\n\n").rstrip("\n") + "\n"
    return f"{text}\n{line}\n" if older else text


def _with_line(text: str, line: str) -> str:
    """The text with a line below its first paragraph in place of the one that it has."""
    title, lead, rest = without(text).split("\n\n", 2)
    return "\n\n".join([title, lead, *([line] if line else []), rest])


def pages(records: Sequence[Record]) -> Iterator[tuple[Path, str]]:
    """The pages and the texts that they should have."""
    for record in records:
        path = folders.folder(_STUDY, record.figure) / "finding.md"
        if path.is_file():
            yield path, of_finding(path.read_text(encoding="utf-8"), record)
    yield OURS, of_ours(OURS.read_text(encoding="utf-8"), records)
