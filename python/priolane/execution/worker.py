"""The work of a worker process: one run, with progress out and a stop request in.

A pool calls `initialize` once in each process: it connects the worker to its parent.
"""

import json
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from priolane import _core


@dataclass(frozen=True)
class Grid:
    """The common settings of the runs of a grid."""

    source: str
    options: str
    out: str
    settings: str


@dataclass(frozen=True)
class Job:
    """One run to carry out in a process that shares the files of this one."""

    grid: Grid
    run_id: str
    for_pack: bool = False
    """Whether the results go to the process that writes packs, which knows that it has none of this run."""


@dataclass(frozen=True)
class JobResult:
    """The result of a job: `ran` is false where the results were already there."""

    run_id: str
    ran: bool
    answer: bytes | None = None
    """The results for `Grid.accept` of the process that writes packs; `None` if they are in their place."""


class _Flag(Protocol):
    def is_set(self) -> bool: ...


class _Outbox(Protocol):
    def put(self, item: tuple[str, float, int, int]) -> None: ...


@dataclass
class _ParentLink:
    stop: _Flag | None = None
    outbox: _Outbox | None = None
    parent: int | None = None


_link = _ParentLink()


def initialize(stop: _Flag, outbox: _Outbox, parent: int) -> None:
    """Connects this worker to its parent. Ctrl-C is the parent's to handle: it sets `stop`. A worker that waits for its
    next run ends with its parent, however that ends; what it runs looks for itself."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The parent starts workers with both blocked. SIGTERM ends a worker at once.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
    _link.stop, _link.outbox, _link.parent = stop, outbox, parent
    threading.Thread(target=_end_with_parent, daemon=True).start()


def warm_up() -> None:
    """The first task of a worker: nothing, once its interpreter has started."""


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


# Runs of a few grids may come in turn.
@lru_cache(maxsize=4)
def _open_grid(grid: Grid) -> _core.Grid:
    """The grid, planned and its directory opened once a process."""
    return _core.Experiment.from_path(Path(grid.source)).plan(grid.options).open(Path(grid.out), grid.settings)


def execute(job: Job) -> JobResult:
    """Runs `job` in a process of its own."""
    grid, report = _open_grid(job.grid), _reporter(job.run_id)
    if job.for_pack:
        answer, ran = grid.answer(job.run_id, report)
        return JobResult(job.run_id, ran, answer)
    return execute_in(grid, job.run_id, report)


def execute_in(grid: _core.Grid, run_id: str, report: Callable[[float, int, int], bool]) -> JobResult:
    """Runs a run of `grid`; `report(simulated seconds, flows done, flows opened)` stops it by returning `False`."""
    done: dict[str, Any] = json.loads(grid.run(run_id, report))
    return JobResult(run_id=run_id, ran=bool(done["ran"]))


def _reporter(run_id: str) -> Callable[[float, int, int], bool]:
    def report(now: float, completed: int, total: int) -> bool:
        if _link.outbox is not None:
            _link.outbox.put((run_id, now, completed, total))
        return not _must_stop()

    return report


def _must_stop() -> bool:
    if _link.stop is not None and _link.stop.is_set():
        return True
    return _link.parent is not None and os.getppid() != _link.parent
