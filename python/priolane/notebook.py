"""The output in notebooks: the progress of a grid, replaced as runs proceed; claims as sentences; a figure."""

import base64
import html
import sys
import time
from typing import TYPE_CHECKING, Any

from priolane.experiment import Plan, PlannedRun
from priolane.grid import Watcher
from priolane.report.model import Claim, Panel, Report, Verdict
from priolane.report.sentences import reason_text, sentence, verdict_text
from priolane.worker import JobResult

if TYPE_CHECKING:
    from priolane.results import Results

_EVERY_S = 0.2


def in_notebook() -> bool:
    """Whether this is the kernel of a notebook. IPython is not imported for it."""
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


_SIGNS = {
    Verdict.REPRODUCED: "\N{CHECK MARK}",
    Verdict.CONTRADICTED: "\N{BALLOT X}",
    Verdict.UNDECIDED: "\N{ALMOST EQUAL TO}",
    Verdict.INCOMPLETE: "?",
}
_FIGURE_STYLE = "max-width: 45em; width: 100%"


def claims_html(report: Report) -> str:
    """The claims as a list of sentences with their verdicts, in the order of the file; empty without claims."""
    items = "".join(f"<li>{_claim(claim)}</li>" for claim in report.claims)
    return f'<ul style="list-style: none; padding-left: 0; text-align: left">{items}</ul>' if items else ""


def _claim(claim: Claim) -> str:
    flag = f" \N{BLACK FLAG} {claim.flag_kinds}" if claim.flags else ""
    verdict = f"<b>{_SIGNS[claim.verdict]} {html.escape(verdict_text(claim))}</b>{html.escape(flag)}"
    return f"{verdict}: {html.escape(f'{sentence(claim)} {reason_text(claim)}'.rstrip())}"


def figure_html(results: "Results") -> str:
    """The first figure of results as a picture in the cell: the first panel, or a figure by default; empty without one.

    It is an SVG of its own, as an image, so that its style sheet does not reach the notebook. matplotlib is not needed.
    Raises `InputError` if a table of a run is damaged.
    """
    from priolane.figure.document import svg_document  # noqa: PLC0415 - slow to load, and only notebooks need it
    from priolane.figure.palette import SeriesStyles  # noqa: PLC0415
    from priolane.figure.panels import describe  # noqa: PLC0415

    panel = _first_panel(results)
    if panel is None:
        return ""
    content = base64.b64encode(svg_document(panel, SeriesStyles([panel])).encode()).decode()
    words = html.escape(describe(panel), quote=True)
    return f'<img alt="{words}" style="{_FIGURE_STYLE}" src="data:image/svg+xml;base64,{content}">'


def _first_panel(results: "Results") -> Panel | None:
    from priolane.report.default_figures import default_figures  # noqa: PLC0415 - slow to load
    from priolane.report.overview import overview  # noqa: PLC0415

    if results.report.panels:
        return next(iter(results.report.drawn), None)
    figures = default_figures(results, overview(results), None)
    return figures[0].panel if figures else None


class NotebookBar(Watcher):
    """Draws below the cell that runs; takes nothing but IPython."""

    def __init__(self) -> None:
        """A bar that appears once the plan is known."""
        self._handle: Any = None
        self._title, self._runs, self._done = "", 0, 0
        self._parts: dict[str, float] = {}
        self._drawn = 0.0

    def planned(self, grid: Plan) -> None:
        """Begins at zero of the plan's runs."""
        from IPython.display import display  # noqa: PLC0415 - only in notebooks

        self._title, self._runs = grid.title, len(grid.runs)
        self._handle = display(self, display_id=True)  # type: ignore[no-untyped-call]

    def moved(self, run_id: str, now_s: float, completed: int, opened: int) -> None:  # noqa: ARG002
        """Shows how far the runs under way are, a few times a second."""
        self._parts[run_id] = min(completed / opened, 1.0) if opened else 0.0
        if time.monotonic() - self._drawn >= _EVERY_S:
            self._draw()

    def finished(self, run: PlannedRun, done: JobResult) -> None:  # noqa: ARG002
        """Counts a run."""
        self._parts.pop(run.id, None)
        self._done += 1
        if self._done == self._runs or time.monotonic() - self._drawn >= _EVERY_S:
            self._draw()

    def _repr_html_(self) -> str:
        value = self._done + sum(self._parts.values())
        return (
            f'<progress max="{self._runs}" value="{value:.3f}"></progress> '
            f"{html.escape(self._title)}: {self._done} of {self._runs} runs"
        )

    def _draw(self) -> None:
        self._drawn = time.monotonic()
        if self._handle is not None:
            self._handle.update(self)
