"""Figures for a page: each panel in two widths, of which the style sheet shows the one that fits."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from priolane.figure.forest import ForestRow, draw_forest
from priolane.figure.frame import MOST_LABELS, Box, Frame, Size
from priolane.figure.heat_map import CELLS_IN_COLUMN, names_of, render_heat_map
from priolane.figure.layout import width_of
from priolane.figure.markup import element, escape, group, number, path, polyline, text
from priolane.figure.palette import Entry, SeriesStyles, name_of
from priolane.figure.panels import describe, plot_of
from priolane.figure.plot import Curve, Guide, Labels, Plot, Shape
from priolane.figure.render import render
from priolane.results.published import PAPER
from priolane.results.report import Panel

COLUMN_PX, PAGE_PX, NARROW_PX = 520.0, 1040.0, 344.0
"""Widths of figures: in a column of the page, across the page, and on a phone."""

HEAT_MAP = "heat_map"
_HEIGHT, _NARROW_HEIGHT, _TALL = 300.0, 280.0, 360.0
_STRIP, _AROUND_STRIPS = 62.0, 70.0
_THUMBNAIL = Size(160.0, 110.0)
_NO_VALUE_HEIGHT = 80.0


@dataclass(frozen=True)
class Figure:
    """A panel as markup for the page, and whether a column of the page has no room for it."""

    markup: Markup
    is_wide: bool


def draw_panels(panels: list[Panel], styles: SeriesStyles, *, has_legend: bool, prefix: str = "f") -> list[Figure]:
    """The figures of panels whose ids start with `prefix`. `has_legend`: the page has one legend for all of them."""
    return [draw_panel(panel, styles, f"{prefix}{nth}", has_legend=has_legend) for nth, panel in enumerate(panels)]


def draw_panel(
    panel: Panel, styles: SeriesStyles, uid: str, *, has_legend: bool, wide_px: float | None = None
) -> Figure:
    """The figure of a panel; ids within start with `uid`. `wide_px` is as in `draw_plot`."""
    if not panel.has_values:
        return Figure(_both(_without_values(panel), _without_values(panel)), is_wide=False)
    if panel.kind == HEAT_MAP:
        is_wide = len(names_of(panel)) > CELLS_IN_COLUMN
        width = wide_px or (PAGE_PX if is_wide else COLUMN_PX)
        return Figure(_both(render_heat_map(panel, width), render_heat_map(panel, NARROW_PX)), is_wide)
    plot = plot_of(panel, styles)
    keys = _keys(panel, plot, styles, has_legend=has_legend)
    return Figure(Markup().join([draw_plot(plot, uid, wide_px), keys]), plot.is_wide)


def draw_rows(rows: Sequence[ForestRow], description: str) -> Markup:
    """A forest plot in two widths."""
    return _both(draw_forest(rows, description, PAGE_PX), draw_forest(rows, description, NARROW_PX))


def draw_plot(plot: Plot, uid: str, wide_px: float | None = None) -> Markup:
    """A plot in two widths; `wide_px` is the larger one, by default that of a column or of the page."""
    width = wide_px or (PAGE_PX if plot.is_wide else COLUMN_PX)
    height, narrow = _heights(plot)
    return _both(render(plot, Size(width, height), f"{uid}w"), render(plot, Size(NARROW_PX, narrow), f"{uid}n"))


def _heights(plot: Plot) -> tuple[float, float]:
    """The heights in both widths."""
    if plot.in_strips:
        high = _AROUND_STRIPS + _STRIP * len(plot.curves)
        return high, high
    slanted = 60.0 if plot.x.is_categorical and any(width_of(t.text, 12) > 60 for t in plot.x.named) else 0.0
    usual = _TALL if len(plot.curves) > MOST_LABELS else _HEIGHT
    return usual + slanted / 2, _NARROW_HEIGHT + slanted


def _both(wide: Markup, narrow: Markup) -> Markup:
    return Markup().join([element("div", {"class": "w"}, wide), element("div", {"class": "n"}, narrow)])


def _without_values(panel: Panel) -> Markup:
    message = text("no value", {"class": "note mid", "x": NARROW_PX / 2, "y": _NO_VALUE_HEIGHT / 2})
    box = f"0 0 {number(NARROW_PX)} {number(_NO_VALUE_HEIGHT)}"
    return element("svg", {"class": "fig", "viewBox": box, "role": "img", "aria-label": describe(panel)}, message)


def key_of(entry: Entry) -> Markup:
    """A line with the marker of a style, for legends."""
    line = path("M0 6H26", {"class": "line"})
    dot = path(entry.style.marker, {"class": "dot", "transform": "translate(13 6)"})
    return element(
        "svg",
        {"class": "key", "viewBox": "0 0 26 12", "aria-hidden": "true"},
        group({"class": entry.style.css}, line, dot),
    )


def guide_keys(plots: Sequence[Plot]) -> Markup:
    """A legend of the dotted lines that can be seen in any of the plots, each text once; empty without one."""
    seen = [guide.text for plot in plots for guide in plot.guides if _is_seen(guide, plot)]
    line = group({}, path("M0 6H26", {"class": "line guide"}))
    key = element("svg", {"class": "key", "viewBox": "0 0 26 12", "aria-hidden": "true"}, line)
    shown = [element("li", {}, key, escape(text)) for text in dict.fromkeys(seen)]
    return element("ul", {"class": "keys"}, *shown) if shown else Markup()


def _is_seen(guide: Guide, plot: Plot) -> bool:
    """Whether a part of the line is within the y axis."""
    parts = [plot.y.scale.part(y) for _, y in guide.points]
    return min(parts) <= 1 and max(parts) >= 0


def printed_key(plot: Plot) -> Markup:
    """A faint line, or the outline of a bar, for what a paper printed."""
    drawn = group({"class": "printed cg"}, path("M0 6H26", {"class": "line faint"}))
    if all(printed.shape is Shape.BARS for printed in plot.printed):
        drawn = group({"class": "printed"}, path("M4 1H22V11H4Z", {"class": "outline"}))
    return element("svg", {"class": "key", "viewBox": "0 0 26 12", "aria-hidden": "true"}, drawn)


def _keys(panel: Panel, plot: Plot, styles: SeriesStyles, *, has_legend: bool) -> Markup:
    """The legend of a figure for what neither labels beside its lines nor the legend of the page name."""
    is_labelled = plot.labels is not Labels.NONE and len(plot.curves) <= MOST_LABELS
    known = {(entry.style.name, entry.text) for entry in styles.legend} if has_legend else set()
    entries = [
        Entry(styles.of(series), series.label)
        for series in panel.series
        if not is_labelled and (name_of(series), series.label) not in known
    ]
    shown = [element("li", {"data-s": entry.style.name}, key_of(entry), escape(entry.text)) for entry in entries]
    if panel.published and plot.printed:
        shown.append(element("li", {}, printed_key(plot), escape(PAPER)))
    return element("ul", {"class": "keys"}, *shown) if shown else Markup()


def draw_thumbnail(panel: Panel, styles: SeriesStyles) -> Markup:
    """A small picture of a panel without texts: its lines and bars, or the cells of a heat map."""
    if not panel.has_values:
        return Markup()
    if panel.kind == HEAT_MAP:
        return render_heat_map(panel, NARROW_PX)
    plot = plot_of(panel, styles)
    box = Box(4.0, _THUMBNAIL.width - 4, 6.0, _THUMBNAIL.height - 6)
    frame = Frame(replace(plot, in_strips=False), _THUMBNAIL, (box,), (), (), is_slanted=False)
    return _thumbnail([_small(frame, curve) for curve in plot.curves])


def _thumbnail(drawn: list[Markup]) -> Markup:
    box = f"0 0 {number(_THUMBNAIL.width)} {number(_THUMBNAIL.height)}"
    base = path(f"M4 {number(_THUMBNAIL.height - 6)}H{number(_THUMBNAIL.width - 4)}", {"class": "axis"})
    return element("svg", {"class": "thumbnail", "viewBox": box, "aria-hidden": "true"}, base, *drawn)


def _small(frame: Frame, curve: Curve) -> Markup:
    points = [(frame.x(point.x), frame.y(point.y)) for point in curve.points]
    css = {"class": f"series {curve.style.css}"}
    if curve.shape is Shape.BARS:
        half = max(frame.plot.bar / 2 * frame.boxes[0].width / (frame.plot.x.scale.high - frame.plot.x.scale.low), 0.5)
        base = frame.boxes[0].bottom
        return group(
            css,
            *(
                path(
                    f"M{number(x - half)} {number(base)}V{number(y)}H{number(x + half)}V{number(base)}Z",
                    {"class": "column"},
                )
                for x, y in points
            ),
        )
    if curve.shape is Shape.DOTS or len(points) < 2:
        return group(css, *(path(f"M{number(x)} {number(y)}h.1", {"class": "spot"}) for x, y in points))
    return group(css, path(polyline(points), {"class": "line"}))
