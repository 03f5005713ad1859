"""A line with marks per series, over numbers or names."""

import itertools
import math
from collections.abc import Sequence

from matplotlib.axes import Axes

from priolane.plots.marks import (
    Painter,
    PanelAxes,
    legend_entry,
    line,
    many_series,
    marked,
    means,
    numbers,
    paint_interval,
    paint_mark,
    roomy_height,
)
from priolane.plots.published import paint_lines, ys_within
from priolane.plots.style import Style
from priolane.results.report import Panel, Series

# How far neighbouring series stand apart at one x, and all of them at most, as parts of the distance between two x:
# hides no mark.
_DODGE = 0.035
_WIDEST_DODGE = 0.3
_MOST_TICKS = 8
# How far beyond marks an axis goes for the sake of intervals: in heights of all marks, or on a logarithmic axis.
_BEYOND_MARKS = 2.0
_BEYOND_ON_LOG = 2.0
# What stays free beyond them, as a part of the height.
_ROOM = 0.05
# A line with more marks than this is a curve with a band, marked here and there: marks would hide one another.
_MOST_MARKS = 20


def _paint(panel: Panel, place: PanelAxes) -> list[str]:
    """A line with marks per series, over numbers or names; returns the names below the x axis."""
    names = _categories(panel)
    for order, series in enumerate(panel.series):
        style = place.styles.of(series)
        offset = _offset(panel, order)
        xs = [(names.index(m.x) if isinstance(m.x, str) else m.x) + offset for m in series.marks]
        line(place.axes, xs, means(series), style).set_gid(f"{place.prefix}-line-{order}")
        dense = len(series.marks) > _MOST_MARKS
        if dense:
            _band(place.axes, xs, series, style)
        for nth in marked(len(series.marks)) if dense else range(len(series.marks)):
            if not dense:
                paint_interval(place.axes, xs[nth], series.marks[nth].estimate, style.colour)
            paint_mark(place, (order, nth), (xs[nth], series.marks[nth]), panel)
        legend_entry(place.axes, str(order), series, style)
    paint_lines(panel, place, names)
    ys = [*(y for series in panel.series for y in means(series)), *ys_within(panel, names)]
    if any(len(series.marks) > _MOST_MARKS for series in panel.series) and not panel.log_y:
        _fit_to_lines(panel, place.axes, ys)
    elif all(len(series.marks) <= _MOST_MARKS for series in panel.series):
        _fit_to_marks(panel, place.axes, ys)
    ticks = sorted(numbers(panel))
    if names:
        place.axes.set_xticks(range(len(names)))
    elif not panel.log_x and 0 < len(ticks) <= _MOST_TICKS:
        place.axes.set_xticks(ticks, [f"{x:g}" for x in ticks])
    return names


def _band(axes: Axes, xs: Sequence[float], series: Series, style: Style) -> None:
    """The 95 % intervals of a curve; none where no mark has one."""
    estimates = [mark.estimate for mark in series.marks]
    lows = [math.nan if estimate.low is None else estimate.low for estimate in estimates]
    highs = [math.nan if estimate.high is None else estimate.high for estimate in estimates]
    if not all(map(math.isnan, lows)):
        axes.fill_between(xs, lows, highs, color=style.colour, alpha=0.2, linewidth=0)


def _fit_to_lines(panel: Panel, axes: Axes, ys: list[float]) -> None:
    """Shows all of the lines; a band that reaches far beyond them, as those of two seeds do, is cut off."""
    if panel.reference is not None:
        ys = [*ys, panel.reference]
    low, high = min(ys, default=0.0), max(ys, default=0.0)
    if high > low:
        axes.set_ylim(low - 0.08 * (high - low), high + 0.08 * (high - low))


def _fit_to_marks(panel: Panel, axes: Axes, ys: list[float]) -> None:
    """Keeps marks distinguishable: an interval that reaches far beyond them, as those of two seeds do, is cut off."""
    marks = [mark.estimate for series in panel.series for mark in series.marks if mark.estimate.mean is not None]
    if panel.reference is not None:
        ys = [*ys, panel.reference]
    ends = [end for mark in marks for end in (mark.low, mark.high) if end is not None]
    low, high = min(ys, default=0.0), max(ys, default=0.0)
    if not ends or not low < high or (panel.log_y and low <= 0):
        return
    if panel.log_y:
        reach = max(_BEYOND_ON_LOG, math.sqrt(high / low))
        least, most = low / reach, high * reach
    else:
        least, most = low - _BEYOND_MARKS * (high - low), high + _BEYOND_MARKS * (high - low)
    if min(ends) < least or max(ends) > most:
        bottom, top = max(least, min(*ends, low)), min(most, max(*ends, high))
        room = 0.0 if panel.log_y else _ROOM * (top - bottom)
        axes.set_ylim(bottom - room, top + room)


def _offset(panel: Panel, order: int) -> float:
    """The place of a series beside the true x of its marks; the true x itself on a logarithmic axis."""
    if panel.log_x:
        return 0.0
    xs = sorted(numbers(panel))
    gap = min((b - a for a, b in itertools.pairwise(xs)), default=0.0 if xs else 1.0)
    apart = min(_DODGE, _WIDEST_DODGE / max(len(panel.series) - 1, 1))
    return (order - (len(panel.series) - 1) / 2) * apart * gap


def _categories(panel: Panel) -> list[str]:
    """The names on the x axis in order of appearance."""
    return list(dict.fromkeys(m.x for series in panel.series for m in series.marks if isinstance(m.x, str)))


PAINTER = Painter("line", _paint, many_series, least_height=roomy_height)
