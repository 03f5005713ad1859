"""Values over time: a line of means and a shade up to the largest value."""

from priolane.plots.marks import MARKS_PER_CURVE, Painter, PanelAxes, dot, legend_entry, line, means
from priolane.results.report import Panel, Series

_SHADE = 0.16
# The top of the axis over the largest value, so that its shade is seen to end.
_ABOVE_PEAKS = 1.05


def _paint(panel: Panel, place: PanelAxes) -> list[str]:
    """A line per series; there are no names below the x axis."""
    top = 0.0
    for order, series in enumerate(panel.series):
        style = place.styles.of(series)
        xs, ys = _numbers(series), means(series)
        peaks = [mean if mark.peak is None else mark.peak for mark, mean in zip(series.marks, ys, strict=True)]
        top = max(top, *peaks, *ys) if xs else top
        place.axes.fill_between(xs, ys, peaks, color=style.colour, alpha=_SHADE, linewidth=0)
        line(place.axes, xs, ys, style).set_gid(f"{place.prefix}-line-{order}")
        # Each series has its marks elsewhere, so that none hides another's.
        every = max(1, len(xs) // MARKS_PER_CURVE)
        first = order * every // max(len(panel.series), 1)
        place.axes.plot(xs[first::every], ys[first::every], linestyle="none", **dot(series, style))
        legend_entry(place.axes, str(order), series, style)
    place.axes.set_ylim(0, _ABOVE_PEAKS * top or 1.0)
    return []


def _numbers(series: Series) -> list[float]:
    return [mark.x for mark in series.marks if not isinstance(mark.x, str)]


PAINTER = Painter("trace", _paint)
