"""Successive halving: many candidates on few blocks, fewer on more, until the blocks or the budget end.

All candidates of a round see the same blocks (common random numbers), and each is compared with the leader block by
block. After each round, with 4, 8, 16, ... blocks, a candidate ends

    excluded   where the interval of its paired differences to the leader's scores lies above 0: Student's t, corrected
               by Holm's method for the candidates and by Bonferroni's for the rounds
    same       where it has the scores of an earlier candidate on every block: two settings that do the same
    stuck      where flows did not finish
    budget     where the next round would go beyond the budget, the worst first; at least `KEPT` stay

A candidate that ended by the budget was not shown to be worse, and the answer says so. Cost is counted in packet-hops,
so that the course of a race depends on the budget and not on the machine.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from priolane import _core
from priolane.advice.goals import Goal, scores
from priolane.advice.trials import Trial, values

FIRST = 4
"""Blocks of the first round."""
KEPT = 2
_LEVEL = 0.05

Evaluate = Callable[[Sequence[str], Sequence[int]], Mapping[str, Mapping[int, Trial]]]
"""Runs candidates on blocks; what was run before is among what it returns."""


class Why(StrEnum):
    """The reason why a candidate was eliminated."""

    EXCLUDED = "excluded"
    SAME = "same"
    STUCK = "stuck"
    BUDGET = "budget"


@dataclass(frozen=True)
class CandidateEnd:
    """The end of a candidate: the number of blocks, the other candidate, and the paired difference of scores with its
    interval, where there is one."""

    why: Why
    blocks: int
    against: str
    difference: tuple[float, float, float] | None = None


@dataclass(frozen=True)
class Round:
    """A round: its blocks, who ran, who was left, and the packet-hops of all rounds so far."""

    blocks: int
    ran: tuple[str, ...]
    left: tuple[str, ...]
    hops: int


@dataclass(frozen=True)
class Race:
    """The outcome. `left` are those that were not ended, the best first. `means` are the mean scores of each in its
    last round. `full_hops` is what all candidates on all blocks would have taken, from what each took."""

    left: tuple[str, ...]
    ended: Mapping[str, CandidateEnd]
    means: Mapping[str, float]
    rounds: tuple[Round, ...]
    trials: Mapping[str, Mapping[int, Trial]]
    hops: int
    full_hops: int


def race(
    names: Sequence[str],
    blocks: Sequence[int],
    goals: Sequence[Goal],
    evaluate: Evaluate,
    budget: float,
    tell: Callable[[Round], None],
) -> Race:
    """Races `names` on `blocks`, in their order, within a budget of packet-hops. The first round is carried out
    whatever it takes."""
    alive = list(names)
    ended: dict[str, CandidateEnd] = {}
    rounds: list[Round] = []
    stages = _stages(len(blocks))
    found: dict[str, dict[int, Trial]] = {}
    means: dict[str, float] = {}
    for nth, count in enumerate(stages):
        for name, own in evaluate(alive, blocks[:count]).items():
            found.setdefault(name, {}).update(own)
        ran = tuple(alive)
        ran_here = {name: _first(found[name], blocks[:count]) for name in alive}
        of = scores(goals, values(ran_here))
        means |= {name: _mean(of[name]) for name in alive}
        ended |= _judge(of, ran_here, count, len(stages))
        alive = [name for name in alive if name not in ended]
        spent = sum(one.hops for by_block in found.values() for one in by_block.values())
        if nth + 1 < len(stages):
            beyond = _beyond(sorted(alive, key=means.__getitem__), found, budget - spent, stages[nth + 1] - count)
            leader = min(alive, key=means.__getitem__)
            ended |= {name: CandidateEnd(Why.BUDGET, count, leader) for name in beyond}
            alive = [name for name in alive if name not in beyond]
        rounds.append(Round(count, ran, tuple(alive), spent))
        tell(rounds[-1])
        if len(alive) <= 1 or nth + 1 == len(stages):
            break
        if spent + _cost(alive, found, stages[nth + 1] - count) > budget:
            break
    return Race(
        left=tuple(sorted(alive, key=means.__getitem__)),
        ended=ended,
        means=means,
        rounds=tuple(rounds),
        trials=found,
        hops=spent,
        full_hops=round(_cost(names, found, len(blocks))),
    )


def _stages(blocks: int) -> list[int]:
    """Blocks of each round: 4, 8, 16, ... and all."""
    stages = [FIRST]
    while stages[-1] * 2 < blocks:
        stages.append(stages[-1] * 2)
    return [*(count for count in stages if count < blocks), blocks]


def _first(of: Mapping[int, Trial], blocks: Sequence[int]) -> dict[int, Trial]:
    return {block: of[block] for block in blocks if block in of}


def _judge(
    of: Mapping[str, Mapping[int, float]], ran: Mapping[str, Mapping[int, Trial]], count: int, looks: int
) -> dict[str, CandidateEnd]:
    """The candidates that a round eliminates, by their scores or because all of their runs are those of another: equal
    scores alone are not enough, as a part may be 0 for many."""
    ended: dict[str, CandidateEnd] = {}
    leader = min(of, key=lambda name: _mean(of[name]))
    for name, by_block in of.items():
        if not math.isfinite(_mean(by_block)) and name != leader:
            ended[name] = CandidateEnd(Why.STUCK, count, leader)
    left = [name for name in of if name not in ended]
    for nth, name in enumerate(left):
        twin = next((other for other in left[:nth] if other not in ended and _are_same(ran[other], ran[name])), None)
        if twin is not None:
            ended[name] = CandidateEnd(Why.SAME, count, twin)
    leader = min((name for name in left if name not in ended), key=lambda name: _mean(of[name]))
    rivals = [name for name in left if name not in ended and name != leader]
    if len(of[leader]) < 2:
        return ended
    found = {name: _core.paired(_differences(of[name], of[leader])) for name in rivals}
    corrected = _core.holm([found[name][3] for name in rivals])
    for name, p in zip(rivals, corrected, strict=True):
        mean, low, high, _ = found[name]
        if mean > 0 and p <= _LEVEL / looks:
            ended[name] = CandidateEnd(Why.EXCLUDED, count, leader, (mean, low, high))
    return ended


def _are_same(one: Mapping[int, Trial], other: Mapping[int, Trial]) -> bool:
    """Whether all runs of two candidates gave the same."""
    return all((own.values, own.hops) == (other[block].values, other[block].hops) for block, own in one.items())


def _differences(one: Mapping[int, float], other: Mapping[int, float]) -> list[float]:
    return [one[block] - other[block] for block in one]


def _mean(of: Mapping[int, float]) -> float:
    return math.fsum(of.values()) / len(of) if of else math.inf


def _cost(names: Sequence[str], found: Mapping[str, Mapping[int, Trial]], blocks: int) -> float:
    """Packet-hops of candidates on so many more blocks, each as those that it ran."""
    return sum(blocks * sum(one.hops for one in found[name].values()) / len(found[name]) for name in names)


def _beyond(order: Sequence[str], found: Mapping[str, Mapping[int, Trial]], left: float, blocks: int) -> list[str]:
    """The worst candidates, as many as the budget has no room for in the next round; `order` is from the best."""
    kept = list(order)
    dropped: list[str] = []
    while len(kept) > KEPT and _cost(kept, found, blocks) > left:
        dropped.append(kept.pop())
    return dropped
