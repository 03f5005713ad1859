"""A candidate: a scheme as an experiment file has it, and what it is called."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

TODAY = "today"
"""The name of what runs today, among candidates and in relative goals."""


@dataclass(frozen=True)
class Candidate:
    """A scheme of the race. `rows` is its table in an experiment file, `family` what several have in common,
    `description` what it does.

    `thresholds` are in bytes, where priorities use them; `places` are the rows that have them. `tuned_from` names the
    candidate whose thresholds were moved.
    """

    name: str
    family: str
    description: str
    rows: Mapping[str, Any]
    queues: int
    thresholds: tuple[int, ...] = ()
    places: tuple[str, ...] = ()
    tuned_from: str | None = None

    def with_thresholds(self, thresholds: Sequence[int], name: str) -> "Candidate":
        """The same with other thresholds."""
        rows = {row: dict(of) if isinstance(of, Mapping) else of for row, of in self.rows.items()}
        for place in self.places:
            rows[place] = {**rows[place], "thresholds": texts(thresholds)}
        origin = self.tuned_from or self.name
        return replace(self, name=name, rows=rows, thresholds=tuple(thresholds), tuned_from=origin)


def texts(thresholds: Sequence[int]) -> list[str]:
    """Thresholds as files have them."""
    return [f"{threshold}B" for threshold in thresholds]


def folding(classes: int, queues: int) -> dict[str, Any]:
    """The row of a map whose last queue has all classes beyond it; empty where each class has a queue."""
    return {"map": {"class": [min(number, queues - 1) for number in range(classes)]}} if classes > queues else {}


def strict(queues: int) -> dict[str, Any]:
    """Strict queues."""
    return {"kind": "strict", "queues": queues}
