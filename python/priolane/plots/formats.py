"""The files of figures that matplotlib draws on request, and whether it is there."""

from collections.abc import Sequence
from importlib.util import find_spec

from priolane._core import InputError

EXTRA = "plots"
"""The extra of the package that installs what draws PNG and PDF."""


def formats_of(*, png: bool, pdf: bool) -> tuple[str, ...]:
    """The kinds of files that are asked for."""
    return tuple(kind for kind, is_asked in (("png", png), ("pdf", pdf)) if is_asked)


def missing_plots() -> str:
    """The reason why PNG and PDF cannot be drawn, and the remedy; empty if they can."""
    if find_spec("matplotlib") is not None:
        return ""
    return (
        "PNG and PDF files of figures are drawn by matplotlib, which is not installed: "
        f"pip install 'priolane[{EXTRA}]', or leave --png and --pdf out; the page has all figures without them"
    )


def require_plots() -> None:
    """Raises `InputError` if PNG and PDF cannot be drawn."""
    reason = missing_plots()
    if reason:
        raise InputError(reason)


def names(panels: int, formats: Sequence[str]) -> list[str]:
    """File names for `panels` drawn panels: one of each kind for each panel, and a PNG of all of them."""
    each = [f"panel-{nth}.{kind}" for nth in range(1, panels + 1) for kind in formats]
    return [*each, "figure.png"] if panels and "png" in formats else each
