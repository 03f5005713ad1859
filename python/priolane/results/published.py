"""Published curves: the values that papers printed for the quantities of panels."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

PAPER = "paper"
"""The name of published curves in legends."""

_HOW = {"text": "a number of the text", "table": "a number of a table", "drawing": "read off the drawing"}


@dataclass(frozen=True)
class PublishedPoint:
    """A point that a paper printed. `x` is a number, the name of a category, or `None` for a mean over all x.

    `error` is the maximum reading error of `y`.
    """

    x: float | str | None
    y: float
    error: float


@dataclass(frozen=True)
class Curve:
    """The points that a paper printed for one series, a scheme or a class; `how` says where they were read."""

    paper: str
    figure: str
    series: str
    how: str
    points: tuple[PublishedPoint, ...]

    @property
    def is_apart(self) -> bool:
        """Whether values between its points are unknown, because the points were not read off a drawing."""
        return self.how != _HOW["drawing"]

    @classmethod
    def read(cls, value: Mapping[str, Any], names: Mapping[str, str]) -> "Curve":
        """Reads a curve of a report. `names` are the names of metrics along x."""
        points = (
            PublishedPoint(names.get(point["x"], point["x"]), point["y"], point["error"]) for point in value["points"]
        )
        return cls(value["paper"], value["figure"], value["series"], _HOW[value["read"]], tuple(points))

    def along(self, numbers: Mapping[str, float]) -> "Curve":
        """Returns the curve with the names along x that `numbers` has replaced by numbers."""
        points = tuple(
            replace(point, x=numbers.get(point.x, point.x)) if isinstance(point.x, str) else point
            for point in self.points
        )
        return replace(self, points=points)

    def __str__(self) -> str:
        """Returns the series, the figure and where the points were read."""
        return f"{PAPER}, {self.series}: {self.figure}, {self.how}"


def printed(curves: Iterable[Curve]) -> str:
    """Returns a sentence that names the papers and figures of `curves`; empty if there are none."""
    all_of = list(curves)
    if not all_of:
        return ""
    papers = ", ".join(dict.fromkeys(curve.paper for curve in all_of))
    places = ", ".join(dict.fromkeys(f"{curve.figure} ({curve.how})" for curve in all_of))
    return f"Faint lines and dotted bars, named {PAPER}, are what {papers} printed: {places}."
