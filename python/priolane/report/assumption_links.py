"""Assumptions as titles that lead to the page of the documentation that says more."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from priolane.results.report import Assumption

PAGE = "https://github.com/priolane/priolane/blob/main/docs/assumptions.md"
"""The page of all assumptions."""


@dataclass(frozen=True)
class Link:
    """A title and where it leads."""

    title: str
    url: str


def links(assumptions: Sequence[Assumption]) -> list[Link]:
    """The assumptions of a report, in its order."""
    return [Link(assumption.title, f"{PAGE}#{quote(assumption.anchor, safe='')}") for assumption in assumptions]
