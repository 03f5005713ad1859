import concurrent.futures
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import priolane
from fake_core import FakeCore
from priolane.execution.grid import Watcher, run_grid
from priolane.execution.settings import Settings
from priolane.execution.worker import JobResult
from priolane.model.experiment import Options, Plan, PlannedRun
from priolane.model.toml import toml_text


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    path = tmp_path / "x.toml"
    path.write_text("")
    return path


class Recorder(Watcher):
    def __init__(self) -> None:
        self.events: list[str] = []

    def planned(self, grid: Plan) -> None:
        self.events.append(f"plan {len(grid.runs)}")

    def moved(self, run_id: str, now_s: float, completed: int, opened: int) -> None:
        self.events.append(f"moved {run_id[-1]} {now_s} {completed}/{opened}")

    def finished(self, run: PlannedRun, done: JobResult) -> None:
        self.events.append(f"done {run.id[-1]} {done.ran}")


class InterruptedAt(Watcher):
    def __init__(self, run_id: str) -> None:
        self.run_id = run_id

    def moved(self, run_id: str, now_s: float, completed: int, opened: int) -> None:
        if run_id == self.run_id:
            raise KeyboardInterrupt


def test_a_grid_runs_every_run_in_the_plans_order(core: FakeCore, experiment: Path, tmp_path: Path) -> None:
    results = priolane.run(experiment, out=tmp_path / "out")
    assert core.ran == [run["id"] for run in core.runs()]
    assert results.missing() == []
    assert len(results.report.claims) == 5


def test_a_process_plans_a_grid_once_for_all_its_runs(core: FakeCore, experiment: Path, tmp_path: Path) -> None:
    priolane.run(experiment, out=tmp_path / "out")
    assert len(core.options) == 1
    # Workers elsewhere are sent runs, not the file.
    with concurrent.futures.ThreadPoolExecutor(1) as threads:
        for times in (2, 3):
            priolane.run(experiment, out=tmp_path / "other", on=threads)
            assert len(core.options) == times


def test_the_longest_runs_are_begun_first(core: FakeCore, experiment: Path, tmp_path: Path) -> None:
    costs = dict(zip((run["id"] for run in core.runs()), core.plan(experiment, "{}").costs(), strict=True))
    with concurrent.futures.ThreadPoolExecutor(1) as threads:
        priolane.run(experiment, out=tmp_path / "out", on=threads)
    begun = [costs[run_id] for run_id in core.ran]
    assert begun == sorted(costs.values(), reverse=True)
    assert begun[0] > begun[-1]


def test_complete_runs_are_not_repeated(core: FakeCore, experiment: Path, tmp_path: Path) -> None:
    priolane.run(experiment, out=tmp_path / "out")
    first = list(core.ran)
    priolane.run(experiment, out=tmp_path / "out")
    assert core.ran == first


def test_an_interrupted_grid_keeps_whole_runs_and_continues(core: FakeCore, experiment: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        run_grid(experiment, out, Options(), Settings(), InterruptedAt(core.runs()[3]["id"]))
    assert len(core.ran) == 3
    with pytest.raises(priolane.InputError, match="3 of 16 runs"):
        _ = priolane.load(out).report
    priolane.run(experiment, out=out)
    assert core.ran == [run["id"] for run in core.runs()]


def test_a_failed_run_stops_the_grid_and_keeps_the_others(core: FakeCore, experiment: Path, tmp_path: Path) -> None:
    core.failing = {core.runs()[2]["id"]}
    with pytest.raises(priolane.RunFailed, match="not conserved"):
        priolane.run(experiment, out=tmp_path / "out")
    assert len(core.ran) == 2


def test_bad_input_writes_nothing(core: FakeCore, tmp_path: Path) -> None:
    with pytest.raises(priolane.InputError, match="no such file"):
        priolane.run(tmp_path / "none.toml", out=tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
    assert core.ran == []


def test_any_executor_carries_the_runs(core: FakeCore, experiment: Path, tmp_path: Path) -> None:
    with concurrent.futures.ThreadPoolExecutor(3) as threads:
        results = priolane.run(experiment, out=tmp_path / "out", on=threads)
    assert sorted(core.ran) == sorted(run.id for run in results.runs)


def test_a_watcher_is_told_of_plan_progress_and_ends(core: FakeCore, experiment: Path, tmp_path: Path) -> None:
    recorder = Recorder()
    run_grid(experiment, tmp_path / "out", Options(), Settings(), recorder)
    assert recorder.events[:3] == ["plan 16", "moved 0 0.001 3/10", "done 0 True"]
    assert len(recorder.events) == 1 + 2 * len(core.runs())


def test_sets_and_seeds_reach_the_plan_as_toml(core: FakeCore, experiment: Path, tmp_path: Path) -> None:
    priolane.run(experiment, out=tmp_path / "out", seeds=3, sets={"time.measure": "2s", "group.all.load.value": 0.5})
    assert core.options[0] == {
        "sets": [["time.measure", '"2s"'], ["group.all.load.value", "0.5"]],
        "seeds": 3,
        "schemes": None,
        "reading": None,
        "size": "default",
        "looks": 1,
    }


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (3, "3"),
        (0.25, "0.25"),
        ('a"b', '"a\\"b"'),
        ([1, "x"], '[1, "x"]'),
        ({"of": "host"}, '{ "of" = "host" }'),
    ],
)
def test_python_values_become_toml(value: object, text: str) -> None:
    assert toml_text(value) == text


def test_a_value_without_toml_form_is_refused() -> None:
    with pytest.raises(TypeError, match="no TOML form"):
        toml_text(None)


def test_options_survive_their_json() -> None:
    options = Options(sets=(("a.b", "1"),), seeds=4, schemes=("nos2",), size="quick")
    assert Options.from_json(options.to_json()) == options
    assert options.arguments() == ["--set", "a.b=1", "--seeds", "4", "--quick"]


def test_seeds_are_a_number_or_a_list(core: FakeCore, experiment: Path, tmp_path: Path) -> None:
    results = priolane.run(experiment, out=tmp_path / "out", seeds=range(7, 10))
    assert core.options[0]["seeds"] == [7, 8, 9]
    assert results.options.seeds == (7, 8, 9)
    assert Options.from_json(results.options.to_json()) == results.options
    assert results.options.arguments() == ["--seed-list", "7,8,9"]


@pytest.mark.parametrize("seeds", [0, -1, True, 2**63, [7, -1], [1.5], "78"])
def test_seeds_that_are_none_are_one_message(core: FakeCore, experiment: Path, tmp_path: Path, seeds: Any) -> None:
    with pytest.raises(priolane.InputError, match=r"seeds=: .* a whole number from 1"):
        priolane.run(experiment, out=tmp_path / "out", seeds=seeds)
    assert core.ran == []


def test_a_notebook_shows_progress_and_a_script_nothing(
    core: FakeCore, experiment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []

    def display(bar: Any, *, display_id: bool) -> Any:
        assert display_id
        shown.append(bar._repr_html_())
        return SimpleNamespace(update=lambda bar: shown.append(bar._repr_html_()))

    ipython, of_display = ModuleType("IPython"), ModuleType("IPython.display")
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", of_display)
    monkeypatch.setattr(ipython, "get_ipython", lambda: None, raising=False)
    monkeypatch.setattr(of_display, "display", display, raising=False)
    priolane.run(experiment, out=tmp_path / "script")
    assert len(core.ran) == 16
    assert shown == []
    monkeypatch.setattr(ipython, "get_ipython", lambda: SimpleNamespace(kernel=object()))
    priolane.run(experiment, out=tmp_path / "notebook")
    assert shown[0] == '<progress max="16" value="0.000"></progress> made by hand: 0 of 16 runs'
    assert shown[-1] == '<progress max="16" value="16.000"></progress> made by hand: 16 of 16 runs'
