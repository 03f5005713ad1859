"""Does scheme A beat scheme B? Every metric of the table of results, paired by seed, at every sweep point of one grid.

Of each class of flows and sweep point the metrics of which less or more is better are tested, as `comparison` tests
those of two results: ratios of A to B by seed, p values corrected by Holm's method for the number of metrics. A scheme
*beats* the other in a metric if that has moved in its favour. A value that leaves out flows that did not finish is
compared with none.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from priolane._core import InputError
from priolane.comparison.results import Change, Finding, change_of, with_findings
from priolane.report.overview import ClassTable, Entry, Overview, Quantity


class Winner(StrEnum):
    """The better of two schemes in a metric."""

    FIRST = "first"
    SECOND = "second"
    NEITHER = "neither"


@dataclass(frozen=True)
class Contest:
    """One metric of both schemes: `change` is that of the first scheme against the second, in `quantity`'s unit where
    it is not relative."""

    quantity: Quantity
    change: Change

    @property
    def ahead(self) -> Winner:
        """The scheme with the better mean."""
        better = self.change.change * self.quantity.better
        return Winner.FIRST if better > 0 else Winner.SECOND if better < 0 else Winner.NEITHER

    @property
    def winner(self) -> Winner:
        """The scheme that is better beyond chance."""
        return self.ahead if self.change.finding is Finding.MOVED else Winner.NEITHER


@dataclass(frozen=True)
class SchemeComparison:
    """Both schemes' names, and all contests: those that are decided first. `tested` is how many are corrected for,
    `incomplete` how many cannot be compared, as flows of a scheme did not finish and are left out."""

    first: str
    second: str
    contests: tuple[Contest, ...]
    tested: int
    incomplete: int

    def won(self, winner: Winner) -> list[Contest]:
        """The contests that one of them won, or neither."""
        return [contest for contest in self.contests if contest.winner is winner]


def compare_schemes(view: Overview, first: str, second: str) -> SchemeComparison:
    """Compares two schemes of a table of results; raises `InputError` if one is not in it, or they are the same."""
    there = view.schemes
    for name in (first, second):
        if name not in there:
            raise InputError(f"--schemes {name}: there is no such scheme in these results; one of {', '.join(there)}")
    if first == second:
        raise InputError(f"--schemes {first} {second}: two different schemes of {', '.join(there)}")
    quantities: dict[str, Quantity] = {}
    changes: list[Change] = []
    incomplete = 0
    for section in view.classes:
        for quantity, point, entry, other in _pairs(section, first, second):
            if entry.left_out or other.left_out:
                incomplete += 1
                continue
            quantities[quantity.name] = quantity
            change = change_of((first, point), (section.name, quantity.name), (other.by_seed, entry.by_seed))
            changes += [] if change is None else [change]
    contests = [Contest(quantities[change.metric], change) for change in with_findings(changes)]
    tested = sum(change.p is not None for change in changes)
    return SchemeComparison(first, second, tuple(contests), tested, incomplete)


def _pairs(section: ClassTable, first: str, second: str) -> Iterator[tuple[Quantity, Mapping[str, Any], Entry, Entry]]:
    """Metrics of which less or more is better, at each point that both schemes have: the entries of both."""
    rivals = {repr(row.point): row for row in section.rows if row.scheme == second}
    for row in section.rows:
        rival = rivals.get(repr(row.point))
        if row.scheme != first or rival is None:
            continue
        for quantity, entry, other in zip(section.quantities, row.entries, rival.entries, strict=True):
            if quantity.better:
                yield quantity, row.point, entry, other
