"""Successive halving on growing prefixes of the list: many candidates on its beginning, fewer on more.

All candidates of a round see the same flows (common random numbers), and each is compared with the leader on the same
windows. After each round a candidate ends

    excluded   where the interval of the difference of its score to the leader's lies above 0: Student's t over windows,
               corrected by Holm's method for the candidates and by Bonferroni's for the rounds
    same       where it has the values and packet-hops of an earlier candidate: two settings that do the same
    stuck      where flows did not finish
    budget     where the next round would go beyond the budget, the worst first; at least `KEPT` stay

A candidate that ended by the budget was not shown to be worse, and the answer says so. Cost is counted in packet-hops,
so that the course of a race depends on the budget and not on the machine.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from priolane import _core
from priolane.advice.goals import Goal
from priolane.advice.outcomes import Values, scores
from priolane.advice.trials import Trials, hops, values
from priolane.advice.windows import FEWEST, Jackknife

KEPT = 2
_LEVEL = 0.05

Evaluate = Callable[[Sequence[str], int], Mapping[str, Trials]]
"""Runs candidates on the first windows, whose number is given."""


class Why(StrEnum):
    """The reason why a candidate was eliminated."""

    EXCLUDED = "excluded"
    SAME = "same"
    STUCK = "stuck"
    BUDGET = "budget"


@dataclass(frozen=True)
class CandidateEnd:
    """The end of a candidate: the windows that were read, and the other candidate."""

    why: Why
    windows: int
    against: str


@dataclass(frozen=True)
class Round:
    """A round: its windows, who ran, who was left, and the packet-hops of all rounds so far."""

    windows: int
    ran: tuple[str, ...]
    left: tuple[str, ...]
    hops: int


@dataclass(frozen=True)
class Race:
    """The outcome; empty where there was no race.

    `left` are those that were not ended, the best first. `scores` and `values` are those of each candidate in its last
    round. `full_hops` is what a run of each on the windows of the last round would have taken, from what each took.
    """

    left: tuple[str, ...] = ()
    ended: Mapping[str, CandidateEnd] = field(default_factory=dict)
    scores: Mapping[str, float] = field(default_factory=dict)
    values: Mapping[str, Values] = field(default_factory=dict)
    rounds: tuple[Round, ...] = ()
    hops: int = 0
    full_hops: int = 0


def stages(windows: int) -> tuple[int, ...]:
    """The windows of each round: `FEWEST`, twice as many, and so on, and all."""
    found = [FEWEST]
    while found[-1] * 2 <= windows:
        found.append(found[-1] * 2)
    return (*(count for count in found if count < windows), windows)


def race(
    names: Sequence[str],
    rounds: Sequence[int],
    goals: Sequence[Goal],
    evaluate: Evaluate,
    budget: float,
    tell: Callable[[Round], None],
) -> Race:
    """Races `names` on the number of windows that each round has, within a budget of packet-hops.

    The first round is carried out whatever it takes.
    """
    alive = list(names)
    ended: dict[str, CandidateEnd] = {}
    done: list[Round] = []
    means: dict[str, float] = {}
    read: dict[str, Values] = {}
    each: dict[str, float] = {}
    spent = 0
    for nth, count in enumerate(rounds):
        found = evaluate(alive, count)
        ran = tuple(alive)
        own = values(found)
        read |= own
        # The first window is simulated and not read.
        each |= {name: hops({name: of}) / (count + 1) for name, of in found.items()}
        spent += hops(found)
        of = scores(goals, own)
        means |= {name: one.all for name, one in of.items()}
        ended |= _judge(of, own, {name: hops({name: by}) for name, by in found.items()}, count, len(rounds))
        alive = sorted((name for name in alive if name not in ended), key=lambda name: means[name])
        if nth + 1 < len(rounds):
            beyond = _beyond(alive, each, budget - spent, rounds[nth + 1] + 1)
            ended |= {name: CandidateEnd(Why.BUDGET, count, alive[0]) for name in beyond}
            alive = [name for name in alive if name not in beyond]
        done.append(Round(count, ran, tuple(alive), spent))
        tell(done[-1])
        if len(alive) <= 1 or nth + 1 == len(rounds):
            break
        if spent + sum(each[name] for name in alive) * (rounds[nth + 1] + 1) > budget:
            break
    return Race(
        left=tuple(alive),
        ended=ended,
        scores=means,
        values=read,
        rounds=tuple(done),
        hops=spent,
        full_hops=round(sum(each.values()) * (rounds[-1] + 1)),
    )


def _judge(
    of: Mapping[str, Jackknife], own: Mapping[str, Values], taken: Mapping[str, int], count: int, looks: int
) -> dict[str, CandidateEnd]:
    """The candidates that a round eliminates, by their scores or because their runs are those of another: equal scores
    alone are not enough, as a part may be 0 for many."""
    ended: dict[str, CandidateEnd] = {}
    leader = min(of, key=lambda name: of[name].all)
    for name, score in of.items():
        if not score.is_finite and name != leader:
            ended[name] = CandidateEnd(Why.STUCK, count, leader)
    left = [name for name in of if name not in ended]
    for nth, name in enumerate(left):
        same = (
            other
            for other in left[:nth]
            if other not in ended and taken[other] == taken[name] and _are_equal(own[other], own[name])
        )
        twin = next(same, None)
        if twin is not None:
            ended[name] = CandidateEnd(Why.SAME, count, twin)
    left = [name for name in left if name not in ended]
    leader = min(left, key=lambda name: of[name].all)
    rivals = [name for name in left if name != leader]
    if not of[leader].is_finite:
        return ended
    found = {name: of[name].minus(of[leader]).difference() for name in rivals}
    corrected = _core.holm([found[name][3] for name in rivals])
    for name, p in zip(rivals, corrected, strict=True):
        if found[name][0] > 0 and p <= _LEVEL / looks:
            ended[name] = CandidateEnd(Why.EXCLUDED, count, leader)
    return ended


def _are_equal(one: Values, other: Values) -> bool:
    """Whether two candidates have the same values in all windows."""
    pairs = [(value, other[name]) for name, value in one.items()]
    return all(
        a is b if a is None or b is None else np.array_equal(a.values, b.values, equal_nan=True) for a, b in pairs
    )


def _beyond(order: Sequence[str], each: Mapping[str, float], left: float, windows: int) -> list[str]:
    """The worst candidates, as many as the budget has no room for in the next round; `order` is from the best."""
    kept = list(order)
    dropped: list[str] = []
    while len(kept) > KEPT and sum(each[name] for name in kept) * windows > left:
        dropped.append(kept.pop())
    return dropped
