"""What is made of drawings: PNG and PDF files, and SVG for the page."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Picture:
    """A panel for the page: an `<svg>` element, and whether a column of the page has no room for it."""

    svg: str
    is_wide: bool


@dataclass(frozen=True)
class Pictures:
    """The files of a report's figures by name, and all panels for the page, those over time last."""

    files: Mapping[str, bytes]
    panels: tuple[Picture, ...]


def names(panels: int, *, pdf: bool) -> list[str]:
    """File names for `panels` drawn panels: a PNG of each, a PDF of each if `pdf`, and a PNG of all of them."""
    endings = ("png", "pdf") if pdf else ("png",)
    each = [f"panel-{nth}.{ending}" for nth in range(1, panels + 1) for ending in endings]
    return [*each, "figure.png"] if panels else []
