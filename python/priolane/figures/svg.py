"""Turning matplotlib's SVG into one that a page can hold: no style sheet, no dates, hover texts, ids of its own.

Style attributes become presentation attributes, so that the drawing stays as it is where a page's content security
policy allows no inline style, and every mark gets a `<title>`, which browsers show on hover without scripts.
"""

import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping

from priolane.figures.marks import Drawing
from priolane.figures.style import SINGLE_IN, matplotlib_style

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
_FONT = re.compile(r"(?:(?P<weight>bold|[1-9]00) )?(?P<size>[\d.]+)px (?P<family>.+)")
_FONTS = "DejaVu Sans, Verdana, Segoe UI, Helvetica, Arial, sans-serif"
_REFERENCE = re.compile(r"url\(#([^)]+)\)")


def page_svg(drawing: Drawing, prefix: str, label: str) -> str:
    """The drawing as an `<svg>` element whose ids start with `prefix`; `label` is read out by screen readers."""
    root = ET.fromstring(_matplotlib_svg(drawing))  # noqa: S314 - matplotlib wrote it just now
    _strip(root)
    for element in root.iter():
        _flatten_style(element)
        _rename_ids(element, prefix)
    _add_titles(root, {f"{prefix}{gid}": text for gid, text in drawing.titles.items()})
    root.set("role", "img")
    root.set("aria-label", label)
    for attribute in ("width", "height", "version"):
        root.attrib.pop(attribute, None)
    ET.register_namespace("", SVG)
    ET.register_namespace("xlink", XLINK)
    return ET.tostring(root, encoding="unicode")


def _matplotlib_svg(drawing: Drawing) -> bytes:
    stream = io.BytesIO()
    with matplotlib_style(SINGLE_IN):
        drawing.figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return stream.getvalue()


def _strip(root: ET.Element) -> None:
    """Takes out metadata and matplotlib's style sheet; what the sheet said becomes attributes of the root."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style"):
                parent.remove(child)
    root.set("stroke-linejoin", "round")
    root.set("stroke-linecap", "butt")


def _flatten_style(element: ET.Element) -> None:
    style = element.attrib.pop("style", None)
    if style is None:
        return
    for declaration in style.split(";"):
        name, _, value = (part.strip() for part in declaration.partition(":"))
        if not name:
            continue
        font = _FONT.fullmatch(value) if name == "font" else None
        if font is None:
            element.set(name, value)
            continue
        element.set("font-size", font["size"])
        element.set("font-family", _FONTS)
        if font["weight"]:
            element.set("font-weight", font["weight"])


def _rename_ids(element: ET.Element, prefix: str) -> None:
    for name, value in list(element.attrib.items()):
        if name == "id":
            element.set(name, prefix + value)
        elif name == f"{{{XLINK}}}href" and value.startswith("#"):
            element.set(name, f"#{prefix}{value[1:]}")
        elif "url(#" in value:
            element.set(name, _REFERENCE.sub(lambda found: f"url(#{prefix}{found[1]})", value))


def _add_titles(root: ET.Element, titles: Mapping[str, str]) -> None:
    for element in root.iter(f"{{{SVG}}}g"):
        text = titles.get(element.get("id", ""))
        if text is not None:
            title = ET.Element(f"{{{SVG}}}title")
            title.text = text
            element.insert(0, title)
