"""Painters of panels by the name of the kind: a kind of panel is a file here and its `PAINTER` in `PAINTERS`."""

from priolane.figures.panels import bar, cdf, line, trace

PAINTERS = {painter.kind: painter for painter in (line.PAINTER, bar.PAINTER, cdf.PAINTER, trace.PAINTER)}
