"""Drawing panels: each once, at the width of a column or of a page, whatever files are made of it."""

from dataclasses import dataclass

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure

from priolane.plots.layout import Font, legend_columns, name_categories, shortened, wrapped
from priolane.plots.marks import Drawing, PanelAxes
from priolane.plots.panels import painter_of
from priolane.plots.series_styles import SeriesStyles
from priolane.plots.style import DOUBLE_IN, INK, SINGLE_IN, matplotlib_style
from priolane.plots.ticks import name_powers, name_ticks
from priolane.results.numbers import relabelled
from priolane.results.report import Panel

# So high a figure has axes of some height whatever stands around them: what that takes is measured in it.
_AMPLE_IN = 12.0
# What stays free beside a title or a legend.
_MARGIN_IN = 0.06
# Longest texts that a panel has room for.
_TITLE_LINES = 3
_LABEL_CHARACTERS = 40
_Y_LABEL_IN = 1.45


@dataclass(frozen=True)
class _PaintedPanel:
    """A panel, its axes, and the names below the x axis, if it has names."""

    panel: Panel
    axes: Axes
    names: list[str]


def width_of(panel: Panel) -> float:
    """The width of a panel in inches: a column's, or a page's where a column has no room for it."""
    return DOUBLE_IN if painter_of(panel.kind).wide(panel) else SINGLE_IN


def draw_panel(panel: Panel, styles: SeriesStyles | None = None) -> Drawing:
    """A panel at the width of a column (3.3 in), or of a page where it has many bars or series.

    `styles` are those of all panels that are drawn together; if `None`, of this one. Everything has its place: what is
    saved in a format is laid out no more.
    """
    width = width_of(panel)
    with matplotlib_style(SINGLE_IN):
        drawing = Drawing(Figure())
        _, height = drawing.figure.get_size_inches()
        drawing.figure.set_size_inches(width, _AMPLE_IN)
        painted = _paint(panel, PanelAxes(drawing.figure.add_subplot(), drawing, "p0", styles or SeriesStyles([panel])))
        _lay_out(drawing.figure)
        _fit_texts(painted)
        handles, labels = _legend_of(painted)
        if len(labels) > 1:
            columns = legend_columns(labels, width - _MARGIN_IN)
            drawing.figure.legend(handles, labels, loc="outside lower center", ncols=columns)
        _set_height(drawing.figure, height, painter_of(panel.kind).least_height(panel))
    return drawing


def _lay_out(figure: Figure) -> None:
    """Places axes and texts as drawing will."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)


def _set_height(figure: Figure, usual: float, least: float) -> None:
    """Gives a figure its usual height, or more if its axes were lower than `least`, and everything its place."""
    _lay_out(figure)
    width, ample = figure.get_size_inches()
    around = ample * (1 - figure.axes[0].get_position().height)
    figure.set_size_inches(width, max(usual, around + least))
    _lay_out(figure)
    figure.set_layout_engine("none")


def _fit_texts(painted: _PaintedPanel) -> None:
    """Title and names below the x axis as the axes have room for, once these are placed."""
    axes, figure = painted.axes, painted.axes.get_figure(root=True)
    if figure is None:
        return
    width, _ = figure.get_size_inches()
    place = axes.get_position()
    room = (1 - place.x0) * width
    title = wrapped(painted.panel.title, room - _MARGIN_IN, Font.of("axes.title"))
    axes.set_title("\n".join(shortened(title, _TITLE_LINES)), pad=6)
    if painted.names:
        name_categories(axes, [_clipped(name) for name in painted.names])


def _in_fitting_unit(axis: Axis, label: str) -> tuple[str, float]:
    """A label, in which the unit becomes the one that fits the axis, and how many of that are one of its own."""
    _, top = axis.get_view_interval()
    return relabelled(label, float(top))


def _paint(panel: Panel, place: PanelAxes) -> _PaintedPanel:
    """Everything but the title, the names below the x axis and the legend, which need to know where the axes are."""
    axes, painter = place.axes, painter_of(panel.kind)
    names = painter.paint(panel, place) if panel.has_values else []
    if painter.y_is_value:
        _scale_y(panel, axes)
    _scale_x(panel, axes, named=bool(names))
    if not panel.has_values:
        axes.set_xticks([])
        axes.set_yticks([])
        axes.text(0.5, 0.5, "no value", transform=axes.transAxes, ha="center", va="center", color=INK)
    return _PaintedPanel(panel, axes, names)


def _scale_x(panel: Panel, axes: Axes, *, named: bool) -> None:
    """Scale and label of an x axis; where it has names they are what its label says."""
    if named:
        axes.set_xlabel(_clipped(panel.x_label))
        return
    if panel.log_x:
        axes.set_xscale("log")
    x_label, scale = _in_fitting_unit(axes.xaxis, panel.x_label)
    (name_powers if panel.log_x else name_ticks)(axes.xaxis, scale)
    axes.set_xlabel(_clipped(x_label))


def _scale_y(panel: Panel, axes: Axes) -> None:
    """Scale and label of a y axis along which values are, and the line that they are compared with."""
    if panel.log_y:
        axes.set_yscale("log")
    y_label, scale = _in_fitting_unit(axes.yaxis, panel.y_label)
    (name_powers if panel.log_y else name_ticks)(axes.yaxis, scale)
    axes.set_ylabel("\n".join(wrapped(_clipped(y_label), _Y_LABEL_IN, Font.of("axes.label"))))
    if panel.reference is not None:
        axes.axhline(panel.reference, color=INK, linewidth=0.8, dashes=(3, 2), zorder=1.5)


def _legend_of(painted: _PaintedPanel) -> tuple[list[Artist], list[str]]:
    """Handles and labels in the order of the series, then of what a paper printed; none where nothing is drawn."""
    if not painted.panel.has_values:
        return [], []
    handles, keys = painted.axes.get_legend_handles_labels()
    series = painted.panel.series
    return list(handles), [_clipped(series[int(key)].label) if key.isdigit() else key for key in keys]


def _clipped(text: str) -> str:
    """One line, not longer than a panel has room for, and never hidden: matplotlib skips labels that start with `_`."""
    line = " ".join(text.split())
    short = line if len(line) <= _LABEL_CHARACTERS else line[: _LABEL_CHARACTERS - 1] + "…"
    return f"\N{ZERO WIDTH SPACE}{short}" if short.startswith("_") else short
