"""A line with marks for each series, over numbers or names. A line of many marks is a curve with a band."""

from collections.abc import Sequence

from priolane.figure.numbers import estimate_text
from priolane.figure.palette import SeriesStyles
from priolane.figure.panels import describe
from priolane.figure.plot import Axis, Curve, Plot, Point, Shape
from priolane.figure.scales import clamped
from priolane.figure.values import (
    category_axis,
    ends,
    head_of,
    names_along,
    number_axis,
    point_of,
    printed_lines,
    printed_ys,
    reference_lines,
    values,
    x_text,
    y_axis,
)
from priolane.results.report import Mark, Panel, Series

# A line with more marks is a curve, which is read at its places.
_MOST_MARKS = 20
_MOST_TICKS = 8
# More series have the width of the page.
_SERIES_IN_COLUMN = 8


def plot(panel: Panel, styles: SeriesStyles) -> Plot:
    """The plot of a panel of kind `line`."""
    shown = values(panel)
    xs = [mark.x for _, marks in shown for mark in marks]
    is_named = any(isinstance(x, str) for x in xs)
    names = names_along(panel) if is_named else []
    x = category_axis(names, panel.x_label) if is_named else _numbers(panel, xs)
    ordered: list[float | str] = [*names] if is_named else sorted({x for x in xs if not isinstance(x, str)})
    y = y_axis(panel, [mark.estimate for _, marks in shown for mark in marks], printed_ys(panel, names))
    return Plot(
        description=describe(panel),
        x=x,
        y=y,
        curves=tuple(_curve(series, marks, (styles, ordered, y)) for series, marks in shown),
        heads=tuple(head_of(panel.x_label, at) for at in ordered),
        printed=printed_lines(panel, styles, names, x),
        lines=reference_lines(panel),
        can_zoom=not is_named,
        is_wide=len(panel.series) > _SERIES_IN_COLUMN,
    )


def _numbers(panel: Panel, xs: Sequence[float | str]) -> Axis:
    numbers = [x for x in xs if not isinstance(x, str)]
    return number_axis(numbers, panel.x_label, log=panel.log_x, ticks=0 if panel.log_x else _MOST_TICKS)


def _curve(series: Series, marks: Sequence[Mark], where: tuple[SeriesStyles, Sequence[float | str], Axis]) -> Curve:
    styles, ordered, y = where
    is_named = any(isinstance(x, str) for x in ordered)
    places = {at: nth for nth, at in enumerate(ordered)}
    keys = [x_text(mark.x) if is_named else mark.x for mark in marks]
    points = tuple(
        point_of(places[key], float(places[key]) if isinstance(key, str) else key, mark.estimate, y.label.unit)
        for key, mark in zip(keys, marks, strict=True)
    )
    if len(marks) <= _MOST_MARKS:
        return Curve(series.label, styles.of(series), points, Shape.LINE)
    words = [estimate_text(mark.estimate, y.label.unit) for mark in marks]
    bare = tuple(Point(point.place, point.x, point.y, text) for point, text in zip(points, words, strict=True))
    band = tuple(
        (point.x, *interval)
        for point, mark in zip(points, marks, strict=True)
        if (interval := ends(mark.estimate)) is not None
    )
    return Curve(series.label, styles.of(series), bare, Shape.CURVE, band if _is_within(band) else ())


def _is_within(band: Sequence[tuple[float, float, float]]) -> bool:
    """Whether there is a band at all."""
    return len(band) > 1 and all(clamped(low) <= clamped(high) for _, low, high in band)
