"""Drawings in pixels: cropped to what is drawn, and several on one sheet."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from numpy.typing import NDArray
from PIL import Image

from priolane.plots.marks import Drawing
from priolane.plots.style import DPI, SINGLE_IN, matplotlib_style

_WHITE = 255
# White around what is drawn.
_MARGIN = round(0.1 * DPI)

Pixels = NDArray[np.uint8]


@dataclass(frozen=True)
class Raster:
    """A drawing in pixels, rows by columns by red, green, blue; `axes_top` is the row of the upper end of its axes."""

    pixels: Pixels
    axes_top: int
    is_wide: bool


def rasterize(drawing: Drawing) -> Raster:
    """The part of the page that is drawn, with a margin."""
    figure = drawing.figure
    with matplotlib_style(SINGLE_IN):
        canvas: Any = FigureCanvasAgg(figure)
        canvas.draw()
    whole: Pixels = np.asarray(canvas.buffer_rgba())[:, :, :3]
    rows, columns = (np.flatnonzero((whole != _WHITE).any(axis=(other, 2))) for other in (1, 0))
    drawn = whole[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    axes_top = whole.shape[0] - round(figure.axes[0].get_window_extent().y1) - int(rows[0]) + _MARGIN
    is_wide = figure.get_size_inches()[0] > SINGLE_IN
    return Raster(_padded(drawn, (_MARGIN, _MARGIN), (_MARGIN, _MARGIN)), axes_top, is_wide)


def together(rasters: Sequence[Raster]) -> Pixels:
    """All on one sheet: two in a row, their axes beginning level, and wide ones in rows of their own."""
    rows: list[list[Raster]] = []
    for raster in rasters:
        beside = rows and len(rows[-1]) == 1 and not (raster.is_wide or rows[-1][0].is_wide)
        if beside:
            rows[-1].append(raster)
        else:
            rows.append([raster])
    column = max((row[0].pixels.shape[1] for row in rows if len(row) == 2), default=0)
    strips = [_strip(row, column) for row in rows]
    width = max(strip.shape[1] for strip in strips)
    return np.concatenate([_padded(strip, (0, 0), (0, width - strip.shape[1])) for strip in strips])


def _strip(row: Sequence[Raster], column: int) -> Pixels:
    """Drawings beside one another, each at least `column` pixels wide."""
    top = max(raster.axes_top for raster in row)
    height = max(top - raster.axes_top + raster.pixels.shape[0] for raster in row)
    parts = []
    for raster in row:
        above = top - raster.axes_top
        tall, wide = raster.pixels.shape[:2]
        parts.append(_padded(raster.pixels, (above, height - above - tall), (0, max(0, column - wide))))
    return np.concatenate(parts, axis=1)


def _padded(pixels: Pixels, rows: tuple[int, int], columns: tuple[int, int]) -> Pixels:
    """Adds white `rows` above and below, and white `columns` left and right."""
    return np.pad(pixels, (rows, columns, (0, 0)), constant_values=_WHITE)


def png(pixels: Pixels) -> bytes:
    """A PNG file that names neither its software nor its time."""
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "png", dpi=(DPI, DPI))
    return stream.getvalue()
