"""Seeds added until claims are decided: how many looks there are, why they end, and what they tell."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

import factories
from fake_core import FakeCore
from priolane.cli import main
from priolane.execution import sequential
from priolane.execution.budget import Budget
from priolane.model.experiment import Options, PlannedRun
from priolane.results.report import Report
from priolane.results.results import Results

HOPS = 1_000


def report(verdicts: Sequence[str], because: str) -> Report:
    whole = factories.report(0)
    claims = []
    for claim, verdict in zip(whole["claims"], verdicts, strict=False):
        why = {"because": because, "seeds": None, "load": None, "says": "so"} if verdict == "undecided" else None
        claims.append(claim | {"verdict": verdict, "alone": verdict, "undecided": why})
    return Report.from_json(json.dumps(whole | {"claims": claims}))


@dataclass
class Grid:
    """A grid of two schemes whose second claim is decided from so many seeds on."""

    from_seeds: int
    because: str = "interval"
    first: Sequence[int] = (1, 2, 3)
    asked: list[Options] = field(default_factory=list)
    looks: list[sequential.Look] = field(default_factory=list)

    def execute(self, options: Options) -> Results:
        self.asked.append(options)
        choice = self.first if options.seeds is None else options.seeds
        seeds = list(range(1, choice + 1)) if isinstance(choice, int) else list(choice)
        runs = [PlannedRun(f"{scheme}{seed}", scheme, seed) for seed in seeds for scheme in ("a", "b")]
        second = "undecided" if len(seeds) < self.from_seeds else "contradicted"
        result = FakeResults(runs, report(["reproduced", second], self.because))
        return cast(Results, result)

    def look(self, budget: str) -> list[str]:
        sequential.run_until_decided(self.execute, Options(), Budget.read(budget), self.looks.append)
        return [str(look) for look in self.looks]


class FakeResults:
    def __init__(self, runs: list[PlannedRun], looks_made: Report) -> None:
        self.runs, self.report = runs, looks_made
        self.records = {run.id: {"counters": {"packet_hops": HOPS}} for run in runs}


def test_seeds_double_until_every_claim_is_decided() -> None:
    grid = Grid(from_seeds=10)
    looks_made = grid.look("1000runs")
    assert [options.seeds for options in grid.asked] == [None, 6, 12]
    # Each look is one of six, so that verdicts are corrected for all of them from the first on.
    assert {options.looks for options in grid.asked} == {6}
    assert looks_made[0] == "look 1 of 6, 3 seeds: 1 of 2 claims undecided"
    assert looks_made[2].startswith("look 3 of 6, 12 seeds: 0 of 2 claims undecided; none is left")


@pytest.mark.parametrize(
    ("budget", "looks"),
    # Looks have 6, 12, 24, 48, 96 and 192 runs of 1,000 packet-hops.
    [("11runs", 1), ("12runs", 2), ("47runs", 3), ("48runs", 4), ("2.3e4hops", 2), ("24000hops", 3), ("9e9hops", 6)],
)
def test_a_budget_of_runs_or_hops_ends_the_looks_before_it_is_exceeded(budget: str, looks: int) -> None:
    looks_made = Grid(from_seeds=10_000).look(budget)
    assert len(looks_made) == looks
    stop_reason = "this was the last look" if looks == 6 else "the next look would go beyond the budget of"
    assert stop_reason in looks_made[-1]


def test_a_budget_of_cpu_time_predicts_the_next_look_from_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    # A look takes a second of CPU time for each new run: 6, 6, 12, 24, ...
    clock = iter([0.0, 6.0, 12.0, 24.0, 48.0, 96.0])
    monkeypatch.setattr(sequential, "_cpu_s", lambda: next(clock))
    # After 24 s the next look is predicted to take 24 s more.
    assert len(Grid(from_seeds=10_000).look("47s")) == 3


@pytest.mark.parametrize(
    ("because", "looks"), [("no_ratio", 1), ("edge", 1), ("monotone", 6), ("claims", 6), ("steady_state", 2)]
)
def test_what_no_number_of_seeds_decides_ends_the_looks(because: str, looks: int) -> None:
    assert len(Grid(from_seeds=10_000, because=because).look("9e9hops")) == looks


def test_runs_without_a_steady_state_end_with_what_to_change() -> None:
    looks = Grid(from_seeds=10_000, because="steady_state").look("9e9hops")
    assert looks[0] == "look 1 of 6, 3 seeds: 1 of 2 claims undecided"
    assert looks[-1].endswith("more seeds do not help: measure longer (`time.measure`) or offer less load")


def test_listed_seeds_stay_and_the_next_ones_follow() -> None:
    grid = Grid(from_seeds=3, first=(9, 7))
    grid.look("100runs")
    assert [options.seeds for options in grid.asked] == [None, (9, 7, 10, 11)]


@pytest.mark.parametrize("text", ["", "10", "0runs", "-1s", "10 minutes", "1e400hops2", "runs"])
def test_a_budget_is_a_number_with_its_unit(text: str) -> None:
    with pytest.raises(ValueError, match="write 200runs"):
        Budget.read(text)
    assert Budget.read("1.5h") == Budget(5400.0, "s")
    assert Budget.read("1.2e+09hops") == Budget(1.2e9, "hops")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--until", "decided"], "takes a --budget"),
        (["--budget", "10min"], "goes with --until decided"),
        (["--until", "decided", "--budget", "9runs", "--looks", "2"], "leave --looks out"),
        (["--until", "decided", "--budget", "9s", "--on", "dask-local:1"], "give runs or hops"),
    ],
)
def test_options_that_do_not_go_together_are_one_line(
    core: FakeCore, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], says: str
) -> None:
    experiment = tmp_path / "x.toml"
    experiment.write_text("")
    assert main(["run", str(experiment), "-o", str(tmp_path / "out"), *words]) == 2
    assert says in capsys.readouterr().err
    assert core.ran == []


def test_the_command_tells_each_look_and_judges_for_all(
    core: FakeCore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    experiment = tmp_path / "x.toml"
    experiment.write_text("")
    words = ["--until", "decided", "--budget", "16runs", "--jobs", "1"]
    assert main(["run", str(experiment), "-o", str(tmp_path / "out"), *words]) == 0
    assert "look 1 of 6, 2 seeds: 2 of 5 claims undecided; the next look would go beyond" in capsys.readouterr().out
    request: dict[str, Any] = core.options[0]
    assert request["looks"] == 6
    note = json.loads((tmp_path / "out" / "grid.json").read_text(encoding="utf-8"))
    assert note["options"]["looks"] == 6
    again: Callable[[], list[str]] = Options.from_json(json.dumps(note["options"])).arguments
    assert again() == ["--looks", "6"]
