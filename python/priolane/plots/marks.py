"""The common parts of painters of panels: the place, lines, marks, intervals and legends with the looks of schemes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from priolane.plots.series_styles import SeriesStyles
from priolane.plots.style import SOLID, Style
from priolane.results.estimate import Estimate
from priolane.results.report import Mark, Panel, Series

MARKS_PER_CURVE = 7
# Axes are at least so high, whatever stands below and above: a figure grows where there would be less.
AXES_IN = 1.3
_HEIGHT_OF_MANY_IN = 2.4
# With more series than this a panel has the width of a page.
_SERIES_IN_COLUMN = 8


@dataclass
class Drawing:
    """A matplotlib figure."""

    figure: Figure


@dataclass(frozen=True)
class PanelAxes:
    """The place where a panel is painted, and the looks of its series; the ids of its marks start with `prefix`."""

    axes: Axes
    drawing: Drawing
    prefix: str
    styles: SeriesStyles

    def name(self, set_gid: Callable[[str], object], gid: str) -> None:
        """Gives an artist an id."""
        set_gid(f"{self.prefix}-{gid}")


def many_series(panel: Panel) -> bool:
    """Whether a panel has too many series for the legend and the lines to have room in a column."""
    return len(panel.series) > _SERIES_IN_COLUMN


def roomy_height(panel: Panel) -> float:
    """The least height of axes, in inches, of panels that are as wide as a page where there are many series."""
    return _HEIGHT_OF_MANY_IN if many_series(panel) else AXES_IN


def never(_panel: Panel) -> bool:
    """Whether a panel is as wide as a page: most kinds never are."""
    return False


def usual_height(_panel: Panel) -> float:
    """The least height of axes, in inches, of most kinds."""
    return AXES_IN


@dataclass(frozen=True)
class Painter:
    """The painter of panels of a kind, by the lab's name for the kind.

    `paint` returns the names below the x axis, if it has names; `wide` says whether a column has no room for a panel;
    `least_height` is that of its axes in inches. `y_is_value`: values are along y, whose scale and label are those of
    the panel; otherwise `paint` sees to y.
    """

    kind: str
    paint: Callable[[Panel, PanelAxes], list[str]]
    wide: Callable[[Panel], bool] = never
    y_is_value: bool = True
    least_height: Callable[[Panel], float] = usual_height


def marked(marks: int) -> range:
    """The marks of a curve that are drawn, if there are so many."""
    every = max(1, marks // MARKS_PER_CURVE)
    return range(every // 2, marks, every)


def means(series: Series) -> list[float]:
    """The means of the marks that have one."""
    return [mark.estimate.mean for mark in series.marks if mark.estimate.mean is not None]


def numbers(panel: Panel) -> set[float]:
    """The numbers along x."""
    return {mark.x for series in panel.series for mark in series.marks if not isinstance(mark.x, str)}


def line(axes: Axes, xs: Sequence[float], ys: Sequence[float], style: Style) -> Line2D:
    """A line in the looks of a scheme."""
    (line,) = axes.plot(xs, ys, color=style.colour)
    if style.dash != SOLID:
        line.set_dashes(style.dash)
    return line


def paint_mark(place: PanelAxes, number: tuple[int, int], at: tuple[float, Mark], panel: Panel) -> None:
    """A mark of a series, by the places of both, at x."""
    order, nth = number
    x, mark = at
    series = panel.series[order]
    (drawn,) = place.axes.plot(
        [x], [mark.estimate.mean or 0.0], linestyle="none", **dot(series, place.styles.of(series))
    )
    place.name(drawn.set_gid, f"mark-{order}-{nth}")


# By variant; the second is full of white.
_FILLS = ("full", "full", "left", "bottom")


def dot(series: Series, style: Style) -> dict[str, Any]:
    """Filled with a white rim; of later series of one scheme the second is hollow, and others are half filled."""
    filled = series.variant == 0
    return {
        "marker": style.marker,
        "color": style.colour,
        "fillstyle": _FILLS[min(series.variant, len(_FILLS) - 1)],
        "markerfacecolor": "white" if series.variant == 1 else style.colour,
        "markerfacecoloralt": "white",
        "markeredgecolor": "white" if filled else style.colour,
        "markeredgewidth": 0.6 if filled else 1.0,
        # A star's rim leaves little of it.
        "markersize": 8 if style.marker == "*" else 5.5,
        "zorder": 3,
    }


def paint_interval(axes: Axes, x: float, estimate: Estimate, colour: str) -> None:
    """The 95 % interval of a mark, if it has one."""
    mean, low, high = estimate.mean, estimate.low, estimate.high
    if mean is None or low is None or high is None:
        return
    spans = [[max(mean - low, 0.0)], [max(high - mean, 0.0)]]
    axes.errorbar([x], [mean], yerr=spans, fmt="none", ecolor=colour, elinewidth=0.9, capsize=2, capthick=0.9)


def legend_entry(axes: Axes, key: str, series: Series, style: Style) -> None:
    """An entry of the legend, a line with a mark, under `key`."""
    (entry,) = axes.plot([], [], label=key, **dot(series, style))
    entry.set_linestyle("-")
    entry.set_linewidth(1.3)
    if style.dash != SOLID:
        entry.set_dashes(style.dash)
