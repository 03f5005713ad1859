"""A cumulative distribution per series."""

from priolane.plots.marks import (
    Painter,
    PanelAxes,
    legend_entry,
    line,
    many_series,
    marked,
    means,
    paint_mark,
    roomy_height,
)
from priolane.plots.published import paint_lines
from priolane.results.report import Panel


def _paint(panel: Panel, place: PanelAxes) -> list[str]:
    """A cumulative distribution per series, with some marks along it; there are no names below the x axis."""
    for order, series in enumerate(panel.series):
        style = place.styles.of(series)
        xs = [mark.x for mark in series.marks if not isinstance(mark.x, str)]
        line(place.axes, xs, means(series), style).set_gid(f"{place.prefix}-line-{order}")
        for nth in marked(len(series.marks)):
            paint_mark(place, (order, nth), (xs[nth], series.marks[nth]), panel)
        legend_entry(place.axes, str(order), series, style)
    paint_lines(panel, place, [])
    place.axes.set_ylim(0, 1.02)
    return []


PAINTER = Painter("cdf", _paint, many_series, least_height=roomy_height)
