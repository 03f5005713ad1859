"""All that is made of the panels of a report, from one drawing of each."""

import io
from collections.abc import Sequence

from priolane.figures.draw import draw_panel, width_of
from priolane.figures.marks import Drawing
from priolane.figures.pictures import Picture, Pictures, names
from priolane.figures.raster import png, rasterize, together
from priolane.figures.series_styles import SeriesStyles
from priolane.figures.style import SINGLE_IN, matplotlib_style
from priolane.figures.svg import page_svg
from priolane.report.model import Panel

# What a PDF would say of its maker and its time, and must not.
_UNSAID = {"CreationDate": None, "Producer": None}


def draw_report(panels: Sequence[Panel], over_time: Sequence[Panel] = (), *, pdf: bool = False) -> Pictures:
    """Draws the panels of a report, which have files, and those over time, which the page alone has.

    Files are `panel-1.png` and so on, `figure.png` with all of them and, if `pdf`, `panel-1.pdf` and so on.
    """
    everything = [*panels, *over_time]
    styles = SeriesStyles(everything)
    drawings = [draw_panel(panel, styles) for panel in everything]
    shown = tuple(
        Picture(page_svg(drawing, f"f{nth}-", _label(panel)), width_of(panel) > SINGLE_IN)
        for nth, (panel, drawing) in enumerate(zip(everything, drawings, strict=True))
    )
    return Pictures(_files(drawings[: len(panels)], pdf=pdf), shown)


def _files(drawings: Sequence[Drawing], *, pdf: bool) -> dict[str, bytes]:
    rasters = [rasterize(drawing) for drawing in drawings]
    contents: list[bytes] = []
    for drawing, raster in zip(drawings, rasters, strict=True):
        contents.append(png(raster.pixels))
        if pdf:
            contents.append(_pdf(drawing))
    if len(rasters) == 1:
        contents.append(contents[0])
    elif rasters:
        contents.append(png(together(rasters)))
    return dict(zip(names(len(drawings), pdf=pdf), contents, strict=True))


def _pdf(drawing: Drawing) -> bytes:
    stream = io.BytesIO()
    with matplotlib_style(SINGLE_IN):
        drawing.figure.savefig(stream, format="pdf", metadata=_UNSAID, bbox_inches="tight")
    return stream.getvalue()


def _label(panel: Panel) -> str:
    """What screen readers say of a panel."""
    return f"{panel.title}. {panel.y_label} by {panel.x_label or 'group'}."
