"""One metric against another: a dot for each mark, its area a third metric, joined in the order of the marks."""

from math import sqrt

from priolane.figure.numbers import Label, estimate_text, plain
from priolane.figure.palette import SeriesStyles
from priolane.figure.panels import describe
from priolane.figure.plot import Axis, Curve, Labels, Line, Plot, Point, Shape
from priolane.figure.scales import clamped
from priolane.figure.values import ends, number_axis, values, x_text, y_axis
from priolane.results.report import Mark, Panel, Series

# Radii in pixels: of dots of one size, of the largest where areas differ, and the least that is seen.
_USUAL, _LARGEST, _LEAST = 4.0, 12.0, 2.5
_SERIES_IN_COLUMN = 8


def plot(panel: Panel, styles: SeriesStyles) -> Plot:
    """The plot of a panel of kind `scatter`."""
    shown = values(panel)
    every = [mark for _, marks in shown for mark in marks]
    sizes = [mark.size.mean for mark in every if mark.size is not None and mark.size.mean]
    x = number_axis([_x(mark) for mark in every], panel.x_label, log=panel.log_x)
    y = y_axis(panel, [mark.estimate for mark in every], is_anchored=False)
    curves: list[Curve] = []
    heads: list[str] = []
    for series, marks in shown:
        points = []
        for nth, mark in enumerate(marks):
            is_end = len(marks) > 1 and nth in (0, len(marks) - 1)
            points.append(_point(len(heads), mark, (x, y), _radius(mark, sizes), is_end=is_end))
            heads.append(_head(mark))
        shape = Shape.LINE if len(marks) > 1 else Shape.DOTS
        curves.append(_curve(series, tuple(points), shape, styles))
    return Plot(
        description=describe(panel),
        x=x,
        y=y,
        curves=tuple(curves),
        heads=tuple(heads),
        lines=tuple(Line(slope=slope) for slope in panel.rays),
        labels=Labels.BESIDE
        if len(curves) <= _SERIES_IN_COLUMN and all(len(c.points) > 4 for c in curves)
        else Labels.NONE,
        can_zoom=False,
        is_wide=len(panel.series) > _SERIES_IN_COLUMN,
    )


def _curve(series: Series, points: tuple[Point, ...], shape: Shape, styles: SeriesStyles) -> Curve:
    return Curve(series.label, styles.of(series), points, shape)


def _point(place: int, mark: Mark, axes: tuple[Axis, Axis], radius: float, *, is_end: bool) -> Point:
    """A dot with both intervals; the ends of a line say where it begins and ends."""
    x, y = axes
    of_x = mark.across or mark.estimate
    size = "" if mark.size is None or mark.size.mean is None else f"; area {plain(mark.size.mean)}"
    seeds = f"{mark.estimate.seeds} seed{'' if mark.estimate.seeds == 1 else 's'}"
    shown = (
        f"{_bare(x.label)} {estimate_text(of_x, x.label.unit)}, "
        f"{_bare(y.label)} {estimate_text(mark.estimate, y.label.unit)}{size}; {seeds}"
    )
    across = None if mark.across is None else ends(mark.across)
    note = x_text(mark.along) if is_end and mark.along is not None else ""
    at = (clamped(_x(mark)), clamped(mark.estimate.mean or 0.0))
    return Point(place, *at, shown, ends(mark.estimate), across, radius, note)


def _bare(label: Label) -> str:
    return label.in_unit(None)


def _x(mark: Mark) -> float:
    return 0.0 if isinstance(mark.x, str) else mark.x


def _head(mark: Mark) -> str:
    return "" if mark.along is None else f"at {x_text(mark.along)}"


def _radius(mark: Mark, sizes: list[float]) -> float:
    """Areas are as sizes are; a dot that would be too small to be seen has the least one."""
    if mark.size is None or not sizes:
        return _USUAL
    return max(_LEAST, _LARGEST * sqrt(max(mark.size.mean or 0.0, 0.0) / max(sizes)))
