"""Demotion thresholds from flow sizes and a load, by every solver, and what they cost."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from priolane import _core
from priolane._core import InputError

Solver = Literal["all", "es", "opt", "opt2", "nos2", "closed_form", "basin_hopping", "published"]
Interpolation = Literal["linear", "step"]


@dataclass(frozen=True)
class Ladder:
    """The thresholds of a solver.

    `thresholds` are bytes sent, in ascending order, one fewer than `levels`. `place` is "switch" or "host" for a solver
    that gives both, else `None`. `costs` are by name of the cost, `None` where it is infinite or does not apply;
    `relative` are the same over the least cost of all ladders. docs/thresholds.md has the definitions.
    """

    solver: str
    place: str | None
    levels: int
    thresholds: tuple[int, ...]
    costs: Mapping[str, float | None]
    relative: Mapping[str, float | None]


@dataclass(frozen=True)
class Thresholds:
    """The answer of `thresholds`: `reasons` says, by solver, why it has no ladder; `traffic` describes the sizes."""

    levels: int
    load: float
    traffic: Mapping[str, Any]
    ladders: tuple[Ladder, ...]
    reasons: Mapping[str, str]

    def of(self, solver: str, place: str | None = None) -> Ladder:
        """The ladder of a solver, at one place where it has two; raises `InputError` if it has none."""
        for ladder in self.ladders:
            if ladder.solver == solver and (place is None or ladder.place == place):
                return ladder
        known = dict.fromkeys(ladder.solver for ladder in self.ladders)
        reason = self.reasons.get(solver, f"there are thresholds of {', '.join(known)}")
        raise InputError(f"{solver}: no thresholds{'' if place is None else f' at {place!r}'}: {reason}")


def thresholds(
    *,
    levels: int,
    load: float,
    sizes: str | Path | None = None,
    flows: str | Path | None = None,
    solver: Solver = "all",
    interpolation: Interpolation | None = None,
) -> Thresholds:
    """Thresholds of `levels` levels (2 to 16) for sizes at a `load` above 0 and below 1.

    Sizes are those of `sizes`, a shipped table ("web_search") or a CSV with the columns bytes and cdf, or those of
    `flows`, a flow list with the columns start_ns, src, dst and bytes. `interpolation` is how a table continues between
    its rows ("linear" if it is not given).

    Raises `InputError` if an argument is not legal, a file cannot be read, or the one solver that is asked for does not
    apply.
    """
    stated = {
        "flows": None if flows is None else str(flows),
        "sizes": None if sizes is None else str(sizes),
        "interpolation": interpolation,
        "levels": levels,
        "load": load,
        "solver": solver,
    }
    return _read(json.loads(solve({key: value for key, value in stated.items() if value is not None})))


def solve(request: Mapping[str, Any]) -> str:
    """The answer of the compiled module, as JSON; raises `InputError` as `thresholds` does."""
    try:
        return _core.thresholds(json.dumps(request))
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"thresholds: {error}") from error


def _read(answer: Mapping[str, Any]) -> Thresholds:
    ladders = [
        Ladder(
            solver=solver_answer["solver"],
            place=ladder.get("place"),
            levels=ladder["levels"],
            thresholds=tuple(ladder["thresholds"]),
            costs=ladder["costs"],
            relative=ladder["relative"],
        )
        for solver_answer in answer["solvers"]
        for ladder in solver_answer["ladders"]
    ]
    return Thresholds(
        levels=answer["levels"],
        load=answer["load"],
        traffic=answer["traffic"],
        ladders=tuple(ladders),
        reasons={
            solver_answer["solver"]: solver_answer["reason"]
            for solver_answer in answer["solvers"]
            if solver_answer.get("reason")
        },
    )
