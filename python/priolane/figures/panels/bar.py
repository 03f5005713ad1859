"""Bars grouped by x."""

from matplotlib.axes import Axes

from priolane.figures.marks import Painter, PanelAxes, hover_text, means, numbers, paint_interval
from priolane.figures.style import INK, style_of, style_of_class
from priolane.report.model import Panel

# How far beyond bars an axis goes for the sake of intervals, in heights of all bars.
_BEYOND_BARS = 2.0
# Bars, of all series together, that a column has room for; more have the width of a page.
_BARS_IN_COLUMN = 30


def _paint(panel: Panel, place: PanelAxes) -> list[str]:
    """Bars grouped by x; later series of one scheme are paler. Where all show one thing each is named by its series.
    Returns the names below the x axis.

    Bars of one scheme that stand for classes of service have the looks of these, as in the lines beside them.
    """
    names = _categories(panel)
    alone = len(names) == 1 and len(panel.series) > 1 and not numbers(panel)
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
            paint_interval(place.axes, x, mark.estimate, INK)
    places = [float(nth) for nth in range(len(names))]
    if alone:
        places = [(order - (len(panel.series) - 1) / 2) * width for order in range(len(panel.series))]
    place.axes.set_xticks(places)
    place.axes.tick_params(axis="x", length=0)
    if not panel.log_y:
        _fit_to_bars(panel, place.axes)
    return [series.label for series in panel.series] if alone else names


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


def _categories(panel: Panel) -> list[str]:
    """The names on the x axis in order of appearance; numbers become names."""
    return list(dict.fromkeys(_bar_name(mark.x) for series in panel.series for mark in series.marks))


def _bar_name(x: float | str) -> str:
    return x if isinstance(x, str) else f"{x:g}"


def _wide(panel: Panel) -> bool:
    return sum(len(series.marks) for series in panel.series) > _BARS_IN_COLUMN


PAINTER = Painter("bar", _paint, _wide)
