"""Heat maps: a row of cells for each series, a column for each x, the darker the larger the value."""

import math
from dataclasses import dataclass

from markupsafe import Markup

from priolane.figure.frame import Size
from priolane.figure.layout import TICK_PX, shortened, width_of, wrapped
from priolane.figure.markup import element, group, number, text, title
from priolane.figure.numbers import Label, Unit, estimate_text, fitting_unit, plain
from priolane.figure.panels import describe
from priolane.figure.scales import Log, Scale, scale_over
from priolane.figure.values import head_of, x_text
from priolane.results.report import Mark, Panel, Series

# So many cells of a row have room for numbers in a column of the page.
CELLS_IN_COLUMN = 6
_CELLS_IN_PAGE = 14
_ROW_PX, _LEGEND_PX, _TOP_PX, _NUMBER_PX = 24.0, 34.0, 26.0, 11.0
_MOST_NAME = 0.34
# Of the least and the largest value.
_FAINT, _STRONG = 0.06, 0.9
_STEPS = 24
_LINE_PX = 15.0
_LINES = 3


@dataclass(frozen=True)
class _Grid:
    """Cells in pixels: the names of columns in the order along x, and the scale of values."""

    names: list[str]
    left: float
    cell: float
    scale: Scale
    label: Label


def names_of(panel: Panel) -> list[str]:
    """Numbers in order, or names in the order of appearance."""
    xs = [mark.x for series in panel.series for mark in series.marks]
    numbers = sorted({x for x in xs if not isinstance(x, str)})
    return list(dict.fromkeys([*map(x_text, numbers), *(x for x in xs if isinstance(x, str))]))


def render_heat_map(panel: Panel, width: float) -> Markup:
    """The figure, as high as its rows need."""
    names = names_of(panel)
    rows = max((width_of(series.label, TICK_PX) for series in panel.series), default=0.0)
    left = min(rows + 12, _MOST_NAME * width)
    means = [mark.estimate.mean for series in panel.series for mark in series.marks if mark.estimate.mean is not None]
    cell = (width - left - 6) / max(len(names), 1)
    grid = _Grid(names, left, cell, scale_over(means, log=_is_log(panel, means)), Label.read(panel.y_label))
    below, depth = _column_names(grid, _TOP_PX + _ROW_PX * len(panel.series))
    size = Size(width, _TOP_PX + _ROW_PX * len(panel.series) + depth + _LEGEND_PX)
    return element(
        "svg",
        {
            "class": "fig",
            "viewBox": f"0 0 {number(size.width)} {number(size.height)}",
            "role": "img",
            "aria-label": describe(panel),
        },
        *(_row(panel, (nth, series), grid) for nth, series in enumerate(panel.series)),
        *below,
        *_legend(grid, size, panel),
    )


def _is_log(panel: Panel, means: list[float]) -> bool:
    return panel.log_y and bool(means) and min(means) > 0


def _row(panel: Panel, of: tuple[int, Series], grid: _Grid) -> Markup:
    nth, series = of
    y = _TOP_PX + nth * _ROW_PX
    name = shortened(series.label, grid.left - 10, TICK_PX)
    cells = [_cell(panel, series, mark, (grid, y)) for mark in series.marks]
    return group({}, text(name, {"class": "tick end", "x": grid.left - 6, "y": y + _ROW_PX / 2 + 4}), *cells)


def _cell(panel: Panel, series: Series, mark: Mark, where: tuple[_Grid, float]) -> Markup:
    grid, y = where
    column = grid.names.index(x_text(mark.x))
    x = grid.left + column * grid.cell
    mean = mark.estimate.mean
    shown = f"{series.label}, {head_of(panel.x_label, mark.x)}: {estimate_text(mark.estimate, grid.label.unit)}"
    area = {"x": x + 0.5, "y": y + 0.5, "width": grid.cell - 1, "height": _ROW_PX - 1}
    strength = None if mean is None else f"{_strength(grid.scale, mean):.2f}"
    parts = [title(shown), element("rect", {"class": "cell", "fill-opacity": strength or "0", **area})]
    if grid.cell >= width_of("0.000", _NUMBER_PX):
        shown = "–" if mean is None else plain(mean * _unit(grid).many)
        at = {"x": x + grid.cell / 2, "y": y + _ROW_PX / 2 + 4}
        parts.append(text(shown, {"class": "cellvalue mid halo", **at}))
    return group({}, *parts)


def _unit(grid: _Grid) -> Unit:
    return fitting_unit(max(abs(grid.scale.low), abs(grid.scale.high)), grid.label.unit)


def _strength(scale: Scale, mean: float) -> float:
    return _FAINT + (_STRONG - _FAINT) * min(max(scale.part(mean), 0.0), 1.0)


def _column_names(grid: _Grid, y: float) -> tuple[list[Markup], float]:
    """The names below the columns, level or slanted, and the height that they take."""
    lines = [wrapped(name, grid.cell - 4, TICK_PX) for name in grid.names]
    drawn: list[Markup] = []
    if all(name_lines is not None and len(name_lines) <= _LINES for name_lines in lines):
        for nth, name_lines in enumerate(lines):
            x = grid.left + (nth + 0.5) * grid.cell
            drawn += [
                text(line, {"class": "tick mid", "x": x, "y": y + 15 + row * _LINE_PX})
                for row, line in enumerate(name_lines or ())
            ]
        return drawn, _LINE_PX * max((len(name_lines or ()) for name_lines in lines), default=1) + 6
    cut = [shortened(name, 110.0, TICK_PX) for name in grid.names]
    for nth, name in enumerate(cut):
        x = grid.left + (nth + 0.5) * grid.cell
        turn = f"rotate(-40 {number(x)} {number(y + 14)})"
        drawn.append(text(name, {"class": "tick end", "x": x + 4, "y": y + 14, "transform": turn}))
    return drawn, 20 + max(width_of(name, TICK_PX) for name in cut) * math.sin(math.radians(40))


def _legend(grid: _Grid, size: Size, panel: Panel) -> list[Markup]:
    """The quantity shown, and a bar from the least to the largest value, or the meaning of colours along a logarithmic
    scale."""
    unit = _unit(grid)
    x_title = shortened(panel.x_label, 0.45 * size.width, TICK_PX)
    y = size.height - 22
    wide, at = 0.25 * size.width, 0.62 * size.width
    step = wide / _STEPS
    bars = [
        element(
            "rect",
            {
                "class": "cell",
                "x": at + nth * step,
                "y": y,
                "width": step + 0.3,
                "height": 9.0,
                "fill-opacity": f"{_FAINT + (_STRONG - _FAINT) * nth / (_STEPS - 1):.2f}",
            },
        )
        for nth in range(_STEPS)
    ]
    low, high = (plain(end * unit.many) for end in (grid.scale.low, grid.scale.high))
    scale = ", log scale" if isinstance(grid.scale, Log) and "log scale" not in panel.y_label else ""
    heading = shortened(f"{grid.label.in_unit(unit)}{scale}", size.width - 8, TICK_PX)
    return [
        text(heading, {"class": "axl", "x": 4.0, "y": 13.0}),
        text(x_title, {"class": "axl", "x": grid.left, "y": y + 9}),
        text(low, {"class": "tick end", "x": at - 5, "y": y + 9}),
        text(high, {"class": "tick", "x": at + wide + 5, "y": y + 9}),
        *bars,
    ]
