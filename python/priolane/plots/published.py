"""Draws published curves behind the measured values: as faint lines, or as empty bars around the measured ones."""

from operator import itemgetter
from typing import Any

from matplotlib.lines import Line2D

from priolane.plots.marks import PanelAxes, numbers
from priolane.plots.series_styles import SeriesStyles
from priolane.plots.style import INK
from priolane.results.published import PAPER, Curve, PublishedPoint
from priolane.results.report import Panel

_ALPHA = 0.4
_WIDTH = 2.5
_DOTTED = 0.9
_DOT = 8


def points_within(panel: Panel, curve: Curve, names: list[str]) -> list[PublishedPoint]:
    """Returns the points of a curve at an x within the panel. `names` are the names below its x axis."""
    xs = numbers(panel)
    least, most = min(xs, default=0.0), max(xs, default=0.0)

    def within(x: float | str | None) -> bool:
        if x is None or names:
            return x is None or bar_name(x) in names
        return not isinstance(x, str) and least <= x <= most

    return [point for point in curve.points if within(point.x) and not (panel.log_y and point.y <= 0)]


def ys_within(panel: Panel, names: list[str]) -> list[float]:
    """Returns the published y values that the y axis must include."""
    return [point.y for curve in panel.published for point in points_within(panel, curve, names)]


def paint_lines(panel: Panel, place: PanelAxes, names: list[str]) -> None:
    """Draws each curve as a faint line in the colour of its series, or as dots if values between points are unknown.

    A mean over all x is a horizontal line.
    """
    axes = place.axes
    for order, curve in enumerate(panel.published):
        points = points_within(panel, curve, names)
        at = sorted(((_place(p.x, names), p.y) for p in points if p.x is not None), key=itemgetter(0))
        colour = _colour(panel, curve, place.styles)
        drawn = [axes.axhline(p.y, color=colour) for p in points if p.x is None]
        if at:
            xs, ys = zip(*at, strict=True)
            drawn += axes.plot(xs, ys, color=colour, markersize=_DOT, **_marks(is_apart=curve.is_apart))
        for line in drawn:
            line.set(alpha=_ALPHA, linewidth=_WIDTH, zorder=1.2, markeredgewidth=0)
            place.name(line.set_gid, f"paper-{order}")
    if panel.published:
        apart = all(curve.is_apart and all(point.x is not None for point in curve.points) for curve in panel.published)
        _entry(place).set(linewidth=_WIDTH, alpha=_ALPHA, markersize=_DOT, markeredgewidth=0, **_marks(is_apart=apart))


def paint_bars(panel: Panel, place: PanelAxes, at: dict[tuple[str, str], float], width: float) -> None:
    """Draws an empty bar for each point. `at` is the x of the bar of a scheme and a name, `width` its width."""
    for order, curve in enumerate(panel.published):
        for nth, point in enumerate(curve.points):
            x = at.get((curve.series, bar_name(point.x)))
            if x is None:
                continue
            (bar,) = place.axes.bar([x], [point.y], width, facecolor="none", edgecolor=INK, zorder=3.2)
            bar.set(linewidth=_DOTTED, linestyle=":")
            place.name(bar.set_gid, f"paper-{order}-{nth}")
    if panel.published:
        _entry(place).set(linewidth=_DOTTED, linestyle=":")


def bar_name(x: float | str | None) -> str:
    """Returns the name of a group of bars; empty for `None`."""
    return x if isinstance(x, str) else "" if x is None else f"{x:g}"


def _marks(*, is_apart: bool) -> dict[str, Any]:
    """Returns the marker and line style: separate points are dots, others are connected by lines."""
    return {"marker": "o", "linestyle": "none"} if is_apart else {"marker": "none", "linestyle": "-"}


def _place(x: float | str, names: list[str]) -> float:
    return names.index(bar_name(x)) if names else float(x)


def _colour(panel: Panel, curve: Curve, styles: SeriesStyles) -> str:
    """Returns the colour of the series with the name of the curve, by scheme, class or label."""
    for series in panel.series:
        if curve.series in (series.scheme, series.styled_as, series.label):
            return styles.of(series).colour
    return styles.named(curve.series).colour


def _entry(place: PanelAxes) -> Line2D:
    (entry,) = place.axes.plot([], [], color=INK, label=PAPER)
    return entry
