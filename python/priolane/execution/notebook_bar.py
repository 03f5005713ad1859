"""The progress of a grid in a notebook, replaced as runs proceed."""

import html
import sys
import time
from typing import Any

from priolane.execution.grid import Watcher
from priolane.execution.worker import JobResult
from priolane.model.experiment import Plan, PlannedRun

_EVERY_S = 0.2


def in_notebook() -> bool:
    """Whether this is the kernel of a notebook. IPython is not imported for it."""
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


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

        self._title, self._runs = grid.title, len(grid.all_runs)
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
