"""The packet-hops of an answer by stage, and how many it may take: a fifth of what the grid does.

The grid is the comparison without a race: every candidate on the whole list, with `GRID_SEEDS` seeds. So a fifth of it
is as many whole lists as there are candidates. A run that several stages read is counted once. What a stated budget has
beyond the fifth goes to more windows of disturbances.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from priolane.advice.request import AdviceContext
from priolane.advice.trials import Trials

TUNING, SENSITIVITY = 0.1, 0.15
"""Parts of the budget; the rest is the race's."""
GRID_SEEDS = 5
_PART_OF_GRID = 0.2


class Stage(StrEnum):
    """A stage that runs simulations."""

    TODAY = "today"
    RACE = "race"
    TUNING = "tuning"
    JUDGING = "judging"
    SEEDS = "seeds"
    REMEDIES = "remedies"
    SENSITIVITY = "sensitivity"
    DECIDING = "deciding"
    ROLLOUT = "rollout"


@dataclass
class Ledger:
    """The account of an answer, in packet-hops.

    `budget` is the user's, `whole` is what today's scheme takes on the whole list. `grid` is what the grid takes of
    all candidates so far.
    """

    budget: float
    whole: float
    grid: float = 0.0
    planned: float = 0.0
    """The packet-hops that candidates are expected to take, until a race has shown it."""
    by_stage: dict[Stage, int] = field(default_factory=lambda: dict.fromkeys(Stage, 0))
    _seen: set[str] = field(default_factory=set)

    def add(self, stage: Stage, trials: Mapping[str, Trials]) -> None:
        """Counts runs of a stage, but those that an earlier stage has run."""
        for of in trials.values():
            for trial in of.values():
                if trial.run not in self._seen:
                    self._seen.add(trial.run)
                    self.add_hops(stage, trial.hops)

    def add_hops(self, stage: Stage, hops: int) -> None:
        """Counts packet-hops of a stage."""
        self.by_stage[stage] += hops

    def add_candidates(self, each: float) -> None:
        """Counts candidates in the grid, which take `each` packet-hops together on the whole list with one seed."""
        self.grid += GRID_SEEDS * each

    @property
    def total(self) -> int:
        """All that was simulated."""
        return sum(self.by_stage.values())

    @property
    def left(self) -> float:
        """The packet-hops that are left of a fifth of the grid, or of the budget if that is less."""
        return min(self.budget, _PART_OF_GRID * self.grid) - self.total

    @property
    def as_a_limit(self) -> float:
        """The budget under which a fifth of the grid is what ends the race, and not the budget."""
        return (_PART_OF_GRID * self.grid + self.whole) / (1 - TUNING - SENSITIVITY)

    @property
    def expected(self) -> float:
        """The packet-hops that the answer takes at most."""
        return min(self.budget, max(self.planned, _PART_OF_GRID * self.grid))

    def lists_left(self, reserved: float = 0.0) -> float:
        """The number of whole lists that there is room for, where so many are `reserved` for what follows."""
        return max(0.0, self.left / self.whole - reserved)


def begin(context: AdviceContext, ledger: Ledger, stage: Stage) -> None:
    """Tells whoever watches which stage begins, and about how long all of them take at most."""
    place = list(Stage).index(stage) + 1
    per_s = context.speed.hops_per_s
    in_all = "" if per_s is None else f", about {math.ceil(ledger.expected / per_s / 60)} min in all"
    context.request.watcher.stage(f"{stage.value} (stage {place} of {len(Stage)}{in_all})")
