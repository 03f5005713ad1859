"""The progress of grids: the steps of the bar and the log, their texts, and the time at which they say that the end is
near."""

import io
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from rich.console import Console

from priolane.cli.progress import Bar, Log, cut, progress
from priolane.execution.worker import JobResult
from priolane.model.experiment import Plan, PlannedRun


class Costs:
    """Stands in for the compiled plan."""

    def __init__(self, costs: list[float]) -> None:
        self._costs = costs

    def costs(self) -> list[float]:
        return self._costs


def plan(costs: list[float], first: int = 0, title: str = "[A] grid") -> Plan:
    runs = tuple(PlannedRun(f"run{first + nth}", "dctcp", 1) for nth in range(len(costs)))
    return Plan(Path("x.toml"), title, runs, (), (), cast(Any, Costs(costs)))


def finish(watcher: Bar | Log, run: PlannedRun, *, ran: bool = True) -> None:
    watcher.finished(run, JobResult(run.id, ran=ran))


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("kind", [Bar, Log])
def test_the_end_is_near_once_when_one_run_is_left(kind: type[Bar] | type[Log]) -> None:
    calls: list[int] = []
    first, second = plan([1.0, 1.0]), plan([1.0], first=2)
    watcher = kind([first, second], near_end=lambda: calls.append(1))
    finish(watcher, first.runs[0])
    assert calls == []
    finish(watcher, first.runs[1])
    finish(watcher, second.runs[0])
    assert calls == [1]
    alone = kind(near_end=lambda: calls.append(2))
    alone.planned(plan([1.0]))
    assert calls == [1, 2]


@pytest.mark.parametrize(("looked_at", "kind"), [(True, Bar), (False, Log)])
def test_a_bar_is_for_a_terminal_and_a_log_for_the_rest(
    *, looked_at: bool, kind: type[Bar] | type[Log], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    monkeypatch.setattr(sys.stderr, "isatty", lambda: looked_at, raising=False)
    watcher = progress([plan([1.0])], "all", lambda: calls.append("near"))
    assert type(watcher) is kind
    assert (watcher._title, watcher._runs, calls) == ("all", 1, ["near"])


def test_the_bar_moves_by_what_runs_cost_over_all_grids() -> None:
    first, second = plan([8.0, 1.0]), plan([1.0], first=2)
    bar = Bar([first, second], title="all", console=Console(file=io.StringIO(), width=200))
    (task,) = bar._progress.tasks
    assert (task.total, task.completed, task.description) == (10.0, 0.0, "all")
    # Grids that are known from the start are not counted again when they begin.
    bar.planned(first)
    finish(bar, first.runs[1])
    assert (task.completed, task.fields["done"], task.fields["runs"]) == (1.0, 1, 3)
    bar.moved(first.runs[0].id, 0.5, 30, 40)
    assert task.completed == 7.0
    assert task.fields["moving"] == "t = 500.0 ms, 30 flows done"
    finish(bar, first.runs[0])
    finish(bar, second.runs[0])
    assert (task.completed, task.fields["moving"]) == (10.0, "")


def test_a_title_is_no_markup() -> None:
    bar = Bar([plan([1.0])])
    assert bar._progress.tasks[0].description == "(A) grid"


def test_a_log_has_a_line_of_finished_runs_at_most_every_ten_seconds() -> None:
    clock, written = Clock(), io.StringIO()
    grid = plan([1.0] * 6, title="incast")
    log = Log(stream=written, clock=clock)
    log.planned(grid)
    for nth, run in enumerate(grid.runs[:4]):
        # At 4, 8, 12 and 16 s: the line of the run at 12 s is the first, 16 s is too early for another.
        clock.now = 4.0 * (nth + 1)
        finish(log, run)
    # Three runs take 12 s, so three more take about 12.
    assert written.getvalue() == "priolane: incast: 3 of 6 runs after 12 s, about 12 s left\n"


def test_a_log_tells_of_long_runs_under_way_and_of_runs_that_were_there() -> None:
    clock, written = Clock(), io.StringIO()
    grid = plan([1.0] * 3, title="incast")
    log = Log(stream=written, clock=clock)
    log.planned(grid)
    finish(log, grid.runs[0], ran=False)
    clock.now = 120.0
    log.moved(grid.runs[1].id, 0.5, 50, 100)
    # Half a run took 120 s, and one and a half are left: 360 s. What was there says nothing of the pace.
    assert written.getvalue() == "priolane: incast: 1 of 3 runs after 2 min, about 6 min left\n"


def test_a_log_counts_all_grids_and_weighs_runs_by_their_costs() -> None:
    clock, written = Clock(), io.StringIO()
    first, second = plan([6.0, 2.0]), plan([4.0], first=2)
    log = Log([first], title="all", stream=written, clock=clock)
    # A grid that is known is not counted again, and another one does not start over.
    log.planned(first)
    clock.now = 8.0
    log.planned(second)
    clock.now = 20.0
    finish(log, first.runs[1])
    # 2 of 12 took 20 s: 10 take 100 s.
    assert written.getvalue() == "priolane: all: 1 of 3 runs after 20 s, about 2 min left\n"
    clock.now = 120.0
    finish(log, first.runs[0])
    finish(log, second.runs[0])
    # 8 of 12 took 120 s: 4 take 60 s.
    assert written.getvalue().splitlines()[1:] == ["priolane: all: 2 of 3 runs after 2 min, about 60 s left"]


def test_what_is_left_is_said_to_be_of_the_stage() -> None:
    clock, written = Clock(), io.StringIO()
    grid = plan([2.0, 2.0])
    log = Log([grid], title="advise", stream=written, clock=clock)
    log.stage("race (stage 2 of 8, about 12 min in all)")
    clock.now = 20.0
    finish(log, grid.runs[0])
    assert written.getvalue() == (
        "priolane: advise, race (stage 2 of 8, about 12 min in all): 1 of 2 runs after 20 s, about 20 s left in this "
        "stage\n"
    )


def test_a_log_tells_no_time_left_from_runs_that_cost_next_to_nothing() -> None:
    clock, written = Clock(), io.StringIO()
    grid = plan([1.0, 1.0, 98.0])
    log = Log([grid], title="all", stream=written, clock=clock)
    for nth, run in enumerate(grid.runs[:2]):
        clock.now = 10.0 * (nth + 1)
        finish(log, run)
    # 1 of 100 says nothing yet; 2 of 100 took 20 s, and 98 take 980 s.
    assert written.getvalue().splitlines() == [
        "priolane: all: 1 of 3 runs after 10 s",
        "priolane: all: 2 of 3 runs after 20 s, about 16 min left",
    ]


@pytest.mark.parametrize("width", [80, 200])
def test_a_long_title_leaves_room_for_the_bar(width: int) -> None:
    drawn = io.StringIO()
    console = Console(file=drawn, force_terminal=True, width=width, color_system=None)
    with Bar(console=console) as bar:
        bar.planned(plan([1.0] * 30, title="A very long title of an experiment " * 5))
        bar.moved("run0", 0.0123, 3_400, 10_000)
        bar._progress.refresh()
    text: Any = drawn.getvalue()
    line = next(line for line in text.replace("\r", "\n").splitlines() if "t = 12.3 ms" in line)
    assert 10 <= line.index("0/30") - line.index("…") <= 43
    assert "A very long title of an…" in line
    assert "0/30 runs" in line
    assert ("3,400 flows done" in line) == (width == 200)


def test_titles_are_cut_at_the_end() -> None:
    assert cut("short", 5) == "short"
    assert cut("longer", 5) == "long…"


def test_nothing_is_written_into_a_short_log(tmp_path: Path) -> None:
    written = io.StringIO()
    with Log(stream=written, clock=Clock()) as log:
        log.planned(plan([1.0], title=str(tmp_path)))
        log.moved("run0", 0.1, 1, 2)
    assert written.getvalue() == ""
