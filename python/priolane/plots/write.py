"""The PNG and PDF files of the panels of a report, from one drawing of each panel."""

import io
from collections.abc import Sequence

from priolane.plots.draw import draw_panel
from priolane.plots.formats import names
from priolane.plots.marks import Drawing
from priolane.plots.raster import png, rasterize, together
from priolane.plots.series_styles import SeriesStyles
from priolane.plots.style import SINGLE_IN, matplotlib_style
from priolane.results.report import Panel

# What a PDF would say of its maker and its time, and must not.
_UNSAID = {"CreationDate": None, "Producer": None}


def draw_files(panels: Sequence[Panel], formats: Sequence[str]) -> dict[str, bytes]:
    """The files of a report's panels by name: `panel-1.png` and so on, `figure.png` with all of them, `panel-1.pdf`."""
    styles = SeriesStyles(panels)
    drawings = [draw_panel(panel, styles) for panel in panels]
    rasters = [rasterize(drawing) for drawing in drawings] if "png" in formats else []
    contents: list[bytes] = []
    for nth, drawing in enumerate(drawings):
        contents += [png(rasters[nth].pixels) if kind == "png" else _pdf(drawing) for kind in formats]
    if rasters:
        contents.append(contents[0] if len(rasters) == 1 else png(together(rasters)))
    return dict(zip(names(len(drawings), formats), contents, strict=True))


def _pdf(drawing: Drawing) -> bytes:
    stream = io.BytesIO()
    with matplotlib_style(SINGLE_IN):
        drawing.figure.savefig(stream, format="pdf", metadata=_UNSAID, bbox_inches="tight")
    return stream.getvalue()
