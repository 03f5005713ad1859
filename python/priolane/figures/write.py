"""Writing a report's figures as files: each panel, and all of them together, as PNG and PDF."""

import io
from collections.abc import Sequence
from pathlib import Path

from priolane.figures.draw import SINGLE_IN, draw_all, draw_panel
from priolane.figures.marks import Drawing
from priolane.figures.style import applied
from priolane.files import write_whole
from priolane.report.model import Panel

# What each kind of file would say of its maker and its time, and must not.
_ENDINGS: dict[str, dict[str, None]] = {"png": {"Software": None}, "pdf": {"CreationDate": None, "Producer": None}}


def figure_names(panels: Sequence[Panel]) -> list[str]:
    """The names of the files that `write_figures` writes."""
    stems = [f"panel-{nth}" for nth, _ in enumerate(panels, start=1)] + (["figure"] if panels else [])
    return [f"{stem}.{ending}" for stem in stems for ending in _ENDINGS]


def write_figures(panels: Sequence[Panel], directory: Path) -> list[Path]:
    """Writes `panel-1.png` and `.pdf` and so on, and `figure.png` and `.pdf`; returns the paths."""
    if not panels:
        return []
    drawings = {f"panel-{nth}": draw_panel(panel) for nth, panel in enumerate(panels, start=1)}
    drawings["figure"] = draw_all(panels)
    return [path for name, drawing in drawings.items() for path in _write(drawing, directory / name)]


def _write(drawing: Drawing, stem: Path) -> list[Path]:
    written = []
    for ending, metadata in _ENDINGS.items():
        stream = io.BytesIO()
        with applied(SINGLE_IN):
            drawing.figure.savefig(stream, format=ending, metadata=metadata, bbox_inches="tight")
        path = stem.with_name(f"{stem.name}.{ending}")
        write_whole(path, stream.getvalue())
        written.append(path)
    return written
