"""Thresholds of the leader, moved as long as that helps on the windows of the race (`priolane.execution.tune`)."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from priolane.advice.candidate import Candidate
from priolane.advice.goals import Goal
from priolane.advice.outcomes import Values, scores
from priolane.advice.trials import Trials, hops, values_of
from priolane.execution.tune import descend

_LEAST_TRIES = 3
_MOST_TRIES = 24
# Of a scheme in an experiment file, in characters.
_LONGEST_NAME = 60
_TRIED = "tried"

Run = Callable[[Candidate], Trials]
"""Runs a candidate."""


@dataclass(frozen=True)
class TuningResult:
    """The result of tuning: the best candidate, which is the first one if nothing was better, the number of thresholds
    that were tried, and packet-hops."""

    best: Candidate
    tries: int
    hops: int


def tune(leader: Candidate, rivals: Mapping[str, Values], goals: Sequence[Goal], run: Run, tries: int) -> TuningResult:
    """Moves the thresholds of `leader` at most so many times.

    `rivals` have the values of the leader and of others, to which relative goals refer, on the same windows as `run`.
    """
    most = min(_MOST_TRIES, tries)
    if not leader.thresholds or most < _LEAST_TRIES:
        return TuningResult(leader, 0, 0)
    spent = 0

    def cost(thresholds: tuple[int, ...]) -> float:
        nonlocal spent
        if thresholds == leader.thresholds:
            own = rivals[leader.name]
        else:
            ran = run(moved(leader, thresholds))
            spent += hops({_TRIED: ran})
            own = values_of(ran)
        return scores(goals, {**rivals, _TRIED: own})[_TRIED].all

    # The start costs nothing: the race has run it.
    tried = descend(leader.thresholds, cost, most=most + 1)
    best = min(tried, key=lambda attempt: attempt.cost)
    tuned = leader if best.thresholds == leader.thresholds else moved(leader, best.thresholds)
    return TuningResult(tuned, len(tried) - 1, spent)


def moved(leader: Candidate, bounds: Sequence[int]) -> Candidate:
    """The candidate with other thresholds, under a name that tells them, or their first if that is too long."""
    thresholds = "_".join(map(str, bounds))
    name = f"{leader.name}_at_{thresholds}"
    if len(name) > _LONGEST_NAME:
        digest = hashlib.sha256(thresholds.encode()).hexdigest()[:8]
        name = f"{leader.name}_at_{bounds[0]}_{digest}"
    return leader.with_thresholds(bounds, name)
