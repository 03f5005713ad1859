"""Plots of panels: a kind of panel has a module here of its name, with a function `plot`."""

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from priolane._core import InputError
from priolane.figure.palette import SeriesStyles
from priolane.figure.plot import Plot
from priolane.results.report import Panel

_HERE = Path(__file__).parent
_NAME = re.compile("[a-z][a-z_]*")


def plot_of(panel: Panel, styles: SeriesStyles) -> Plot:
    """The plot of a panel that is not a heat map; raises `InputError` for a kind that has no module here."""
    if not _NAME.fullmatch(panel.kind) or not (_HERE / f"{panel.kind}.py").is_file():
        raise InputError(f"the panel {panel.title!r} has the kind {panel.kind!r}, which this version does not draw")
    make: Callable[[Panel, SeriesStyles], Plot] = import_module(f"priolane.figure.panels.{panel.kind}").plot
    return make(panel, styles)


def describe(panel: Panel) -> str:
    """The text of screen readers for a panel before its values are read."""
    series = ", ".join(series.label for series in panel.series)
    return f"{panel.title}. {panel.y_label} by {panel.x_label or 'group'}. {series}."
