"""A panel as an SVG file of its own: title, legend and figure, in colours for light and dark, without any script.

The file needs nothing beside it, so a README, a notebook and a slide can show it. It is the drawing of the page.
"""

import re
from collections.abc import Sequence

from markupsafe import Markup

from priolane.figure.draw import HEAT_MAP, key_of, printed_key
from priolane.figure.frame import MOST_LABELS, Size
from priolane.figure.heat_map import render_heat_map
from priolane.figure.layout import LABEL_PX, shortened, width_of
from priolane.figure.markup import element, group, number, text
from priolane.figure.palette import Entry, SeriesStyles
from priolane.figure.panels import plot_of
from priolane.figure.plot import Labels
from priolane.figure.render import render
from priolane.figure.stylesheet import stylesheet
from priolane.results.published import PAPER
from priolane.results.report import Panel

WIDTH_PX = 720.0
"""The width of the file where its viewer does not scale it."""

_HEIGHT, _STRIP, _EMPTY_HEIGHT = 300.0, 62.0, 40.0
_EDGE, _TITLE_PX, _TITLE_ROOM, _KEY_ROOM = 16.0, 15.0, 34.0, 24.0
_KEY, _GAP = 32.0, 18.0
_VIEW_BOX = re.compile(r'viewBox="0 0 (\S+) (\S+)"')
_FAMILY = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif'
# The colours of the page around figures.
_PAGE = {
    "light": "--paper: #ffffff; --ink: #1d1f21; --soft: #5a5f66; --rule: #dcdad4;",
    "dark": "--paper: #1d2024; --ink: #e8e6e1; --soft: #a3a7ad; --rule: #363a40;",
}
_STYLE = f"""
:root {{ {_PAGE["light"]} font-family: {_FAMILY}; }}
@media (prefers-color-scheme: dark) {{ :root {{ {_PAGE["dark"]} }} }}
@media print {{ :root {{ {_PAGE["light"]} }} }}
svg.fig {{ height: 100%; }}
svg .ground {{ fill: var(--paper); }}
svg .heading {{ font-size: {_TITLE_PX}px; font-weight: 650; fill: var(--ink); }}
svg .keytext {{ font-size: {LABEL_PX}px; fill: var(--ink); }}
"""


def svg_files(panels: Sequence[Panel]) -> dict[str, bytes]:
    """The SVG files of panels that share their styles, by name: `panel-1.svg` and so on."""
    styles = SeriesStyles(panels)
    return {f"panel-{nth}.svg": svg_document(panel, styles).encode() for nth, panel in enumerate(panels, 1)}


def svg_document(panel: Panel, styles: SeriesStyles) -> str:
    """The panel as the text of an SVG file."""
    inner = WIDTH_PX - 2 * _EDGE
    figure, size, keys = _figure(panel, styles, inner)
    rows = _rows(keys, inner)
    top = _EDGE + _TITLE_ROOM + _KEY_ROOM * len(rows)
    height = top + size.height + _EDGE
    box = f"0 0 {number(WIDTH_PX)} {number(height)}"
    heading = shortened(panel.title, inner, _TITLE_PX, bold=True)
    drawn = element(
        "svg",
        {"width": WIDTH_PX, "height": height, "viewBox": box, "role": "img", "aria-label": panel.title},
        element("style", {}, Markup(stylesheet() + _STYLE)),  # noqa: S704 - our own files
        element("rect", {"class": "ground", "width": WIDTH_PX, "height": height}),
        text(heading, {"class": "heading", "x": _EDGE, "y": _EDGE + _TITLE_PX}),
        *(_row(row, _EDGE + _TITLE_ROOM + _KEY_ROOM * nth) for nth, row in enumerate(rows)),
        element("svg", {"x": _EDGE, "y": top, "width": inner, "height": size.height}, figure),
    )
    # The renderer of pages needs no name space, a file does.
    return str(drawn).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1) + "\n"


def _figure(panel: Panel, styles: SeriesStyles, width: float) -> tuple[Markup, Size, list[tuple[Markup, str]]]:
    """The drawing, its size, and the legend of what no label beside a line names."""
    if not panel.has_values:
        note = text("no value", {"class": "note", "x": 0.0, "y": _EMPTY_HEIGHT / 2})
        return note, Size(width, _EMPTY_HEIGHT), []
    if panel.kind == HEAT_MAP:
        drawn = render_heat_map(panel, width)
        return drawn, _size(drawn), []
    plot = plot_of(panel, styles)
    is_labelled = plot.labels is not Labels.NONE and len(plot.curves) <= MOST_LABELS
    named = [] if is_labelled else panel.series
    keys = [(key_of(Entry(styles.of(series), series.label)), series.label) for series in named]
    if panel.published and plot.printed:
        keys.append((printed_key(plot), PAPER))
    size = Size(width, _HEIGHT if not plot.in_strips else _STRIP * (1 + len(plot.curves)))
    return render(plot, size, "d"), size, keys


def _size(drawn: Markup) -> Size:
    """The size that a drawing states."""
    match = _VIEW_BOX.search(drawn)
    if match is None:
        raise ValueError("a drawing states its size")
    return Size(float(match[1]), float(match[2]))


def _rows(keys: Sequence[tuple[Markup, str]], width: float) -> list[list[tuple[float, Markup, str]]]:
    """The entries of the legend with their places along each row."""
    rows: list[list[tuple[float, Markup, str]]] = []
    at = width
    for key, words in keys:
        shown = shortened(words, width - _KEY, LABEL_PX)
        takes = _KEY + width_of(shown, LABEL_PX) + _GAP
        if not rows or at + takes > width:
            rows.append([])
            at = 0.0
        rows[-1].append((at, key, shown))
        at += takes
    return rows


def _row(row: Sequence[tuple[float, Markup, str]], top: float) -> Markup:
    drawn = []
    for at, key, words in row:
        x = _EDGE + at
        drawn.append(element("svg", {"x": x, "y": top, "width": 26.0, "height": 12.0}, key))
        drawn.append(text(words, {"class": "keytext", "x": x + _KEY, "y": top + 10.5}))
    return group({}, *drawn)
