"""The content of a figure, in the units of its values and free of pixels: axes, curves, references, notes."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from priolane.figure.numbers import Label, Unit, fitting_unit, power_texts, tick_texts
from priolane.figure.palette import SeriesStyle
from priolane.figure.scales import Log, Scale

# A logarithmic axis over more decades has a unit at each tick: 10 µs, 1 ms.
_DECADES_OF_ONE_UNIT = 2.2


@dataclass(frozen=True)
class Tick:
    """A tick: its value and its text."""

    value: float
    text: str


@dataclass(frozen=True)
class Axis:
    """An axis. `named` are its ticks where they are names, or values that deserve a tick each; else they are chosen."""

    label: Label
    scale: Scale
    named: tuple[Tick, ...] = ()
    # Names of categories, which are all shown, in lines or slanted.
    is_categorical: bool = False

    @property
    def unit(self) -> Unit | None:
        """The unit of all ticks; `None` where each has its own."""
        if isinstance(self.scale, Log):
            if self.scale.decades > _DECADES_OF_ONE_UNIT and self.label.unit in ("s", "B"):
                return None
            return fitting_unit(self.scale.high / 3, self.label.unit)
        return fitting_unit(max(abs(self.scale.low), abs(self.scale.high)), self.label.unit)

    @property
    def title(self) -> str:
        """The label with that unit."""
        return self.label.in_unit(self.unit)

    def ticks(self, most: int) -> list[Tick]:
        """The named ticks, or about `most` that are chosen."""
        if self.named:
            return list(self.named)
        values = self.scale.ticks(most)
        unit = self.unit
        if unit is None:
            units = [fitting_unit(value, self.label.unit) for value in values]
            texts = [
                power_texts([value * unit.many])[0] + unit.suffix for value, unit in zip(values, units, strict=True)
            ]
        else:
            shown = [float(f"{value * unit.many:.12g}") for value in values]
            texts = power_texts(shown) if isinstance(self.scale, Log) else tick_texts(shown)
        return [Tick(value, text) for value, text in zip(values, texts, strict=True)]


class Shape(StrEnum):
    """The way in which a curve is drawn."""

    LINE = "line"
    """Marks with intervals, joined by lines."""
    CURVE = "curve"
    """A line of many points; readers read it at the places along the axis."""
    DOTS = "dots"
    """Marks that are not joined."""
    BARS = "bars"
    """Bars from 0."""


@dataclass(frozen=True)
class Point:
    """A point of a curve. `place` counts the places along the axis at which readers read all curves.

    `text` is its value in words, `interval` the one along y, `across` the one along x, `radius` the size of its mark in
    pixels where sizes differ, and `note` a text that stands beside it.
    """

    place: int
    x: float
    y: float
    text: str
    interval: tuple[float, float] | None = None
    across: tuple[float, float] | None = None
    radius: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Curve:
    """The points of a series. `area` has x, and both ends of a shade at it."""

    label: str
    style: SeriesStyle
    points: tuple[Point, ...]
    shape: Shape
    area: tuple[tuple[float, float, float], ...] = ()


@dataclass(frozen=True)
class Printed:
    """A value that a paper printed: a faint line, dots, a level, or outlines of bars. `text` says where it was read."""

    style: SeriesStyle
    points: tuple[tuple[float, float], ...]
    shape: Shape
    text: str


@dataclass(frozen=True)
class Line:
    """A straight line that values are compared with, level at `y`, upright at `x`, or through the origin."""

    text: str = ""
    x: float | None = None
    y: float | None = None
    slope: float | None = None


@dataclass(frozen=True)
class Guide:
    """A dotted line through points: what something other than a scheme would give. The legend has its text, as curves
    leave no certain room for it."""

    text: str
    points: tuple[tuple[float, float], ...]


class Labels(StrEnum):
    """The place of the names of curves."""

    AT_END = "end"
    BESIDE = "beside"
    NONE = "none"


@dataclass(frozen=True)
class Plot:
    """A figure. `heads` say what each place is; `bar` is the width of a bar in units of x."""

    description: str
    x: Axis
    y: Axis
    curves: tuple[Curve, ...]
    heads: tuple[str, ...]
    printed: tuple[Printed, ...] = ()
    lines: tuple[Line, ...] = ()
    guides: tuple[Guide, ...] = ()
    labels: Labels = Labels.AT_END
    # Places are read along y, as in distributions.
    is_read_along_y: bool = False
    can_zoom: bool = True
    # Each curve has a strip of its own.
    in_strips: bool = False
    bar: float = 0.0
    # Beyond this width of a column the figure has the width of the page.
    is_wide: bool = False

    @property
    def is_dense(self) -> bool:
        """Whether the curves have too many points for a mark each."""
        return any(curve.shape is Shape.CURVE for curve in self.curves)


def places_of(curves: Sequence[Curve]) -> list[int]:
    """The places that have points, in order."""
    return sorted({point.place for curve in curves for point in curve.points})
