"""Laying out figures: one panel at the width of a column, or all panels at the width of a page."""

import math
import textwrap
from collections.abc import Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from matplotlib.transforms import offset_copy

from priolane.figures.marks import Drawing, PanelAxes, paint_bars, paint_curves, paint_lines
from priolane.figures.style import INK, applied
from priolane.figures.traces import paint_traces
from priolane.report.model import Panel
from priolane.report.numbers import fitting

SINGLE_IN = 3.3
DOUBLE_IN = 7.0
_ROW_IN = 2.45
# From the ticks and the label of an x axis to a legend.
_BEFORE_LEGEND_IN = 0.06
# Width of a legend's row, in characters, at the width of a column; each entry's symbol takes as much as 8.
_LEGEND_CHARACTERS = 52
_SYMBOL_CHARACTERS = 8
# Longest texts that a panel has room for.
_TITLE_CHARACTERS = 46
_TITLE_LINES = 2
_LABEL_CHARACTERS = 40
_Y_LABEL_CHARACTERS = 24
# A logarithmic axis over less than so many times its lowest value has hardly one power of ten, or no two or five.
_FEW_DECADES = 40
_HALF_A_DECADE = 5
_PAINTERS = {"line": paint_lines, "bar": paint_bars, "cdf": paint_curves, "trace": paint_traces}


def draw_panel(panel: Panel) -> Drawing:
    """One panel at the width of a column (3.3 in)."""
    with applied(SINGLE_IN):
        drawing = Drawing(Figure())
        axes = drawing.figure.add_subplot()
        _paint(panel, PanelAxes(axes, drawing, "p0"))
        handles, labels = _legend_of(axes, panel)
        if len(labels) > 1:
            drawing.figure.legend(handles, labels, loc="outside lower center", ncols=_legend_columns(labels))
    return drawing


def draw_all(panels: Sequence[Panel]) -> Drawing:
    """All panels side by side, two in a row, at the width of a page (7 in)."""
    rows = (len(panels) + 1) // 2
    columns = min(len(panels), 2)
    width = DOUBLE_IN if columns == 2 else SINGLE_IN
    with applied(width):
        drawing = Drawing(Figure(figsize=(width, _ROW_IN * rows)))
        for index, panel in enumerate(panels):
            axes = drawing.figure.add_subplot(rows, columns, index + 1)
            _paint(panel, PanelAxes(axes, drawing, f"p{index}"))
            handles, labels = _legend_of(axes, panel)
            if len(labels) > 1:
                drop = _depth_of(axes) + _BEFORE_LEGEND_IN
                axes.legend(
                    handles,
                    labels,
                    ncols=_legend_columns(labels),
                    loc="upper center",
                    bbox_to_anchor=(0.5, 0),
                    bbox_transform=offset_copy(axes.transAxes, fig=drawing.figure, y=-drop, units="inches"),
                    borderaxespad=0,
                )
    return drawing


def power_text(value: float, _position: int | None = None) -> str:
    """A tick of a logarithmic axis: 0.1 to 100 in full, other powers of ten with a raised exponent."""
    exponent = round(math.log10(value)) if value > 0 else 0
    if -1 <= exponent <= 2 or not math.isclose(value, 10.0**exponent):
        return f"{value:g}"
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _unit_of_time(axis: Axis, label: str) -> tuple[str, float]:
    """A label, in which spans in seconds become spans in a unit that fits what the axis shows, and how many of it are a
    second."""
    about, in_seconds, rest = label.partition("(s)")
    _, top = axis.get_view_interval()
    if not in_seconds or top <= 0:
        return label, 1.0
    unit, scale = fitting(top, "s")
    return f"{about}({unit}){rest}", scale


def _name_ticks(axis: Axis, scale: float) -> None:
    """Names ticks of a linear axis in another unit."""
    if scale != 1.0:
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value * scale:.6g}"))


def _name_powers(axis: Axis, scale: float) -> None:
    """Names powers of ten on a logarithmic axis and, where it shows hardly one, twos and fives between, or all."""

    def power(value: float, _position: int | None = None) -> str:
        return power_text(value * scale)

    def between(value: float, _position: int | None = None) -> str:
        low, high = (end * scale for end in axis.get_view_interval())
        value *= scale
        exponent = math.floor(math.log10(value)) if value > 0 else 0
        digit = value / 10.0**exponent
        named = (2, 5) if high > low * _HALF_A_DECADE else range(2, 10)
        if not (0 < low < high <= low * _FEW_DECADES) or not any(math.isclose(digit, d) for d in named):
            return ""
        whole = power_text(10.0**exponent)
        return f"{value:g}" if whole[-1] in "01" else f"{digit:.0f}\N{MULTIPLICATION SIGN}{whole}"

    axis.set_major_formatter(FuncFormatter(power))
    axis.set_minor_formatter(FuncFormatter(between))


def _paint(panel: Panel, place: PanelAxes) -> None:
    axes = place.axes
    if panel.has_values:
        _PAINTERS[panel.kind](panel, place)
    title = textwrap.wrap(panel.title, _TITLE_CHARACTERS, max_lines=_TITLE_LINES, placeholder=" …")
    axes.set_title("\n".join(title), pad=6)
    axes.set_xlabel(_clipped(panel.x_label))
    if panel.log_x:
        axes.set_xscale("log")
        _name_powers(axes.xaxis, 1.0)
    if panel.log_y:
        axes.set_yscale("log")
    y_label, scale = _unit_of_time(axes.yaxis, panel.y_label)
    (_name_powers if panel.log_y else _name_ticks)(axes.yaxis, scale)
    axes.set_ylabel("\n".join(textwrap.wrap(_clipped(y_label), _Y_LABEL_CHARACTERS)))
    if not panel.has_values:
        axes.set_xticks([])
        axes.set_yticks([])
        axes.text(0.5, 0.5, "no value", transform=axes.transAxes, ha="center", va="center", color=INK)
    if panel.reference is not None:
        axes.axhline(panel.reference, color=INK, linewidth=0.8, dashes=(3, 2), zorder=1.5)


def _depth_of(axes: Axes) -> float:
    """How far ticks and label of the x axis reach below it, in inches."""
    figure = axes.get_figure(root=True)
    if figure is None:
        return 0.0
    renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
    extent = axes.xaxis.get_tightbbox(renderer)
    return 0.0 if extent is None else max(0.0, float(axes.bbox.y0 - extent.y0)) / figure.dpi


def _legend_of(axes: Axes, panel: Panel) -> tuple[list[Artist], list[str]]:
    """Handles and labels in the order of the series; none where nothing is drawn."""
    if not panel.has_values:
        return [], []
    handles, keys = axes.get_legend_handles_labels()
    return list(handles), [_clipped(panel.series[int(key)].label) for key in keys]


def _legend_columns(labels: Sequence[str]) -> int:
    entry = max(len(label) for label in labels) + _SYMBOL_CHARACTERS
    return max(1, min(len(labels), _LEGEND_CHARACTERS // entry))


def _clipped(text: str) -> str:
    """One line, not longer than a panel has room for, and never hidden: matplotlib skips labels that start with `_`."""
    line = " ".join(text.split())
    short = line if len(line) <= _LABEL_CHARACTERS else line[: _LABEL_CHARACTERS - 1] + "…"
    return f"\N{ZERO WIDTH SPACE}{short}" if short.startswith("_") else short
