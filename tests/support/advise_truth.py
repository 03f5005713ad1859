"""The truth about a world: every candidate on whole lists that no answer saw, and what becomes of answers by it.

Values are those of the summaries that the simulator makes of a run, not those that `advise` reads. The truth of a row
is the mean over `FRESH` lists. Of a world whose answer takes no run, today's scheme and the bound without a deployment,
`srpt_ranked`, stand for all candidates.
"""

import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import priolane
from advise_worlds import World
from priolane.advice.answer import Kind
from priolane.advice.candidate import Candidate
from priolane.advice.flow_list import FlowList, read_flows
from priolane.advice.goals import Goal
from priolane.advice.spending import Stage
from priolane.execution.grid import run_grid
from priolane.execution.settings import Settings
from priolane.model.experiment import Options
from priolane.model.toml import toml_text

SEEDS = (1, 2, 3)
FRESH = (101, 102, 103, 104, 105)
BUDGET = "3e8hops"
_JOBS = 2

Values = Mapping[str, float]
"""The values of one run by metric; not a number where it has none."""


@dataclass(frozen=True)
class Row:
    """A candidate, the cost of its change, and its values on each fresh list."""

    candidate: Candidate
    cost: tuple[int, int, int]
    lists: Sequence[Values]

    def mean(self, goal: Goal) -> float:
        """The mean over lists: the geometric one, but of parts."""
        values = [of[goal.name] for of in self.lists]
        if goal.quantity.is_part or not all(value > 0 for value in values):
            return sum(values) / len(values)
        return math.exp(sum(map(math.log, values)) / len(values))


Truth = Mapping[str, Row]
"""Rows by `key`; `TODAY` has what runs today."""
TODAY = "today"


def record(world: World, folder: Path) -> dict[str, Any]:
    """Asks about three lists of a world, runs all candidates on fresh ones, and compares."""
    asked = [_ask(world, folder, seed) for seed in SEEDS]
    answers = [advice for advice, _ in asked]
    truth = _brute_force(world, answers, folder)
    goals = answers[0].goals
    kind, cheapest = derived(truth, goals)
    return {
        "world": world.name,
        "stated": world.kind.value,
        "goals": list(world.goals),
        "candidates": max((len(of.judging.candidates) for of in answers if of.judging is not None), default=0),
        "truth": {
            "kind": kind.value,
            "cheapest": None if cheapest is None else cheapest.candidate.name,
            "cost": None if cheapest is None else list(cheapest.cost),
            "rows": [_row_record(row, truth, goals) for row in truth.values()],
        },
        "answers": [
            _answer_record(seed, advice, wall, truth) for seed, (advice, wall) in zip(SEEDS, asked, strict=True)
        ],
    }


def _ask(world: World, folder: Path, seed: int) -> tuple[priolane.Advice, float]:
    flows, fabric = world.write(folder, seed)
    began = time.perf_counter()
    advice = priolane.advise(
        flows,
        fabric,
        goals=world.goals,
        sampling=world.sampling,
        changed=world.changed,
        out=folder / f"out{seed}",
        budget=BUDGET,
        jobs=_JOBS,
    )
    return advice, time.perf_counter() - began


def _key(candidate: Candidate) -> str:
    return TODAY if candidate.name == TODAY else json.dumps(candidate.rows, sort_keys=True)


def _candidates(answers: Sequence[priolane.Advice]) -> dict[str, Candidate]:
    """All candidates of the first answer that has some, and those that the others print."""
    made = [answers[0].today.candidate]
    judged = [advice.judging for advice in answers if advice.judging is not None]
    for nth, judging in enumerate(judged):
        made += judging.candidates if nth == 0 else [entry.candidate for entry in judging.ranking]
    if not judged:
        made.append(Candidate("srpt_ranked", "reference", "a bound", {"base": "srpt_ranked"}, 0))
    return {_key(candidate): candidate for candidate in made}


def _brute_force(world: World, answers: Sequence[priolane.Advice], folder: Path) -> dict[str, Row]:
    """The values of all candidates on fresh lists, each run whole."""
    candidates = _candidates(answers)
    lists = [_fresh(world, folder, seed) for seed in FRESH]
    names = {key: f"row{nth}" for nth, key in enumerate(candidates)}
    path = folder / "brute.toml"
    path.write_text(_experiment(answers[0], lists[0], {names[key]: of for key, of in candidates.items()}), "utf-8")
    results = run_grid(path, folder / "brute", Options(schemes=tuple(names.values())), Settings(jobs=_JOBS))
    metrics = {goal.name: goal for goal in (*answers[0].goals, *answers[0].shown)}
    measured: dict[str, dict[int, Values]] = {name: {} for name in names.values()}
    for run in results.runs:
        made = results.records[run.id]
        measured[run.scheme][run.seed] = {name: _value(made, goal) for name, goal in metrics.items()}
    today = answers[0].today
    return {
        key: Row(candidate, today.cost(candidate), [measured[names[key]][seed] for seed in FRESH])
        for key, candidate in candidates.items()
    }


def _fresh(world: World, folder: Path, seed: int) -> FlowList:
    path, _ = world.write(folder, seed)
    flows = read_flows(path)
    flows.write(folder / f"fresh_{seed}")
    return flows


def _value(made: Mapping[str, Any], goal: Goal) -> float:
    summary = made["coflows" if goal.quantity.is_of_coflows else "summary"]
    value = summary[goal.size_class][goal.quantity.key]
    return math.nan if value is None else float(value) * goal.quantity.factor


def _experiment(advice: priolane.Advice, flows: FlowList, candidates: Mapping[str, Candidate]) -> str:
    """The experiment of all candidates on whole fresh lists."""
    fabric = advice.fabric
    tables: dict[str, Any] = {**fabric.experiment}
    if fabric.ecn is not None:
        tables["switch"] = {**tables["switch"], "ecn": fabric.ecn}
    keys = {
        "title": "Brute force",
        # What switches and hosts state applies to one of them.
        "schemes": [*candidates, "newreno", "dctcp"],
        "seeds": list(FRESH),
        "time": {"measure": "100s", "limit": "200s"},
        **tables,
        "group": flows.entries("fresh_{seed}"),
        "metrics": {"classes": {name: {"group": list(flows.groups), **of} for name, of in fabric.classes.items()}},
        "scheme": {name: dict(candidate.rows) for name, candidate in candidates.items()},
    }
    return "\n".join(f"{key} = {toml_text(value)}" for key, value in keys.items())


def _bound(truth: Truth, goal: Goal, nth: int | None) -> float:
    """The bound of a goal on one of the lists, or by means over all: of the best candidate, or of today's scheme."""

    def value(row: Row) -> float:
        return row.mean(goal) if nth is None else row.lists[nth][goal.name]

    if goal.against is None:
        return goal.bound
    if goal.against == TODAY:
        return goal.bound * value(truth[TODAY])
    known = [of for row in truth.values() if not math.isnan(of := value(row))]
    return goal.bound * (max if goal.quantity.is_large_good else min)(known)


def _meets(truth: Truth, row: Row, goals: Sequence[Goal], nth: int | None = None) -> bool:
    """Whether a row meets all goals on one of the lists, or by its mean over all."""
    for goal in goals:
        value = row.mean(goal) if nth is None else row.lists[nth][goal.name]
        bound = _bound(truth, goal, nth)
        if not (value >= bound if goal.quantity.is_large_good else value <= bound):
            return False
    return True


def derived(truth: Truth, goals: Sequence[Goal]) -> tuple[Kind, Row | None]:
    """The right kind of answer by means over fresh lists, and the cheapest row that meets all goals."""
    if _meets(truth, truth[TODAY], goals):
        return Kind.NOTHING, truth[TODAY]
    meeting = [row for row in truth.values() if _meets(truth, row, goals)]
    return (Kind.CHANGE, min(meeting, key=lambda row: row.cost)) if meeting else (Kind.NONE, None)


def _row_record(row: Row, truth: Truth, goals: Sequence[Goal]) -> dict[str, Any]:
    return {
        "name": row.candidate.name,
        "family": row.candidate.family,
        "cost": list(row.cost),
        "lists_met": sum(_meets(truth, row, goals, nth) for nth in range(len(FRESH))),
        "values": {goal.name: [_short(of[goal.name]) for of in row.lists] for goal in goals},
    }


def _answer_record(seed: int, advice: priolane.Advice, wall_s: float, truth: Truth) -> dict[str, Any]:
    own: dict[str, Any] = {"seed": seed, "kind": advice.kind.value, "wall_s": round(wall_s, 1)}
    judging = advice.judging
    if judging is None:
        return own
    spent = judging.spent
    # What the request asks for beyond a fifth of the grid: a rollout, and the room of a stated budget.
    beyond = spent.by_stage[Stage.ROLLOUT] + spent.by_stage[Stage.DECIDING]
    metrics = {goal.name: goal for goal in (*advice.goals, *advice.shown)}
    own |= {
        "hops": spent.total - beyond,
        "rollout": [step.refused is None for step in judging.rollout],
        "grid": round(spent.grid),
        "stages": {stage.value: hops for stage, hops in spent.by_stage.items()},
        "intervals": [
            [
                entry.candidate.name,
                name,
                *map(_short, (of.low, of.high, truth[_key(entry.candidate)].mean(metrics[name]))),
            ]
            for entry in judging.ranking
            for name, of in entry.estimates.items()
            if of.low is not None and of.high is not None
        ],
    }
    if advice.advised is not None:
        row = truth[_key(advice.advised)]
        own |= {
            "advised": advice.advised.name,
            "family": advice.advised.family,
            "cost": list(row.cost),
            "kept": [_meets(truth, row, advice.goals, nth) for nth in range(len(FRESH))],
        }
    return own


def _short(value: float) -> float | None:
    return None if math.isnan(value) else float(f"{value:.5g}")
