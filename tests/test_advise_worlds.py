"""Whether advice is right: worlds of which brute force on fresh lists says what is right (`make soak`)."""

import json
import math
import tomllib
from pathlib import Path
from typing import Any

import pytest

import priolane
from advise_worlds import WORLDS, World
from priolane.advice.answer import Kind
from priolane.advice.goals import Goal, read_goals
from priolane.execution.grid import run_grid
from priolane.execution.settings import Settings
from priolane.model.experiment import Options
from priolane.model.toml import toml_text

pytestmark = pytest.mark.soak

SEEDS = (1, 2, 3)
FRESH = (101, 102, 103, 104, 105)
BUDGET = "3e8hops"
# Of all printed intervals, and of advised rows on fresh lists.
LEAST_COVERED, LEAST_KEPT = 0.9, 0.95


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int], priolane.Advice]:
    """The answers of all worlds and seeds."""
    root = tmp_path_factory.mktemp("worlds")
    return {(world.name, seed): _advise(world, root / world.name, seed) for world in WORLDS for seed in SEEDS}


def _advise(world: World, folder: Path, seed: int) -> priolane.Advice:
    flows, fabric = world.write(folder, seed)
    return priolane.advise(
        flows,
        fabric,
        goals=world.goals,
        sampling=world.sampling,
        out=folder / f"out{seed}",
        budget=BUDGET,
        jobs=2,
    )


def test_the_kind_of_every_answer_is_right(answers: dict[tuple[str, int], priolane.Advice]) -> None:
    wrong = {key: result.headline for key, result in answers.items() if result.kind is not _world(key[0]).kind}
    assert not wrong


def test_intervals_and_promises_hold_on_lists_that_the_answer_never_saw(
    answers: dict[tuple[str, int], priolane.Advice], tmp_path: Path
) -> None:
    covered: list[bool] = []
    kept: list[bool] = []
    for world in WORLDS:
        of = [result for (name, _), result in answers.items() if name == world.name and result.judging is not None]
        if not of:
            continue
        truth = _brute_force(world, of, tmp_path / world.name)
        goals, _ = read_goals(world.goals)
        for advice in of:
            assert advice.judging is not None
            for entry in advice.judging.ranking:
                own = truth[_key(entry.candidate.rows)]
                for name, estimate in entry.estimates.items():
                    if estimate.low is not None and estimate.high is not None:
                        covered.append(estimate.low <= _mean([values[name] for values in own]) <= estimate.high)
            if advice.kind in (Kind.CHANGE, Kind.NOTHING) and not any(goal.is_relative for goal in goals):
                own = truth[_key(advice.judging.chosen.candidate.rows)]
                kept += [all(_meets(goal, values[goal.name]) for goal in goals) for values in own]
    assert len(covered) >= 100
    assert sum(covered) >= LEAST_COVERED * len(covered)
    assert sum(kept) >= LEAST_KEPT * len(kept)


def test_an_answer_takes_a_fifth_of_the_grid_at_most(answers: dict[tuple[str, int], priolane.Advice]) -> None:
    costs = {
        key: result.judging.spent.total / result.judging.spent.grid
        for key, result in answers.items()
        if result.judging is not None
    }
    assert {key: cost for key, cost in costs.items() if cost > 0.2} == {}


def _world(name: str) -> World:
    return next(world for world in WORLDS if world.name == name)


def _key(rows: Any) -> str:
    return json.dumps(rows, sort_keys=True)


def _brute_force(world: World, answers: list[priolane.Advice], folder: Path) -> dict[str, list[dict[str, float]]]:
    """The values of all judged rows on fresh lists, each run whole: those of the summaries that the simulator makes."""
    read = tomllib.loads(answers[0].experiment.read_text(encoding="utf-8"))
    rows = {
        _key(entry.candidate.rows): dict(entry.candidate.rows)
        for advice in answers
        if advice.judging is not None
        for entry in advice.judging.ranking
    }
    names = {key: f"row{nth}" for nth, key in enumerate(rows)}
    for seed in FRESH:
        world.write(folder, seed)
    read |= {
        "title": "Brute force",
        "schemes": [*names.values(), "newreno", "dctcp"],
        "seeds": list(FRESH),
        "time": {"measure": "100s", "limit": "200s"},
        "group": [{"name": "all", "hosts": "*", "app": "flows", "list": "flows_{seed}.csv"}],
        "scheme": {names[key]: of for key, of in rows.items()},
        "panel": [],
        "claim": [],
    }
    text = "\n".join(f"{key} = {toml_text(value)}" for key, value in read.items())
    (folder / "brute.toml").write_text(text, encoding="utf-8")
    results = run_grid(folder / "brute.toml", folder / "runs", Options(schemes=tuple(names.values())), Settings(jobs=2))
    metrics = [goal for advice in answers for goal in (*advice.goals, *advice.shown)]
    by_name: dict[str, list[dict[str, float]]] = {key: [] for key in rows}
    for run in results.runs:
        summary = results.records[run.id]["summary"]
        key = next(key for key, name in names.items() if name == run.scheme)
        by_name[key].append(
            {goal.name: summary[goal.size_class][goal.quantity.key] * goal.quantity.factor for goal in metrics}
        )
    return by_name


def _mean(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def _meets(goal: Goal, value: float) -> bool:
    return value >= goal.bound if goal.quantity.is_large_good else value <= goal.bound
