"""Values over time: a line of means and a shade up to the largest value, and a hover text for every instant."""

from matplotlib.patches import Rectangle

from priolane.figures.marks import MARKS_PER_CURVE, Painter, PanelAxes, dot, legend_entry, line, means
from priolane.figures.style import INK
from priolane.report.model import Panel, Series

_SHADE = 0.16
# The top of the axis over the largest value, so that its shade is seen to end.
_ABOVE_PEAKS = 1.05
# Not quite transparent: a browser does not point at what is not painted.
_UNSEEN = 0.004


def _paint(panel: Panel, place: PanelAxes) -> list[str]:
    """A line per series; one unseen column per bin carries the values of all series, so that no mark must be hit.
    There are no names below the x axis.
    """
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
    _slots(panel, place)
    return []


def slot_text(panel: Panel, x: float) -> str:
    """What a reader sees when pointing at a bin: its time, and mean and largest value of each series."""
    lines = [f"{panel.x_label} {x:.4g}"]
    for series in panel.series:
        lines += [f"{series.label}: {mark}" for mark in series.marks if mark.x == x]
    return "\n".join(lines)


def _slots(panel: Panel, place: PanelAxes) -> None:
    xs = sorted({x for series in panel.series for x in _numbers(series)})
    if not xs:
        return
    half = (xs[1] - xs[0]) / 2 if len(xs) > 1 else abs(xs[0]) or 0.5
    for nth, x in enumerate(xs):
        slot = Rectangle((x - half, 0), 2 * half, 1, color=INK, alpha=_UNSEEN, linewidth=0, zorder=6)
        slot.set_transform(place.axes.get_xaxis_transform())
        place.label(place.axes.add_artist(slot).set_gid, f"slot-{nth}", slot_text(panel, x))
    place.axes.set_xlim(max(0.0, xs[0] - half), xs[-1] + half)


def _numbers(series: Series) -> list[float]:
    return [mark.x for mark in series.marks if not isinstance(mark.x, str)]


PAINTER = Painter("trace", _paint)
