"""The drawing of a panel by matplotlib, as elements of SVG."""

import io
import xml.etree.ElementTree as ET

from priolane.plots.draw import draw_panel
from priolane.plots.marks import Drawing
from priolane.plots.style import SINGLE_IN, matplotlib_style
from priolane.results.report import Panel

SVG = "http://www.w3.org/2000/svg"


def svg_of(panel: Panel) -> ET.Element:
    """The root of the drawing of a panel."""
    return svg_of_drawing(draw_panel(panel))


def svg_of_drawing(drawing: Drawing) -> ET.Element:
    """The root of a drawing."""
    stream = io.BytesIO()
    with matplotlib_style(SINGLE_IN):
        drawing.figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    return ET.fromstring(stream.getvalue())  # noqa: S314 - matplotlib wrote it just now


def texts_of(panel: Panel) -> list[str]:
    """The texts in the drawing of a panel."""
    return [element.text or "" for element in svg_of(panel).iter(f"{{{SVG}}}text")]
