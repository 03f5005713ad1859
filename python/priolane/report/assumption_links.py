"""Assumptions as titles that lead to the page of the documentation that says more."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from priolane.results.report import Assumption

PAGE = "https://github.com/priolane/priolane/blob/main/docs/assumptions.md"
"""The page of all assumptions."""

# A title ends before the first of these.
_END = re.compile(r"[.:;](?:\s|$)")


@dataclass(frozen=True)
class Link:
    """A title and where it leads."""

    title: str
    url: str


def links(assumptions: Sequence[Assumption]) -> list[Link]:
    """The assumptions of a report, in its order."""
    return [Link(_END.split(one.text, maxsplit=1)[0], f"{PAGE}#{quote(one.anchor, safe='')}") for one in assumptions]
