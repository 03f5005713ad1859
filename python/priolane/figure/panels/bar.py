"""Bars in groups along x, a bar of each series in a group. Where all show one thing each is named by its series."""

from dataclasses import replace

from priolane.figure.palette import SeriesStyles, name_of
from priolane.figure.panels import describe
from priolane.figure.plot import Axis, Curve, Labels, Plot, Point, Printed, Shape, Tick
from priolane.figure.scales import scale_over
from priolane.figure.values import (
    category_axis,
    names_along,
    point_of,
    printed_ys,
    published_name,
    reference_lines,
    values,
    x_text,
    y_axis,
)
from priolane.results.estimate import Estimate
from priolane.results.report import Mark, Panel, Series

_GROUP = 0.82
# How far below the shortest bar a logarithmic axis begins, as a factor.
_BELOW_BARS = 2.0
# Bars, of all series together, that a column has room for, and names of series below them.
_BARS_IN_COLUMN = 30
_NAMES_IN_COLUMN = 10


def plot(panel: Panel, styles: SeriesStyles) -> Plot:
    """The plot of a panel of kind `bar`."""
    names = names_along(panel)
    shown = [panel.in_words(name) for name in names]
    is_alone = _is_alone(panel, names)
    bar = _GROUP / max(len(panel.series), 1)
    y = _y(panel, names)
    curves = tuple(
        Curve(series.label, styles.of(series), tuple(_point(panel, (order, mark), y) for mark in marks), Shape.BARS)
        for order, (series, marks) in enumerate(values(panel))
    )
    if len(curves) == 1:
        curves = _by_class(panel, styles, curves[0])
    return Plot(
        description=describe(panel),
        x=_alone(panel, bar) if is_alone else category_axis(shown, panel.x_label),
        y=y,
        curves=curves,
        heads=tuple(shown),
        printed=_printed(panel, styles, names),
        lines=reference_lines(panel),
        labels=Labels.NONE,
        can_zoom=False,
        bar=bar,
        is_wide=_is_wide(panel, is_alone=is_alone),
    )


def _point(panel: Panel, at: tuple[int, Mark], y: Axis) -> Point:
    order, mark = at
    place = names_along(panel).index(x_text(mark.x))
    return point_of(place, place + _offset(panel, order), mark.estimate, y.label.unit)


def _offset(panel: Panel, order: int) -> float:
    """The places of the bars of a series beside the middle of their groups."""
    return (order - (len(panel.series) - 1) / 2) * _GROUP / max(len(panel.series), 1)


def _by_class(panel: Panel, styles: SeriesStyles, curve: Curve) -> tuple[Curve, ...]:
    """The bars of one scheme that stand for classes which other figures of the page show: each has the style of its
    class."""
    known = {name_of(series) for other in styles.panels for series in other.series} - {curve.style.name}
    names = names_along(panel)
    if not set(names) <= known:
        return (curve,)
    return tuple(
        Curve(names[point.place], styles.named(names[point.place]), (point,), Shape.BARS) for point in curve.points
    )


def _is_alone(panel: Panel, names: list[str]) -> bool:
    """Whether each series shows one thing that is not a number. Bars are then named below."""
    numbers = any(not isinstance(mark.x, str) for series in panel.series for mark in series.marks)
    return len(names) == 1 and len(panel.series) > 1 and not numbers


def _alone(panel: Panel, bar: float) -> Axis:
    ticks = tuple(Tick(_offset(panel, order), series.label) for order, series in enumerate(panel.series))
    return replace(category_axis(["one"], panel.x_label), named=ticks) if bar else category_axis([], "")


def _y(panel: Panel, names: list[str]) -> Axis:
    """The axis of bars has 0; a logarithmic one begins below the shortest bar."""
    estimates = [mark.estimate for _, marks in values(panel) for mark in marks]
    printed = printed_ys(panel, names)
    if not panel.log_y:
        return y_axis(panel, estimates, [*printed, 0.0])
    axis = y_axis(panel, estimates, printed)
    lowest = [y for y in (*(_mean(estimate) for estimate in estimates), *printed) if y > 0]
    if not lowest:
        return axis
    return replace(axis, scale=scale_over([min(lowest) / _BELOW_BARS, axis.scale.high], log=True))


def _mean(estimate: Estimate) -> float:
    return estimate.mean or 0.0


def _printed(panel: Panel, styles: SeriesStyles, names: list[str]) -> tuple[Printed, ...]:
    """Outlines of published bars around the measured ones."""
    orders: dict[str, int] = {}
    for order, series in enumerate(panel.series):
        orders.setdefault(series.scheme, order)
    drawn = []
    for curve in panel.published:
        of: Series | None = panel.series[orders[curve.series]] if curve.series in orders else None
        there = {x_text(mark.x) for mark in of.marks} if of is not None else set()
        for point in curve.points:
            name = "" if point.x is None else x_text(point.x)
            if of is None or name not in there or (panel.log_y and point.y <= 0):
                continue
            x = names.index(name) + _offset(panel, orders[curve.series])
            shown = f"{curve}, {panel.in_words(name)}: {point.y:g}"
            drawn.append(Printed(styles.named(published_name(panel, curve)), ((x, point.y),), Shape.BARS, shown))
    return tuple(drawn)


def _is_wide(panel: Panel, *, is_alone: bool) -> bool:
    bars = sum(len(series.marks) for series in panel.series)
    return bars > _BARS_IN_COLUMN or (is_alone and len(panel.series) > _NAMES_IN_COLUMN)
