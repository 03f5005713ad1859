"""Successive halving on growing prefixes of the list: many candidates on its beginning, fewer on more.

All candidates of a round see the same flows (common random numbers), and each is compared with the leader on the same
windows. After each round a candidate ends

    excluded   where the interval of the difference of its score to the leader's lies above 0: Student's t over windows,
               corrected by Holm's method for the candidates and by Bonferroni's for the rounds
    same       where it has the values and packet-hops of an earlier candidate: two settings that do the same
    stuck      where flows did not finish
    budget     where the next round would go beyond the budget, the worst first; at least `KEPT` stay

Candidates that are composed of the race's enter one more round (`enter`). A candidate that ended by the budget was not
shown to be worse, and the answer says so. Cost is counted in packet-hops, so that the course of a race depends on the
budget and not on the machine.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from priolane import _core
from priolane.advice.goals import Goal
from priolane.advice.outcomes import Values, scores
from priolane.advice.trials import Trials, hops, timed_out_parts, values
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

    `left` are those that were not ended, the best first. `scores`, `values` and `timed_out` (the parts of the slowest
    flows that had a timeout, by class) are those of each candidate in its last round. `each` is what a candidate took
    for a window, in packet-hops.
    """

    left: tuple[str, ...] = ()
    ended: Mapping[str, CandidateEnd] = field(default_factory=dict)
    scores: Mapping[str, float] = field(default_factory=dict)
    values: Mapping[str, Values] = field(default_factory=dict)
    rounds: tuple[Round, ...] = ()
    hops: int = 0
    each: Mapping[str, float] = field(default_factory=dict)
    timed_out: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def order(self) -> tuple[str, ...]:
        """All candidates, those that are left first and each part from the best; those without a value are left out."""
        others = sorted(self.ended, key=lambda name: self.scores[name])
        stuck = {name for name, how in self.ended.items() if how.why is Why.STUCK}
        return (*self.left, *(name for name in others if name not in stuck))


@dataclass(frozen=True)
class Limits:
    """The end of a race: a budget of packet-hops, or no more candidates left than are `enough`."""

    budget: float
    enough: int = 1


# A round on fewer times as many windows as the one before says little more.
_GROWTH = 1.5


def stages(windows: int) -> tuple[int, ...]:
    """The windows of each round: `FEWEST`, twice as many, and so on, and all in place of a last round that has nearly
    as many."""
    counts = [FEWEST]
    while counts[-1] * 2 <= windows:
        counts.append(counts[-1] * 2)
    return (*(count for count in counts if count * _GROWTH <= windows), windows)


def race(
    names: Sequence[str],
    rounds: Sequence[int],
    goals: Sequence[Goal],
    evaluate: Evaluate,
    limits: Limits,
    tell: Callable[[Round], None],
) -> Race:
    """Races `names` on the number of windows that each round has.

    The first round is carried out whatever it takes.
    """
    budget = limits.budget
    alive = list(names)
    ended: dict[str, CandidateEnd] = {}
    done: list[Round] = []
    means: dict[str, float] = {}
    read: dict[str, Values] = {}
    each: dict[str, float] = {}
    timed_out: dict[str, Mapping[str, float]] = {}
    spent = 0
    for nth, count in enumerate(rounds):
        trials = evaluate(alive, count)
        ran = tuple(alive)
        own = values(trials)
        read |= own
        each |= _each(trials, count)
        timed_out |= {name: timed_out_parts(of) for name, of in trials.items()}
        spent += hops(trials)
        of = scores(goals, own)
        means |= {name: score.all for name, score in of.items()}
        ended |= _judge(of, own, {name: hops({name: by}) for name, by in trials.items()}, count, len(rounds))
        alive = sorted((name for name in alive if name not in ended), key=lambda name: means[name])
        if nth + 1 < len(rounds):
            beyond = _beyond(alive, each, budget - spent, rounds[nth + 1] + 1)
            ended |= {name: CandidateEnd(Why.BUDGET, count, alive[0]) for name in beyond}
            alive = [name for name in alive if name not in beyond]
        done.append(Round(count, ran, tuple(alive), spent))
        tell(done[-1])
        if len(alive) <= limits.enough or nth + 1 == len(rounds):
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
        each=each,
        timed_out=timed_out,
    )


def enter(raced: Race, goals: Sequence[Goal], trials: Mapping[str, Trials]) -> Race:
    """The race with one more round on the windows of its last one, in which the candidates of `trials` ran as well.

    Those that are left did not run again: their values are known.
    """
    last = raced.rounds[-1]
    before = [name for name in raced.left if name in last.ran]
    own = {**{name: raced.values[name] for name in before}, **values(trials)}
    of = scores(goals, own)
    means = {name: score.all for name, score in of.items()}
    taken = {name: round(raced.each[name] * (last.windows + 1)) for name in before}
    taken |= {name: hops({name: by}) for name, by in trials.items()}
    ended = {**raced.ended, **_judge(of, own, taken, last.windows, len(raced.rounds) + 1)}
    left = sorted((name for name in own if name not in ended), key=lambda name: means[name])
    spent = raced.hops + hops(trials)
    return Race(
        left=tuple(left),
        ended=ended,
        scores={**raced.scores, **means},
        values={**raced.values, **own},
        rounds=(*raced.rounds, Round(last.windows, tuple(own), tuple(left), spent)),
        hops=spent,
        each={**raced.each, **_each(trials, last.windows)},
        timed_out={**raced.timed_out, **{name: timed_out_parts(of) for name, of in trials.items()}},
    )


def _each(trials: Mapping[str, Trials], count: int) -> dict[str, float]:
    """The packet-hops that each candidate took for a window: the first window is simulated and not read."""
    return {name: hops({name: of}) / (count + 1) for name, of in trials.items()}


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
    differences = {name: of[name].minus(of[leader]).difference() for name in rivals}
    corrected = _core.holm([differences[name][3] for name in rivals])
    for name, p in zip(rivals, corrected, strict=True):
        if differences[name][0] > 0 and p <= _LEVEL / looks:
            ended[name] = CandidateEnd(Why.EXCLUDED, count, leader)
    return ended


def _are_equal(value: Values, other: Values) -> bool:
    """Whether two candidates have the same values in all windows."""
    pairs = [(value, other[name]) for name, value in value.items()]
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
