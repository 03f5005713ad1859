"""Bars grouped by x."""

from matplotlib.axes import Axes

from priolane.plots.marks import Painter, PanelAxes, means, numbers, paint_interval
from priolane.plots.published import bar_name, paint_bars, ys_within
from priolane.plots.style import INK, style_of_class
from priolane.results.report import Panel

# Of the series of one scheme, by variant.
_OPACITIES = (1.0, 0.55, 0.35, 0.2)
# How far beyond bars an axis goes for the sake of intervals, in heights of all bars.
_BEYOND_BARS = 2.0
# How far below the shortest bar a logarithmic axis begins, as a factor.
_BELOW_BARS = 2.0
# Names of series below bars that a column has room for.
_NAMES_IN_COLUMN = 10
# Bars, of all series together, that a column has room for; more have the width of a page.
_BARS_IN_COLUMN = 30


def _paint(panel: Panel, place: PanelAxes) -> list[str]:
    """Bars grouped by x; later series of one scheme are paler. Where all show one thing each is named by its series.
    Returns the names below the x axis.

    Bars of one scheme that stand for classes of service have the looks of these, as in the lines beside them.
    """
    names = _categories(panel)
    alone = _alone(panel)
    width = 0.82 / max(len(panel.series), 1)
    at: dict[tuple[str, str], float] = {}
    for order, series in enumerate(panel.series):
        own = place.styles.of(series)
        for nth, mark in enumerate(series.marks):
            style = (style_of_class(bar_name(mark.x)) if len(panel.series) == 1 else None) or own
            x = names.index(bar_name(mark.x)) + (order - (len(panel.series) - 1) / 2) * width
            at.setdefault((series.scheme, bar_name(mark.x)), x)
            (bar,) = place.axes.bar(
                [x],
                [mark.estimate.mean or 0.0],
                width * 0.94,
                color=style.colour,
                hatch=style.hatch,
                alpha=_OPACITIES[min(series.variant, len(_OPACITIES) - 1)],
                label=str(order) if nth == 0 and not alone else "_nolegend_",
                linewidth=0,
            )
            place.name(bar.set_gid, f"mark-{order}-{nth}")
            paint_interval(place.axes, x, mark.estimate, INK)
    paint_bars(panel, place, at, width * 0.94)
    places = [float(nth) for nth in range(len(names))]
    if alone:
        places = [(order - (len(panel.series) - 1) / 2) * width for order in range(len(panel.series))]
    place.axes.set_xticks(places)
    place.axes.tick_params(axis="x", length=0)
    if panel.reference is not None:
        # The axis is fixed before the line is drawn, which may lie above all bars.
        place.axes.update_datalim([(0.0, panel.reference)], updatex=False)
        place.axes.autoscale_view(scalex=False)
    if panel.log_y:
        _begin_below_bars(panel, place.axes)
    else:
        _fit_to_bars(panel, place.axes)
    return [series.label for series in panel.series] if alone else [panel.in_words(name) for name in names]


def _begin_below_bars(panel: Panel, axes: Axes) -> None:
    """Lets the shortest bar on a logarithmic axis, which has no 0, be seen, and cuts off what intervals reach below."""
    ys = [*(y for series in panel.series for y in means(series)), *ys_within(panel, _categories(panel))]
    positive = [y for y in (*ys, panel.reference or 0.0) if y > 0]
    if positive:
        axes.set_ylim(bottom=min(positive) / _BELOW_BARS)


def _fit_to_bars(panel: Panel, axes: Axes) -> None:
    """Lets bars be seen: an interval that reaches far beyond them, as those of two seeds do, is cut off."""
    ys = [0.0, *(y for series in panel.series for y in means(series)), *ys_within(panel, _categories(panel))]
    if panel.reference is not None:
        ys.append(panel.reference)
    low, high = min(ys), max(ys)
    beyond = _BEYOND_BARS * (high - low)
    bottom, top = axes.get_ylim()
    if beyond > 0:
        axes.set_ylim(max(bottom, low - beyond), min(top, high + beyond))


def _alone(panel: Panel) -> bool:
    """Whether all series show one thing each: they are named below their bars then."""
    return len(_categories(panel)) == 1 and len(panel.series) > 1 and not numbers(panel)


def _categories(panel: Panel) -> list[str]:
    """The names on the x axis in order of appearance; numbers become names."""
    return list(dict.fromkeys(bar_name(mark.x) for series in panel.series for mark in series.marks))


def _wide(panel: Panel) -> bool:
    named = _alone(panel) and len(panel.series) > _NAMES_IN_COLUMN
    return named or sum(len(series.marks) for series in panel.series) > _BARS_IN_COLUMN


PAINTER = Painter("bar", _paint, _wide)
