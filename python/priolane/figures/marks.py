"""The marks of a panel: lines, grouped bars or CDFs, with 95 % interval bars and a hover text for every mark."""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from priolane.figures.style import INK, SOLID, Style, style_of, style_of_class
from priolane.report.model import Estimate, Mark, Panel, Series

# How far neighbouring series stand apart at one x, as a part of the distance between two x: hides no mark.
_DODGE = 0.035
_MOST_TICKS = 8
MARKS_PER_CURVE = 7
# A line with more marks than this is a curve with a band, marked here and there: marks would hide one another.
_MOST_MARKS = 20
# How far beyond bars an axis goes for the sake of intervals, in heights of all bars.
_BEYOND_BARS = 2.0


@dataclass
class Drawing:
    """A matplotlib figure and the hover text of each of its marks, by the mark's id."""

    figure: Figure
    titles: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PanelAxes:
    """Where a panel is painted; the ids of its marks start with `prefix`."""

    axes: Axes
    drawing: Drawing
    prefix: str

    def name(self, set_gid: Callable[[str], object], gid: str, title: str) -> None:
        """Gives an artist an id and a hover text."""
        whole = f"{self.prefix}-{gid}"
        set_gid(whole)
        self.drawing.titles[whole] = title


def hover_text(series: Series, panel: Panel, mark: Mark) -> str:
    """What a reader sees when pointing at a mark: series, x, value with its interval, number of seeds."""
    where = mark.x if isinstance(mark.x, str) else f"{panel.x_label} {mark.x:.4g}".strip()
    seeds = f"{mark.estimate.seeds} seed{'' if mark.estimate.seeds == 1 else 's'}"
    return f"{series.label}, {where}: {mark.estimate}, {seeds}"


def paint_lines(panel: Panel, place: PanelAxes) -> list[str]:
    """A line with marks per series, over numbers or names; returns the names below the x axis."""
    names = _categories(panel)
    for order, series in enumerate(panel.series):
        look = style_of(series.look or series.scheme)
        xs = [(names.index(m.x) if isinstance(m.x, str) else m.x) + _offset(panel, order) for m in series.marks]
        line(place.axes, xs, means(series), look).set_gid(f"{place.prefix}-line-{order}")
        dense = len(series.marks) > _MOST_MARKS
        if dense:
            _band(place.axes, xs, series, look)
        for nth in _marked(len(series.marks)) if dense else range(len(series.marks)):
            if not dense:
                _interval(place.axes, xs[nth], series.marks[nth].estimate, look.colour)
            _mark(place, (order, nth), (xs[nth], series.marks[nth]), panel)
        legend_entry(place.axes, str(order), series, look)
    if any(len(series.marks) > _MOST_MARKS for series in panel.series) and not panel.log_y:
        _fit_to_lines(panel, place.axes)
    numbers = sorted(_numbers(panel))
    if names:
        place.axes.set_xticks(range(len(names)))
    elif not panel.log_x and 0 < len(numbers) <= _MOST_TICKS:
        place.axes.set_xticks(numbers, [f"{x:g}" for x in numbers])
    return names


def paint_bars(panel: Panel, place: PanelAxes) -> list[str]:
    """Bars grouped by x; later series of one scheme are paler. Where all show one thing each is named by its series.
    Returns the names below the x axis.

    Bars of one scheme that stand for classes of service have the looks of these, as in the lines beside them.
    """
    names = _categories(panel)
    alone = len(names) == 1 and len(panel.series) > 1 and not _numbers(panel)
    width = 0.82 / max(len(panel.series), 1)
    for order, series in enumerate(panel.series):
        own = style_of(series.look or series.scheme)
        for nth, mark in enumerate(series.marks):
            look = (style_of_class(_bar_name(mark.x)) if len(panel.series) == 1 else None) or own
            x = names.index(_bar_name(mark.x)) + (order - (len(panel.series) - 1) / 2) * width
            (bar,) = place.axes.bar(
                [x],
                [mark.estimate.mean or 0.0],
                width * 0.94,
                color=look.colour,
                hatch=look.hatch,
                alpha=1.0 if series.variant == 0 else 0.55,
                label=str(order) if nth == 0 and not alone else "_nolegend_",
                linewidth=0,
            )
            place.name(bar.set_gid, f"mark-{order}-{nth}", hover_text(series, panel, mark))
            _interval(place.axes, x, mark.estimate, INK)
    places = [float(nth) for nth in range(len(names))]
    if alone:
        places = [(order - (len(panel.series) - 1) / 2) * width for order in range(len(panel.series))]
    place.axes.set_xticks(places)
    place.axes.tick_params(axis="x", length=0)
    if not panel.log_y:
        _fit_to_bars(panel, place.axes)
    return [series.label for series in panel.series] if alone else names


def paint_curves(panel: Panel, place: PanelAxes) -> list[str]:
    """A cumulative distribution per series, with some marks along it; there are no names below the x axis."""
    for order, series in enumerate(panel.series):
        look = style_of(series.look or series.scheme)
        xs = [mark.x for mark in series.marks if not isinstance(mark.x, str)]
        line(place.axes, xs, means(series), look).set_gid(f"{place.prefix}-line-{order}")
        for nth in _marked(len(series.marks)):
            _mark(place, (order, nth), (xs[nth], series.marks[nth]), panel)
        legend_entry(place.axes, str(order), series, look)
    place.axes.set_ylim(0, 1.02)
    return []


def _marked(marks: int) -> range:
    """Which of so many marks of a curve are drawn."""
    every = max(1, marks // MARKS_PER_CURVE)
    return range(every // 2, marks, every)


def _band(axes: Axes, xs: Sequence[float], series: Series, look: Style) -> None:
    """The 95 % intervals of a curve; none where no mark has one."""
    estimates = [mark.estimate for mark in series.marks]
    lows = [math.nan if estimate.low is None else estimate.low for estimate in estimates]
    highs = [math.nan if estimate.high is None else estimate.high for estimate in estimates]
    if not all(map(math.isnan, lows)):
        axes.fill_between(xs, lows, highs, color=look.colour, alpha=0.2, linewidth=0)


def means(series: Series) -> list[float]:
    """The means of the marks that have one."""
    return [mark.estimate.mean for mark in series.marks if mark.estimate.mean is not None]


def _fit_to_lines(panel: Panel, axes: Axes) -> None:
    """Shows all of the lines; a band that reaches far beyond them, as those of two seeds do, is cut off."""
    ys = [y for series in panel.series for y in means(series)]
    if panel.reference is not None:
        ys.append(panel.reference)
    low, high = min(ys, default=0.0), max(ys, default=0.0)
    if high > low:
        axes.set_ylim(low - 0.08 * (high - low), high + 0.08 * (high - low))


def _fit_to_bars(panel: Panel, axes: Axes) -> None:
    """Lets bars be seen: an interval that reaches far beyond them, as those of two seeds do, is cut off."""
    ys = [0.0, *(y for series in panel.series for y in means(series))]
    if panel.reference is not None:
        ys.append(panel.reference)
    low, high = min(ys), max(ys)
    beyond = _BEYOND_BARS * (high - low)
    bottom, top = axes.get_ylim()
    if beyond > 0:
        axes.set_ylim(max(bottom, low - beyond), min(top, high + beyond))


def _offset(panel: Panel, order: int) -> float:
    """Where a series stands beside the true x of its marks; nowhere else on a logarithmic axis."""
    if panel.log_x:
        return 0.0
    numbers = sorted(_numbers(panel))
    gap = min((b - a for a, b in itertools.pairwise(numbers)), default=0.0 if numbers else 1.0)
    return (order - (len(panel.series) - 1) / 2) * _DODGE * gap


def _numbers(panel: Panel) -> set[float]:
    return {mark.x for series in panel.series for mark in series.marks if not isinstance(mark.x, str)}


def _categories(panel: Panel) -> list[str]:
    """The names on the x axis in order of appearance; numbers become names where bars stand on them."""
    names: dict[str, None] = {}
    for series in panel.series:
        for mark in series.marks:
            if isinstance(mark.x, str) or panel.kind == "bar":
                names[_bar_name(mark.x)] = None
    return list(names)


def _bar_name(x: float | str) -> str:
    return x if isinstance(x, str) else f"{x:g}"


def line(axes: Axes, xs: Sequence[float], ys: Sequence[float], look: Style) -> Line2D:
    """A line in the looks of a scheme."""
    (line,) = axes.plot(xs, ys, color=look.colour)
    if look.dash != SOLID:
        line.set_dashes(look.dash)
    return line


def _mark(place: PanelAxes, number: tuple[int, int], at: tuple[float, Mark], panel: Panel) -> None:
    order, nth = number
    x, mark = at
    series = panel.series[order]
    (drawn,) = place.axes.plot([x], [mark.estimate.mean or 0.0], linestyle="none", **dot(series))
    place.name(drawn.set_gid, f"mark-{order}-{nth}", hover_text(series, panel, mark))


def dot(series: Series) -> dict[str, Any]:
    """Filled with a white rim; later series of one scheme are hollow."""
    look = style_of(series.look or series.scheme)
    filled = series.variant == 0
    return {
        "marker": look.marker,
        "color": look.colour,
        "markerfacecolor": look.colour if filled else "white",
        "markeredgecolor": "white" if filled else look.colour,
        "markeredgewidth": 0.6 if filled else 1.0,
        # A star's rim leaves little of it.
        "markersize": 8 if look.marker == "*" else 5.5,
        "zorder": 3,
    }


def _interval(axes: Axes, x: float, estimate: Estimate, colour: str) -> None:
    mean, low, high = estimate.mean, estimate.low, estimate.high
    if mean is None or low is None or high is None:
        return
    spans = [[max(mean - low, 0.0)], [max(high - mean, 0.0)]]
    axes.errorbar([x], [mean], yerr=spans, fmt="none", ecolor=colour, elinewidth=0.9, capsize=2, capthick=0.9)


def legend_entry(axes: Axes, key: str, series: Series, look: Style) -> None:
    """An entry of the legend, a line with a mark, under `key`."""
    (entry,) = axes.plot([], [], label=key, **dot(series))
    entry.set_linestyle("-")
    entry.set_linewidth(1.3)
    if look.dash != SOLID:
        entry.set_dashes(look.dash)
