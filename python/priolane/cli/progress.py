"""The progress bar of a grid: simulated time, flows and runs done, time left. Silent where nobody looks."""

import sys
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from priolane.experiment import Plan, PlannedRun
from priolane.grid import Watcher
from priolane.worker import Finished

_UNITS_PER_RUN = 1000


class Bar(Watcher):
    """Draws on standard error while it is a terminal; used as a context."""

    def __init__(self) -> None:
        """A bar that appears once the plan is known."""
        console = Console(stderr=True)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[done]}/{task.fields[runs]} runs"),
            TextColumn("{task.fields[moving]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
            disable=not sys.stderr.isatty(),
            transient=True,
        )
        self._task: TaskID | None = None
        self._moving: dict[str, tuple[float, int, int]] = {}
        self._done = 0
        self._runs = 0

    def __enter__(self) -> "Bar":
        """Starts drawing."""
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Clears the bar."""
        self._progress.stop()

    def planned(self, grid: Plan) -> None:
        """Begins at zero of the plan's runs."""
        self._runs = len(grid.runs)
        # The title is the file's: shown as text, not as markup.
        title = grid.title.replace("[", "(").replace("]", ")")
        self._task = self._progress.add_task(
            title, total=self._runs * _UNITS_PER_RUN, done=0, runs=self._runs, moving=""
        )

    def moved(self, run_id: str, now_s: float, completed: int, opened: int) -> None:
        """Shows how far the runs under way are."""
        self._moving[run_id] = (now_s, completed, opened)
        self._draw()

    def finished(self, run: PlannedRun, done: Finished) -> None:  # noqa: ARG002
        """Counts a run."""
        self._moving.pop(run.id, None)
        self._done += 1
        self._draw()

    def notify(self, line: str) -> None:
        """Prints a line above the bar."""
        self._progress.console.print(f"priolane: {line}", markup=False, highlight=False, soft_wrap=True)

    def _draw(self) -> None:
        if self._task is None:
            return
        parts = [min(completed / opened, 1.0) if opened else 0.0 for _, completed, opened in self._moving.values()]
        moving = ""
        if self._moving:
            now = max(now for now, _, _ in self._moving.values())
            flows = sum(completed for _, completed, _ in self._moving.values())
            moving = f"t = {now * 1e3:,.1f} ms, {flows:,} flows done"
        self._progress.update(
            self._task,
            completed=min((self._done + sum(parts)) * _UNITS_PER_RUN, self._runs * _UNITS_PER_RUN),
            done=self._done,
            moving=moving,
        )
