"""The common parts of figures of several kinds: heads of places, points with their words, ranges along y, printed
values."""

import math
import re
from collections.abc import Iterable, Sequence
from operator import itemgetter

from priolane.figure.numbers import Label, estimate_text, fixed, tick_texts, value_text
from priolane.figure.palette import SeriesStyles, name_of
from priolane.figure.plot import Axis, Line, Point, Printed, Shape, Tick
from priolane.figure.scales import Linear, Scale, clamped, scale_over
from priolane.results.estimate import Estimate
from priolane.results.published import Curve as PublishedCurve
from priolane.results.report import Mark, Panel, Series

# What values along an axis are compared with by eye: rates with 0, slowdowns with 1.
_RATE = re.compile(r"goodput|throughput|\brates?\b|bps\b|bit/s", re.IGNORECASE)
_SLOWDOWN = re.compile(r"slowdown", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"\s*\(([^()]*)\)")
_LOG_SCALE = re.compile(r",? ?log scale$")
_LONGEST_UNIT = 7
# From 0 on, if the least value is below this part of the largest.
_FROM_ZERO = 0.6
# How far a frame goes beyond marks for the sake of intervals: in heights of all marks, or as a factor.
_BEYOND_MARKS, _BEYOND_ON_LOG = 1.0, 2.0
_ROOM, _ROOM_ON_LOG = 0.05, 1.15


def x_text(x: float | str) -> str:
    """A value along x as a name."""
    return x if isinstance(x, str) else tick_texts([clamped(x)])[0]


def head_of(x_label: str, x: float | str, text: str = "") -> str:
    """The name of a place along x: `load 0.5`, `time 0.495 ms`; a name stands alone."""
    if isinstance(x, str):
        return x
    label = _LOG_SCALE.sub("", x_label)
    if not text and Label.read(label).unit != "1":
        return f"{_IN_BRACKETS.sub('', label)} {value_text(x, Label.read(label).unit)}".strip()
    match = _IN_BRACKETS.search(label)
    unit = f" {match[1]}" if match and len(match[1]) <= _LONGEST_UNIT else ""
    return f"{_IN_BRACKETS.sub('', label)} {text or x_text(x)}{unit}".strip()


def values(panel: Panel) -> list[tuple[Series, list[Mark]]]:
    """Each series with the marks that have a value."""
    return [(series, [mark for mark in series.marks if mark.estimate.mean is not None]) for series in panel.series]


def point_of(place: int, x: float, estimate: Estimate, unit: str) -> Point:
    """The point of an estimate at x."""
    seeds = f", {estimate.seeds} seed{'' if estimate.seeds == 1 else 's'}"
    return Point(
        place, clamped(x), clamped(estimate.mean or 0.0), estimate_text(estimate, unit) + seeds, ends(estimate)
    )


def ends(estimate: Estimate) -> tuple[float, float] | None:
    """The interval of an estimate, if it has one."""
    if estimate.low is None or estimate.high is None:
        return None
    return clamped(estimate.low), clamped(estimate.high)


def names_along(panel: Panel) -> list[str]:
    """The names along x in the order of appearance; numbers become names."""
    return list(dict.fromkeys(x_text(mark.x) for series in panel.series for mark in series.marks))


def category_axis(names: Sequence[str], label: str) -> Axis:
    """An axis of names, one unit apart."""
    ticks = tuple(Tick(float(nth), name) for nth, name in enumerate(names))
    return Axis(Label.read(label), Linear(-0.5, max(len(names), 1) - 0.5), ticks, is_categorical=True)


def number_axis(xs: Iterable[float], label: str, *, log: bool, ticks: int = 0) -> Axis:
    """An axis of numbers with some room at both ends. If there are at most `ticks` numbers, each has a tick."""
    unique = sorted(set(map(clamped, xs)))
    scale = with_room(scale_over(unique, log=log), log=log, room=0.04)
    named = tuple(Tick(x, text) for x, text in zip(unique, tick_texts(unique), strict=True))
    read = Label.read(_LOG_SCALE.sub("", label))
    return Axis(read, scale, named if len(unique) <= ticks and read.unit == "1" else ())


def with_room(scale: Scale, *, log: bool, room: float = _ROOM) -> Scale:
    """A scale with room at both ends, as a part of its length."""
    if log:
        more = (scale.high / scale.low) ** room
        return scale_over([scale.low / more, scale.high * more], log=True)
    more = room * (scale.high - scale.low)
    return Linear.over(scale.low - more, scale.high + more)


def y_axis(
    panel: Panel, estimates: Sequence[Estimate], others: Sequence[float] = (), *, is_anchored: bool = True
) -> Axis:
    """The axis of values: all means, `others` and the reference lie within. Intervals that reach far beyond are cut.

    `is_anchored`: a linear axis has the value that its values are compared with, such as 0 for rates.
    """
    means = [estimate.mean for estimate in estimates if estimate.mean is not None]
    shown = [clamped(y) for y in (*means, *others, *([] if panel.reference is None else [panel.reference]))]
    reached = [end for estimate in estimates if (interval := ends(estimate)) is not None for end in interval]
    label = _LOG_SCALE.sub("", panel.y_label)
    if panel.log_y:
        return Axis(Label.read(label), _log_range(label, shown, reached))
    return Axis(Label.read(label), _linear_range(label if is_anchored else None, shown, reached))


def _log_range(label: str, shown: Sequence[float], reached: Sequence[float]) -> Scale:
    shown = [y for y in shown if y > 0]
    if not shown:
        return scale_over([], log=True)
    low, high = min(shown), max(shown)
    # Both are within 1e150 of 0 and 1.
    reach = max(_BEYOND_ON_LOG, math.sqrt(min(high / low, 1e300)))
    bottom = max([low / reach, min([low, *(end for end in reached if end > 0)])])
    top = min([high * reach, max([high, *reached])])
    is_slowdown = _SLOWDOWN.search(label) is not None and low >= 1
    return scale_over([1.0 if is_slowdown else bottom / _ROOM_ON_LOG, top * _ROOM_ON_LOG], log=True)


def _linear_range(label: str | None, shown: Sequence[float], reached: Sequence[float]) -> Linear:
    """The range of a linear axis; without a `label` it is that of the values."""
    low, high = min(shown, default=0.0), max(shown, default=1.0)
    height = high - low or abs(high) or 1.0
    bottom = max(low - _BEYOND_MARKS * height, min([low, *reached]))
    top = min(high + _BEYOND_MARKS * height, max([high, *reached]))
    room = _ROOM * (top - bottom)
    if label is not None and _SLOWDOWN.search(label) and low >= 1:
        return Linear.over(1.0, top + room)
    if label is not None and low >= 0 and (_RATE.search(label) or bottom < _FROM_ZERO * top):
        return Linear.over(0.0, top + room)
    return Linear.over(bottom - room, top + room)


def reference_lines(panel: Panel) -> tuple[Line, ...]:
    """The value that a panel compares with."""
    return () if panel.reference is None else (Line(y=clamped(panel.reference)),)


def printed_points(panel: Panel, curve: PublishedCurve, names: Sequence[str]) -> list[tuple[float | str | None, float]]:
    """The points of a published curve that lie along the x axis of a panel; `names` are its names, if it has names."""
    xs = [mark.x for series in panel.series for mark in series.marks if not isinstance(mark.x, str)]
    least, most = min(xs, default=0.0), max(xs, default=0.0)

    def is_within(x: float | str | None) -> bool:
        if x is None or names:
            return x is None or x_text(x) in names
        return not isinstance(x, str) and least <= x <= most

    return [(point.x, point.y) for point in curve.points if is_within(point.x) and not (panel.log_y and point.y <= 0)]


def printed_ys(panel: Panel, names: Sequence[str]) -> list[float]:
    """The published values that an axis must include."""
    return [y for curve in panel.published for _, y in printed_points(panel, curve, names)]


def printed_lines(panel: Panel, styles: SeriesStyles, names: Sequence[str], x: Axis) -> tuple[Printed, ...]:
    """Published curves as faint lines, as dots where values between the points are unknown, and means over all x as
    level lines."""
    drawn = []
    for curve in panel.published:
        style = styles.named(published_name(panel, curve))
        points = printed_points(panel, curve, names)
        at = [(float(names.index(x_text(px))) if names else float(px), y) for px, y in points if px is not None]
        if at:
            shape = Shape.DOTS if curve.is_apart else Shape.LINE
            drawn.append(Printed(style, tuple(sorted(at, key=itemgetter(0))), shape, str(curve)))
        for px, y in points:
            if px is None:
                drawn.append(
                    Printed(style, ((x.scale.low, y), (x.scale.high, y)), Shape.LINE, f"{curve}: {fixed(y, 3)}")
                )
    return tuple(drawn)


def published_name(panel: Panel, curve: PublishedCurve) -> str:
    """The name of the series that a published curve belongs to, by scheme, class or label; else its own."""
    for series in panel.series:
        if curve.series in (series.scheme, series.styled_as, series.label):
            return name_of(series)
    return curve.series
