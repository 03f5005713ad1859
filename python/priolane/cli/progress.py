"""The progress of grids: a bar on a terminal, lines in a log elsewhere."""

import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Column

from priolane.execution.grid import Watcher
from priolane.execution.worker import JobResult
from priolane.model.experiment import Plan, PlannedRun
from priolane.text.printable import message, printable, printable_line

# Time left is from the speed over so long.
_SPEED_OVER_S = 300.0
# Characters of a title, and the width from which there is room for what moves.
_LONGEST_TITLE = 24
_LONGEST_BAR = 40
_WIDE = 110
# Between two lines of a log, in seconds, and the part of the work from which they tell the time left: the first short
# runs take longer than by their costs.
_EVERY_S = 10.0
_ENOUGH = 0.02


def _nothing() -> None:
    """The default action near the end."""


def progress(planned: Sequence[Plan] = (), title: str = "", near_end: Callable[[], None] = _nothing) -> "Bar | Log":
    """The display of the progress of grids, used as a context: a bar on a terminal, a log elsewhere.

    It knows the grids that are `planned` from the start, and others when their plans are there. `title` stands in
    place of that of the first grid. `near_end` is called once, when the last run is all that is left.
    """
    return (Bar if sys.stderr.isatty() else Log)(planned, title, near_end)


class _Tally(Watcher, ABC):
    """Counts the runs of several grids, and weighs them by what they are predicted to cost. Several threads may tell
    it of runs."""

    def __init__(self, planned: Sequence[Plan], title: str, near_end: Callable[[], None]) -> None:
        """As `progress` has it."""
        self._lock = threading.Lock()
        self._title, self._stage = title, ""
        self._known: list[Plan] = []
        self._runs, self._done = 0, 0
        self._moving: dict[str, tuple[float, int, int]] = {}
        self._costs: dict[str, float] = {}
        self._cost, self._cost_done, self._cost_ran = 0.0, 0.0, 0.0
        self._near_end: Callable[[], None] | None = near_end
        for grid in planned:
            self.planned(grid)

    def planned(self, grid: Plan) -> None:
        """Adds the plan's runs to those that are to be done, unless it is known already."""
        with self._lock:
            if any(grid is known for known in self._known):
                return
            self._known.append(grid)
            self._title = self._title or grid.title
            self._runs += len(grid.all_runs)
            self._costs.update((run.id, cost) for run, cost in zip(grid.all_runs, grid.costs, strict=True))
            self._cost += sum(grid.costs)
            self._look_ahead()
            self._tell()

    def moved(self, run_id: str, now_s: float, completed: int, opened: int) -> None:
        """Notes how far a run under way is."""
        with self._lock:
            self._moving[run_id] = (now_s, completed, opened)
            self._tell()

    def finished(self, run: PlannedRun, done: JobResult) -> None:
        """Counts a run."""
        with self._lock:
            cost = self._costs.get(run.id, 0.0)
            self._moving.pop(run.id, None)
            self._done += 1
            self._cost_done += cost
            # What was there already says nothing of the pace.
            self._cost_ran += cost if done.ran else 0.0
            self._look_ahead()
            self._tell()

    def stage(self, says: str) -> None:
        """Names the stage; what is left is then that of the stage, and not of the whole."""
        with self._lock:
            self._stage = says

    def _under_way(self) -> float:
        """The finished part of runs that are under way, in the unit of costs."""
        return sum(
            self._costs.get(run_id, 0.0) * min(completed / opened, 1.0)
            for run_id, (_, completed, opened) in self._moving.items()
            if opened
        )

    def _look_ahead(self) -> None:
        if self._near_end is not None and self._runs - self._done <= 1:
            near_end, self._near_end = self._near_end, None
            near_end()

    @abstractmethod
    def _tell(self) -> None:
        """Shows what has changed; called with the lock."""


class Log(_Tally):
    """Writes how far grids are, but nothing within 10 s of the last line or of the start: short grids are silent."""

    def __init__(
        self,
        planned: Sequence[Plan] = (),
        title: str = "",
        near_end: Callable[[], None] = _nothing,
        *,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """As `progress` has it; writes to `stream`, standard error if it is `None`, by a clock in seconds.

        Time counts from here.
        """
        self._stream, self._clock = stream, clock
        self._began = self._last = clock()
        super().__init__(planned, title, near_end)

    def __enter__(self) -> "Log":
        """Nothing is written yet."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing is left to write."""

    def _tell(self) -> None:
        now = self._clock()
        if now - self._last < _EVERY_S:
            return
        self._last = now
        under_way = self._under_way()
        spent, simulated = now - self._began, self._cost_ran + under_way
        left = self._cost - self._cost_done - under_way
        known = left > 0 and simulated >= _ENOUGH * (simulated + left)
        of_stage = " in this stage" if self._stage else ""
        about = f", about {_span(spent * left / simulated)} left{of_stage}" if known else ""
        title = f"{self._title}, {self._stage}" if self._stage else self._title
        message(f"{title}: {self._done} of {self._runs} runs after {_span(spent)}{about}", self._stream)


def _span(seconds: float) -> str:
    """A time as people say it: `40 s`, `12 min`, `3.5 h`."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


class Bar(_Tally):
    """Draws simulated time, flows and runs done, and time left on a terminal; used as a context.

    It moves by what runs are predicted to cost.
    """

    def __init__(
        self,
        planned: Sequence[Plan] = (),
        title: str = "",
        near_end: Callable[[], None] = _nothing,
        *,
        console: Console | None = None,
    ) -> None:
        """As `progress` has it; appears once a plan is known, on standard error if no console is given."""
        console = console or Console(stderr=True)
        self._wide = console.width >= _WIDE
        self._task: TaskID | None = None
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None, table_column=Column(max_width=_LONGEST_BAR)),
            TextColumn("{task.fields[done]}/{task.fields[runs]} runs"),
            TextColumn("{task.fields[moving]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            speed_estimate_period=_SPEED_OVER_S,
            # Lines on standard output stand above the bar where both are on one terminal.
            redirect_stdout=sys.stdout.isatty(),
        )
        super().__init__(planned, title, near_end)

    def __enter__(self) -> "Bar":
        """Starts drawing."""
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Clears the bar."""
        self._progress.stop()

    def notify(self, line: str) -> None:
        """Prints a line above the bar."""
        self._progress.console.print(f"priolane: {printable(line)}", markup=False, highlight=False, soft_wrap=True)

    def _tell(self) -> None:
        if self._task is None:
            # The title is the file's: shown as text, not as markup.
            title = cut(printable_line(self._title).replace("[", "(").replace("]", ")"), _LONGEST_TITLE)
            self._task = self._progress.add_task(title, done=0, runs=0, moving="")
        moving = ""
        if self._moving:
            now = max(now for now, _, _ in self._moving.values())
            flows = sum(completed for _, completed, _ in self._moving.values())
            moving = f"t = {now * 1e3:,.1f} ms" + (f", {flows:,} flows done" if self._wide else "")
        self._progress.update(
            self._task,
            total=self._cost,
            completed=min(self._cost_done + self._under_way(), self._cost),
            done=self._done,
            runs=self._runs,
            moving=moving,
        )


def cut(title: str, most: int) -> str:
    """A title of at most `most` characters, with an ellipsis where it was longer."""
    return title if len(title) <= most else title[: most - 1].rstrip() + "…"
