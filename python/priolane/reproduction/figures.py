"""Figures of papers, from their experiment files to their pages.

All grids are planned before anything runs. Several figures share processes and proceed side by side: pages of one are
drawn while runs of the next go on.
"""

import concurrent.futures
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from priolane._core import InputError, RunFailed, Stopped
from priolane.execution.backend import LOCAL
from priolane.execution.budget import Budget
from priolane.execution.grid import Watcher, run_grid, run_plan
from priolane.execution.pool import ProcessPool
from priolane.execution.sequential import Look, run_until_decided
from priolane.execution.settings import Settings
from priolane.model.experiment import Options, Plan, plan
from priolane.report.summary import Summary, write_and_summarize
from priolane.results.results import Results
from priolane.storage.directory import refuse_foreign
from priolane.storage.object_store import display_name
from priolane.study import catalogue
from priolane.study.readings import ALL, directory_of
from priolane.study.record import write_record
from priolane.text.command_line import command_line, path_word

# Figures that are under way together: while one waits for its last run or its page, another one's runs go on.
_AT_ONCE = 4
_POLL_S = 0.1


@dataclass(frozen=True)
class Grid:
    """The runs of a figure under one reading of its paper, and where they go."""

    plan: Plan
    directory: Path
    options: Options


@dataclass(frozen=True)
class Figure:
    """The figure to reproduce, with its options: one grid, or one for each reading, the leading one first."""

    item: catalogue.PaperFigure
    options: Options
    grids: tuple[Grid, ...]

    @property
    def directory(self) -> Path:
        """The directory of the grid of the leading reading."""
        return self.grids[0].directory


@dataclass(frozen=True)
class ReproductionOptions:
    """The way in which figures are reproduced, and the files that they leave beside runs and page.

    With a `budget`, seeds are added until claims are decided, and `on_look` is called for each look. Records go to
    `record`.
    """

    settings: Settings
    # Kinds of files of figures, `png` and `pdf`.
    formats: tuple[str, ...] = ()
    record: Path | None = None
    budget: Budget | None = None
    on_look: Callable[[Look], None] = lambda _: None


@dataclass(frozen=True)
class Reproduction:
    """A figure and what came of it: the results of its grids, the leading one first, and its summary; or why a run of
    it failed."""

    figure: Figure
    results: tuple[Results, ...] = ()
    summary: Summary | None = None
    record: Path | None = None
    failure: str = ""


def plan_figures(
    items: Sequence[catalogue.PaperFigure], base: Path, options: Options, out: Path | None = None
) -> list[Figure]:
    """Plans the figures, each in a directory below `base`, or in `out` if that is given for one figure.

    Raises `InputError` before anything is written if an experiment is not right, or a directory is somebody else's.
    """
    planned = []
    for item in items:
        if item.experiment is None:
            raise InputError(f"{item.key}: {item.state}")
        directory = out or base / f"{item.paper}-{item.id}"
        refuse_foreign(directory)
        planned.append(Figure(item, options, tuple(_grids(item.experiment, directory, options))))
    return planned


def _grids(experiment: Path, directory: Path, options: Options) -> Iterator[Grid]:
    """One grid, or with `--reading all` one for each reading, the leading one first."""
    if options.reading != ALL:
        yield Grid(plan(experiment, options), directory, options)
        return
    leading = replace(options, reading=None)
    first = Grid(plan(experiment, leading), directory, leading)
    yield first
    for reading in first.plan.readings:
        if not reading.leads:
            other = replace(options, reading=reading.name)
            yield Grid(plan(experiment, other), directory_of(directory, reading.name), other)


def reproduce(
    planned: Sequence[Figure], base: Path, how: ReproductionOptions, watch: Watcher
) -> Iterator[Reproduction]:
    """Reproduces figures and yields them as they are done, side by side where runs are of this machine.

    A figure with a run that breaks an invariant is yielded with its failure; whatever else goes wrong is raised.
    """
    of_grids = {grid.directory: grid for figure in planned for grid in figure.grids}

    def one(figure: Figure, with_pool: ReproductionOptions) -> Reproduction:
        return _reproduce(figure, _SharedRuns(base, of_grids), with_pool, watch)

    if len(planned) == 1 or how.budget is not None or how.settings.jobs <= 1 or how.settings.on != LOCAL:
        yield from (one(figure, how) for figure in planned)
        return
    with ExitStack() as stack:
        threads = concurrent.futures.ThreadPoolExecutor(_AT_ONCE, initializer=_leave_signals)
        # Last, when the end of the processes has ended what threads wait for.
        stack.callback(threads.shutdown, cancel_futures=True)
        # A thread may wait for an object store.
        stack.push(partial(_give_up_if_interrupted, how.settings))
        pool = stack.enter_context(ProcessPool(how.settings.jobs, watch.moved))
        shared = replace(how, settings=replace(how.settings, pool=pool))
        stack.callback(threads.shutdown, wait=False, cancel_futures=True)
        waiting = {threads.submit(one, figure, shared) for figure in planned}
        while waiting:
            done, waiting = concurrent.futures.wait(
                waiting, timeout=_POLL_S, return_when=concurrent.futures.FIRST_COMPLETED
            )
            for future in done:
                yield future.result()


def _give_up_if_interrupted(settings: Settings, kind: type[BaseException] | None, *_: object) -> None:
    if kind is not None and issubclass(kind, KeyboardInterrupt | Stopped):
        settings.give_up()


def _leave_signals() -> None:
    """Ctrl-C is for the main thread."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})


def _reproduce(figure: Figure, shared_runs: "_SharedRuns", how: ReproductionOptions, watch: Watcher) -> Reproduction:
    """Runs the grids of a figure and writes their pages."""
    try:
        results = tuple(_run(grid, shared_runs.of(figure, grid), how, watch) for grid in figure.grids)
    except RunFailed as error:
        return Reproduction(figure, failure=str(error))
    leading = results[0].options
    own_options = replace(figure.options, seeds=leading.seeds, looks=leading.looks)
    command = ["priolane", "reproduce", figure.item.key, *own_options.arguments()]
    # The page of the leading reading, which is the first, shows the claims under all of them.
    for result in reversed(results[1:]):
        _finish(result, None, how)
    summary = _finish(results[0], command_line(*command, "-o", path_word(display_name(figure.directory))), how)
    record = how.record and write_record(how.record, figure.item.key, results, command_line(*command))
    return Reproduction(figure, results, summary, record)


def _run(grid: Grid, others: tuple[Path, ...], how: ReproductionOptions, watch: Watcher) -> Results:
    """The results of one grid, with more seeds where they are asked for; runs of `others` are taken over."""
    settings = replace(how.settings, others=others)
    if how.budget is None:
        return run_plan(grid.plan, grid.directory, grid.options, settings, watch)

    def look(options: Options) -> Results:
        return run_grid(grid.plan.source, grid.directory, options, settings, watch)

    return run_until_decided(look, grid.options, how.budget, how.on_look)


def _finish(results: Results, rerun: str | None, how: ReproductionOptions) -> Summary:
    """Writes the page of a grid, in a process of the pool if there is one."""
    if how.settings.pool is None:
        return write_and_summarize(results.directory, rerun, how.formats)
    return how.settings.pool.call(write_and_summarize, results.directory, rerun, how.formats)


class _SharedRuns:
    """Directories from which a grid takes over runs that it has in common with theirs: those of figures of its paper
    that are there, and those that are made now."""

    def __init__(self, base: Path, made: dict[Path, Grid]) -> None:
        """`made` are the grids of this command by their directories, which may be below `base`."""
        self._base = base
        self._made = {directory: {run.id for run in grid.plan.all_runs} for directory, grid in made.items()}

    def of(self, figure: Figure, grid: Grid) -> tuple[Path, ...]:
        """In an order that does not change."""
        own = self._made[grid.directory]
        made = {directory for directory, ids in self._made.items() if not own.isdisjoint(ids)}
        there = {path for path in self._base.glob(f"{figure.item.paper}-*") if path.is_dir()}
        return tuple(sorted((made | (there - self._made.keys())) - {grid.directory}))
