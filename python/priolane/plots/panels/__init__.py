"""Painters of panels: a kind of panel has a module here of its name, with a `PAINTER`."""

from importlib import import_module

from priolane.plots.marks import Painter


def painter_of(kind: str) -> Painter:
    """The painter of panels of that kind."""
    painter: Painter = import_module(f"priolane.plots.panels.{kind}").PAINTER
    return painter
