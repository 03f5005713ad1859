"""One metric against another: a dot for each mark, its area a third one, joined in the order of the marks."""

from math import sqrt

import numpy as np

from priolane.plots.marks import Painter, PanelAxes, dot, legend_entry, line, many_series, paint_interval
from priolane.plots.style import INK
from priolane.results.report import Mark, Panel

# Diameters in points: of dots of one size, and of the largest where areas differ, and the least that is seen.
_USUAL = 6.5
_LARGEST = 17.0
_LEAST = 4.0
# Axes are at least so high.
_HEIGHT_IN = 2.2
# Text at the ends of a line, and at rays.
_SMALL = 6
_GAP = (4, 3)


def _paint(panel: Panel, place: PanelAxes) -> list[str]:
    """Dots with intervals both ways; there are no names below the x axis."""
    axes = place.axes
    sizes = [mark.size.mean for series in panel.series for mark in series.marks if mark.size and mark.size.mean]
    for order, series in enumerate(panel.series):
        style = place.styles.of(series)
        xs, ys = [_number(mark) for mark in series.marks], [mark.estimate.mean or 0.0 for mark in series.marks]
        if len(xs) > 1:
            line(axes, xs, ys, style).set_gid(f"{place.prefix}-line-{order}")
            for nth in (0, len(xs) - 1):
                text = series.marks[nth].along
                name = text if isinstance(text, str) else "" if text is None else f"{text:g}"
                axes.annotate(name, (xs[nth], ys[nth]), _GAP, textcoords="offset points", fontsize=_SMALL, color=INK)
        for nth, mark in enumerate(series.marks):
            paint_interval(axes, xs[nth], mark.estimate, style.colour)
            _paint_across(place, mark, style.colour)
            diameter = _diameter(mark, sizes)
            # Small dots lie on large ones.
            drawn_as = dot(series, style) | {"markersize": diameter, "alpha": 0.8, "zorder": 4 - diameter / 100}
            (drawn,) = axes.plot([xs[nth]], [ys[nth]], linestyle="none", **drawn_as)
            place.name(drawn.set_gid, f"mark-{order}-{nth}")
        legend_entry(axes, str(order), series, style if len(xs) > 1 else place.styles.named(series.scheme))
    if panel.log_x:
        axes.set_xscale("log")
    if panel.log_y:
        axes.set_yscale("log")
    _paint_rays(panel, place)
    return []


def _number(mark: Mark) -> float:
    return 0.0 if isinstance(mark.x, str) else mark.x


def _diameter(mark: Mark, sizes: list[float]) -> float:
    """Areas are as sizes are; a dot that would be too small to be seen has the least one."""
    if mark.size is None or not sizes:
        return _USUAL
    return max(_LEAST, _LARGEST * sqrt(max(mark.size.mean or 0.0, 0.0) / max(sizes)))


def _paint_across(place: PanelAxes, mark: Mark, colour: str) -> None:
    """The 95 % interval along x, if there is one."""
    of_x = mark.across
    if of_x is None or of_x.mean is None or of_x.low is None or of_x.high is None:
        return
    spans = [[max(of_x.mean - of_x.low, 0.0)], [max(of_x.high - of_x.mean, 0.0)]]
    y = mark.estimate.mean or 0.0
    place.axes.errorbar(
        [of_x.mean], [y], xerr=spans, fmt="none", ecolor=colour, elinewidth=0.9, capsize=2, capthick=0.9
    )


def _paint_rays(panel: Panel, place: PanelAxes) -> None:
    """Lines y = slope x within what is seen, each with its slope where it leaves."""
    axes = place.axes
    if not panel.rays:
        return
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    for slope in panel.rays:
        xs = np.linspace(max(left, bottom / slope), min(right, top / slope), 50)
        if xs[0] >= xs[-1]:
            continue
        axes.plot(xs, slope * xs, color=INK, linewidth=0.7, dashes=(3, 2), zorder=1.4)
        axes.annotate(f"{slope:g}", (xs[-1], slope * xs[-1]), (-9, -7), textcoords="offset points", fontsize=_SMALL)
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)


def _least_height(_panel: Panel) -> float:
    return _HEIGHT_IN


PAINTER = Painter("scatter", _paint, many_series, least_height=_least_height)
