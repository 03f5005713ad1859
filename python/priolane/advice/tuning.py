"""Thresholds of the leader, moved as long as that helps on training blocks (`priolane.tune`)."""

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from priolane.advice.candidate import Candidate
from priolane.advice.goals import Goal, scores
from priolane.advice.racing import FIRST, Race
from priolane.advice.trials import Trial, values
from priolane.tune import descend

_LEAST_TRIES = 6
_MOST_TRIES = 40
# Of a scheme in an experiment file, in characters.
_LONGEST_NAME = 60

Run = Callable[[Candidate, Sequence[int]], Mapping[int, Trial]]
"""Runs a candidate on blocks."""


@dataclass(frozen=True)
class TuningResult:
    """The result of tuning: the best candidate, which is the first one if nothing was better, the number of thresholds
    that were tried, the blocks, and packet-hops."""

    best: Candidate
    tries: int
    blocks: int
    hops: int


def tune(leader: Candidate, race: Race, goals: Sequence[Goal], run: Run, budget: float) -> TuningResult:
    """Moves the thresholds of `leader` within a budget of packet-hops, on blocks that the race ran it on.

    Relative goals refer to the best of those that the race left.
    """
    ran = race.trials[leader.name]
    each = sum(one.hops for one in ran.values()) / len(ran)
    count = min(len(ran), max(FIRST, int(budget / each / _LEAST_TRIES)))
    tries = min(_MOST_TRIES, int(budget / each / count))
    if not leader.thresholds or tries < 2:
        return TuningResult(leader, 0, count, 0)
    blocks = list(ran)[:count]
    rivals = {name: {block: race.trials[name][block] for block in blocks} for name in race.left}
    hops = 0

    def cost(found: tuple[int, ...]) -> float:
        nonlocal hops
        if found == leader.thresholds:
            own: Mapping[int, Trial] = rivals[leader.name]
        else:
            own = run(moved(leader, found), blocks)
            hops += sum(one.hops for one in own.values())
        of = scores(goals, values({**rivals, _TRIED: own}))[_TRIED]
        return math.fsum(of.values()) / len(of) if of else math.inf

    # The start costs nothing: the race has run it.
    tried = descend(leader.thresholds, cost, most=tries + 1)
    best = min(tried, key=lambda one: one.cost)
    found = leader if best.thresholds == leader.thresholds else moved(leader, best.thresholds)
    return TuningResult(found, len(tried) - 1, count, hops)


_TRIED = "tried"


def moved(leader: Candidate, found: Sequence[int]) -> Candidate:
    """The candidate with other thresholds, under a name that tells them, or their first if that is too long."""
    thresholds = "_".join(map(str, found))
    name = f"{leader.name}_at_{thresholds}"
    if len(name) > _LONGEST_NAME:
        digest = hashlib.sha256(thresholds.encode()).hexdigest()[:8]
        name = f"{leader.name}_at_{found[0]}_{digest}"
    return leader.with_thresholds(found, name)
