"""Carrying out the grid of an experiment: what is there is kept, the rest is run."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from priolane import _core
from priolane._core import InputError
from priolane.execution import work_unit, worker
from priolane.execution.backend import LOCAL, Backend
from priolane.execution.dispatch import CallSource, Dispatcher, RemoteWorkers
from priolane.execution.output import open_output
from priolane.execution.pool import ExecutorWorkers, ProcessPool
from priolane.execution.settings import Settings
from priolane.model.definition import Source, as_experiment
from priolane.model.experiment import Options, Plan, PlannedRun, plan, saved
from priolane.results.results import Results, load
from priolane.storage.directory import GRID_FILE, exclusive_writer, read_json, write_note
from priolane.text.printable import message

# From this number of runs on, small ones go into packs.
MANY_RUNS = 100
# The predicted instructions of a run below which a process of a pool hands its results to the writer of packs: they are
# some tens of kB, and a run of 10^6 packet-hops has a directory.
_SMALL = 1e9


class Watcher:
    """Receives the progress of a grid. The default does nothing; the command line's draws a progress bar."""

    def planned(self, grid: Plan) -> None:
        """The plan is known and nothing has been run yet."""

    def moved(self, run_id: str, now_s: float, completed: int, opened: int) -> None:
        """A run has reached `now_s` of simulated time with `completed` of the `opened` flows done."""

    def finished(self, run: PlannedRun, done: worker.JobResult) -> None:
        """A run's results are in place."""

    def stage(self, says: str) -> None:
        """The runs that follow are those of a stage of something longer, which `says` names."""

    def notify(self, line: str) -> None:
        """The news for the user meanwhile: a cluster without workers, a run that is sent again."""
        message(line)


def run_grid(
    source: Source,
    out: str | Path | None,
    options: Options,
    settings: Settings,
    watcher: Watcher | None = None,
) -> Results:
    """`session.run` with all the choices that the command line has."""
    experiment = as_experiment(source)
    grid = plan(experiment, options)
    with open_output(out if out is not None else Path("runs") / experiment.name, settings) as (directory, own_settings):
        return run_plan(grid, directory, options, own_settings, watcher)


def run_plan(
    grid: Plan, directory: Path, options: Options, settings: Settings, watcher: Watcher | None = None
) -> Results:
    """`run_grid` of what is planned already, with `options`."""
    watch = watcher or Watcher()
    watch.planned(grid)
    if settings.threads > 1 and (names := grid.core.python_schemes()):
        watch.notify(f"{', '.join(names)}: a Python class runs on one thread; --jobs runs several runs side by side")
    with exclusive_writer(directory):
        return _run_missing(directory, grid, options, settings, watch)


def _run_missing(directory: Path, grid: Plan, options: Options, settings: Settings, watch: Watcher) -> Results:
    """Notes the grid, carries out what is missing and weighs it."""
    require_same_experiment(directory, grid)
    grid = saved(grid, directory)
    write_grid(directory, grid, options)
    settings.on_saved(directory / GRID_FILE)
    by_id = {planned.id: planned for planned in grid.all_runs}
    for done in _execute(directory, grid, (options, settings), watch):
        settings.on_saved(directory / done.run_id)
        watch.finished(by_id[done.run_id], done)
    if settings.pool is not None:
        settings.pool.call(judge, directory)
    else:
        judge(directory)
    return load(directory)


def judge(directory: Path) -> None:
    """Weighs the runs in a directory against the claims of its experiment, and leaves the outcome beside them."""
    load(directory).judge()


def require_same_experiment(directory: Path, grid: Plan, measured: Mapping[str, Any] | None = None) -> None:
    """Raises `InputError` if the directory has the page of another experiment, which this one's would replace, or of
    this one measured in another way. `measured` says how runs are measured, `None` that they are simulated. A note that
    is missing or cannot be read is no page of anything."""
    try:
        there = load(directory).title
        was = read_json(directory / GRID_FILE).get("measured")
    except InputError:
        return
    if was != measured:
        how = "simulated" if was is None else f"measured on {was['on']} at scale {was['scale']}"
        if was is not None and "switch" in was:
            how += f" with --switch {was['switch']}"
        if was is not None and "machines" in was:
            how += f" ({', '.join(was['machines'])})"
        raise InputError(f"{directory} has results that were {how}; choose another directory with -o")
    if there != grid.title:
        raise InputError(
            f'{directory} has the results of "{there}", this is "{grid.title}"; choose another directory with -o'
        )


def write_grid(directory: Path, grid: Plan, options: Options, measured: Mapping[str, Any] | None = None) -> None:
    """Notes what the directory is the grid of, so that it can be opened and reported later."""
    note = {
        "source": str(_place(grid.source, directory)),
        "title": grid.title,
        "options": json.loads(options.to_json()),
        "runs": [_line(planned) for planned in grid.runs],
        "readings": [asdict(reading) for reading in grid.readings],
        "warnings": list(grid.warnings),
    }
    if grid.alone and measured is None:
        note["alone"] = [_line(planned) for planned in grid.alone]
    write_note(directory, note if measured is None else note | {"measured": dict(measured)})


def _line(planned: PlannedRun) -> dict[str, Any]:
    return {"id": planned.id, "scheme": planned.scheme, "point": dict(planned.point), "seed": planned.seed}


def _place(source: Path, directory: Path) -> Path:
    """The path of the experiment file, relative to the results if it lies below them: they may be moved."""
    if source.absolute().is_relative_to(directory.absolute()):
        return source.absolute().relative_to(directory.absolute())
    return source.absolute()


def _execute(directory: Path, grid: Plan, how: tuple[Options, Settings], watch: Watcher) -> Iterator[worker.JobResult]:
    options, settings = how
    has_packs = settings.packs and not settings.verify and len(grid.all_runs) >= MANY_RUNS
    opened = grid.core.open(directory, settings.of_the_writer(packs=has_packs))
    if settings.on != LOCAL:
        yield from _execute_remotely(grid, opened, settings, watch)
        return
    if settings.pool is None and (settings.jobs <= 1 or len(grid.all_runs) <= 1):
        yield from _execute_serially(grid, opened, watch)
        return
    shared = worker.Grid(
        source=str(grid.source),
        options=options.to_json(),
        out=str(directory),
        settings=settings.to_json(),
    )
    todo = []
    for run_id, cost in _longest_first(grid):
        for_pack = has_packs and cost < _SMALL
        if for_pack and opened.ready(run_id):
            yield worker.JobResult(run_id, ran=False)
        else:
            todo.append(worker.Job(shared, run_id, for_pack))
    if settings.pool is not None:
        yield from _stored(opened, settings.pool.execute(todo))
    elif todo:
        with ProcessPool(min(settings.jobs, len(todo)), watch.moved) as pool:
            yield from _stored(opened, pool.execute(todo))


def _stored(opened: _core.Grid, results: Iterable[worker.JobResult]) -> Iterator[worker.JobResult]:
    """The results of jobs, with those for packs stored there."""
    for result in results:
        if result.answer is None:
            yield result
        else:
            yield replace(_accepted(opened, result.run_id, result.answer), ran=result.ran)


def _accepted(opened: _core.Grid, run_id: str, answer: bytes) -> worker.JobResult:
    return worker.JobResult(run_id, ran=bool(json.loads(opened.accept(run_id, answer))["ran"]))


def _execute_remotely(grid: Plan, opened: _core.Grid, settings: Settings, watch: Watcher) -> Iterator[worker.JobResult]:
    """Sends what is not there yet to workers that share no files with this process."""
    missing = []
    for run_id, _ in _longest_first(grid):
        if opened.ready(run_id):
            yield worker.JobResult(run_id, ran=False)
        else:
            missing.append(run_id)
    if not missing:
        return

    how = settings.of_a_unit()
    accept = partial(_accepted, opened)
    work = CallSource(lambda run_id: work_unit.encode_call(opened.unit(run_id), how), accept, grid.core.texts)
    with ExitStack() as stack:
        remote: RemoteWorkers
        if isinstance(settings.on, Backend):
            from priolane.execution.cluster import connected  # noqa: PLC0415 - where Dask is asked for

            remote = stack.enter_context(connected(settings.on, grid.core.texts()))
        else:
            remote = ExecutorWorkers(settings.on)
        yield from Dispatcher(remote, work, watch.notify).execute(missing)


def _longest_first(grid: Plan) -> list[tuple[str, float]]:
    """Ids by the predicted cost of the run, which follows, so that no long run is left when all others are done."""
    by_cost = sorted(zip(grid.costs, grid.all_runs, strict=True), key=lambda pair: -pair[0])
    return [(run.id, cost) for cost, run in by_cost]


def _execute_serially(grid: Plan, opened: _core.Grid, watch: Watcher) -> Iterator[worker.JobResult]:
    for run in grid.all_runs:

        def report(now_s: float, completed: int, opened: int, run_id: str = run.id) -> bool:
            watch.moved(run_id, now_s, completed, opened)
            return True

        yield worker.execute_in(opened, run.id, report)
