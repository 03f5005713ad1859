"""Cells in colours of their values: x by the names or numbers along x, a row for each series."""

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm, Normalize, to_hex, to_rgb
from matplotlib.patches import Rectangle

from priolane.plots.marks import AXES_IN, Painter, PanelAxes, means
from priolane.plots.style import INK, RULE
from priolane.plots.ticks import name_powers
from priolane.results.numbers import relabelled, short
from priolane.results.report import Mark, Panel

# From dark to light, as even in grey as in colours.
_COLOURS = "cividis"
# Colours above this luminance have dark numbers on them.
_LIGHT = 0.5
# A row has room for its name.
_ROW_IN = 0.14
# So many cells of a row have room for a number in a column, and in a page.
_CELLS_IN_COLUMN = 6
_CELLS_IN_PAGE = 14


def _paint(panel: Panel, place: PanelAxes) -> list[str]:
    """A row of cells for each series, the first one on top, and a bar of colours. Returns the names
    below the x axis."""
    names = _names(panel)
    about, scale = _unit(panel)
    colours = _colours(panel, scale)
    for row, series in enumerate(panel.series):
        for nth, mark in enumerate(series.marks):
            column = names.index(_name(mark))
            mean = mark.estimate.mean
            colour = "white" if mean is None else to_hex(tuple(colours.to_rgba(np.array([mean * scale]))[0]))
            cell = Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=colour, edgecolor=RULE, linewidth=0.5)
            place.name(place.axes.add_patch(cell).set_gid, f"mark-{row}-{nth}")
            if len(names) <= _CELLS_IN_PAGE:
                text = "\N{EN DASH}" if mean is None else short(mean * scale)
                place.axes.text(column, row, text, ha="center", va="center", fontsize=6.5, color=_ink_on(colour))
    place.axes.set_xlim(-0.5, len(names) - 0.5)
    place.axes.set_ylim(len(panel.series) - 0.5, -0.5)
    place.axes.set_xticks(range(len(names)))
    place.axes.set_yticks(range(len(panel.series)), [series.label for series in panel.series])
    place.axes.tick_params(length=0)
    if figure := place.axes.get_figure(root=True):
        bar = figure.colorbar(colours, ax=place.axes, label=about)
        bar.outline.set_linewidth(0.5)
        if isinstance(colours.norm, LogNorm):
            name_powers(bar.ax.yaxis, 1.0)
    return names


def _unit(panel: Panel) -> tuple[str, float]:
    """The label of values, in which the unit becomes the one that fits the largest, and how many of it are one of the
    label's."""
    largest = max((abs(mean) for series in panel.series for mean in means(series)), default=0.0)
    return relabelled(panel.y_label, largest)


def _colours(panel: Panel, scale: float) -> ScalarMappable:
    """From the least value to the largest; logarithmic where the panel is and all are above zero."""
    values = [mean * scale for series in panel.series for mean in means(series)]
    low, high = min(values), max(values)
    if low == high:
        low, high = low - 0.5, high + 0.5
    return ScalarMappable(LogNorm(low, high) if panel.log_y and low > 0 else Normalize(low, high), _COLOURS)


def _ink_on(colour: str) -> str:
    """A colour of text that can be read on `colour`."""
    red, green, blue = to_rgb(colour)
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > _LIGHT else "white"


def _name(mark: Mark) -> str:
    return mark.x if isinstance(mark.x, str) else f"{mark.x:g}"


def _names(panel: Panel) -> list[str]:
    """Numbers in order, or names in order of appearance."""
    xs = [mark.x for series in panel.series for mark in series.marks]
    numbers = sorted({x for x in xs if not isinstance(x, str)})
    return [f"{x:g}" for x in numbers] + list(dict.fromkeys(x for x in xs if isinstance(x, str)))


def _wide(panel: Panel) -> bool:
    return len(_names(panel)) > _CELLS_IN_COLUMN


def _least_height(panel: Panel) -> float:
    return max(AXES_IN, _ROW_IN * len(panel.series))


PAINTER = Painter("heat_map", _paint, _wide, y_is_value=False, least_height=_least_height)
