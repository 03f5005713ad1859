"""The meaning of candidates' values for goals: how far a bound is missed, how sure that is, and one score of all goals.

The margin of a goal is log(value / bound), with bound / value for metrics that should be large; of parts, such as that
of missed deadlines, which may be 0, it is value / bound - 1. It is negative where the goal is met. The score is

    margin of the objective + MISS x sum over the other goals of max(0, margin)

Smaller is better. All of them are taken with and without each window of start times, so that differences of candidates
have an interval.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from priolane.advice.candidate import TODAY
from priolane.advice.fabric import Sizes
from priolane.advice.goals import Goal
from priolane.advice.windows import Jackknife, estimate
from priolane.results.estimate import Estimate
from priolane.results.numbers import short

MISS = 10.0
"""The weight of a missed goal against the objective: 1 % too much of one outweighs 10 % of the other."""

Values = Mapping[str, Jackknife | None]
"""The values of one candidate by `metric.class`; `None` where no flow gives one."""


class Verdict(StrEnum):
    """Whether a goal is met: surely where another list of the same length would say the same in 95 % of cases."""

    MET = "met"
    PERHAPS_MET = "met, not surely"
    PERHAPS_MISSED = "missed, not surely"
    MISSED = "missed"


@dataclass(frozen=True)
class Outcome:
    """The result of a candidate for one goal. `limit` is the bound in the metric's unit; `None` without a value."""

    goal: Goal
    estimate: Estimate
    limit: float | None
    margin: Jackknife | None

    @property
    def value(self) -> float | None:
        """The value of all flows that are read."""
        return self.estimate.mean

    @property
    def miss(self) -> float:
        """The margin of all flows that are read; infinite without a value."""
        return math.inf if self.margin is None else self.margin.all

    @property
    def verdict(self) -> Verdict:
        """Whether the goal is met, and how sure that is."""
        if self.margin is None or not self.margin.is_finite:
            return Verdict.MISSED
        half = self.margin.half_width()
        if self.miss <= 0:
            return Verdict.MET if self.miss + half <= 0 else Verdict.PERHAPS_MET
        return Verdict.MISSED if self.miss - half > 0 else Verdict.PERHAPS_MISSED

    @property
    def times_longer(self) -> float:
        """About how many times as long a list must be for its interval to lie on one side of the bound, if the value
        stays: intervals shrink by the square root. At most 1 where it does now, infinite where no list would do."""
        if self.margin is None or not self.margin.is_finite:
            return 1.0
        return math.inf if self.miss == 0 else (self.margin.half_width() / self.miss) ** 2

    @property
    def relative_bound(self) -> str | None:
        """The bound of a relative goal in the metric's unit, and what it is of; `None` for others."""
        if self.limit is None or self.goal.against is None:
            return None
        sign = ">" if self.goal.quantity.is_large_good else "<"
        of = "today" if self.goal.against == TODAY else "the best"
        return f"{sign} {self.goal.format(self.limit)}, {100 * self.goal.bound:.3g} % of {of}"

    @property
    def met(self) -> bool:
        """Whether the value is within the bound."""
        return self.miss <= 0

    def __str__(self) -> str:
        """The outcome as a clause."""
        sentence = f"{self.goal.asked} is {self.estimate.format(self.goal.quantity.unit)}"
        if self.met or self.limit is None or self.value is None:
            return sentence
        factor = 1 + self.miss if self.goal.quantity.is_part else math.exp(self.miss)
        return f"{sentence}, {short(factor)} times off the bound of {self.goal.format(self.limit)}"


def estimates(goals: Sequence[Goal], values: Values) -> dict[str, Estimate]:
    """The values of one candidate with their intervals, by metric."""
    return {goal.name: estimate(values[goal.name], is_part=goal.quantity.is_part) for goal in goals}


def outcomes(
    goals: Sequence[Goal], values: Mapping[str, Values], judged: Mapping[str, Values] | None = None
) -> dict[str, tuple[Outcome, ...]]:
    """The results of each candidate for each goal. Relative goals refer to the best of the candidates, or of those that
    were `judged`, or to today's scheme among these."""
    bounds = _bounds(goals, judged or values)
    return {
        name: tuple(_outcome(goal, of[goal.name], bounds[goal.name]) for goal in goals) for name, of in values.items()
    }


def referring(goals: Sequence[Goal], values: Mapping[str, Values]) -> tuple[Goal, ...]:
    """The goals with the values that relative ones refer to: the best of these candidates, or today's."""
    resolved = []
    for goal in goals:
        absolute = _bound(replace(goal, bound=1.0), {name: of[goal.name] for name, of in values.items()})
        value = None if absolute is None else float(absolute[0])
        if value is None or not goal.is_relative:
            resolved.append(goal)
        else:
            resolved.append(replace(goal, reference=value if goal.quantity.is_part else math.exp(value)))
    return tuple(resolved)


def scores(goals: Sequence[Goal], values: Mapping[str, Values]) -> dict[str, Jackknife]:
    """The score of each candidate; infinite where it lacks a value, as flows did not finish."""
    by_name = {}
    bounds = _bounds(goals, values)
    for name, of in values.items():
        first, *others = [_vector(goal, of[goal.name], bounds[goal.name]) for goal in goals]
        by_name[name] = Jackknife(sum((MISS * np.maximum(0.0, other) for other in others), first))
    return by_name


def meeting(goals: Sequence[Goal], values: Mapping[str, Values]) -> list[str]:
    """The candidates whose values meet all goals; each may have been read in windows of its own."""
    return [
        name
        for name, margins in _margins_of_all(goals, values).items()
        if all(margin is not None and margin.all <= 0 for margin in margins)
    ]


def surely_meeting(goals: Sequence[Goal], values: Mapping[str, Values]) -> list[str]:
    """The candidates whose intervals meet all goals; each may have been read in windows of its own, so that relative
    bounds are taken as exact."""
    return [
        name
        for name, margins in _margins_of_all(goals, values).items()
        if all(margin is not None and margin.is_finite and margin.all + margin.half_width() <= 0 for margin in margins)
    ]


def _margins_of_all(goals: Sequence[Goal], values: Mapping[str, Values]) -> dict[str, list[Jackknife | None]]:
    """The margins of each candidate, with bounds from all flows that are read."""
    alone = {
        name: {goal.name: None if (own := of[goal.name]) is None else Jackknife(own.values[:1]) for goal in goals}
        for name, of in values.items()
    }
    bounds = _bounds(goals, alone)
    return {name: [_margin(goal, of[goal.name], bounds[goal.name]) for goal in goals] for name, of in values.items()}


def is_surely_better(goals: Sequence[Goal], values: Mapping[str, Values], leader: str, rival: str) -> bool:
    """Whether the interval of the difference of scores lies on the side of `leader`, or flows of `rival` alone did not
    finish."""
    compared = scores(goals, {name: values[name] for name in (leader, rival)})
    if not compared[rival].is_finite or not compared[leader].is_finite:
        return compared[leader].is_finite
    _, low, _, _ = compared[rival].minus(compared[leader]).difference()
    return low > 0


def _bounds(goals: Sequence[Goal], values: Mapping[str, Values]) -> dict[str, Sizes | None]:
    return {goal.name: _bound(goal, {name: of[goal.name] for name, of in values.items()}) for goal in goals}


def _bound(goal: Goal, values: Mapping[str, Jackknife | None]) -> Sizes | None:
    """The bound in the scale of values, with and without each window; `None` where no candidate has a value."""
    stated = {name: of for name, of in values.items() if of is not None}
    own = goal.bound if goal.quantity.is_part else math.log(goal.bound)
    count = max((len(of.values) for of in stated.values()), default=0)
    if stated and not goal.is_relative:
        return np.full(count, own)
    known = {name: of.values for name, of in stated.items() if of.is_finite}
    if goal.against == TODAY:
        known = {name: of for name, of in known.items() if name == TODAY}
    if goal.reference is not None and count and (goal.against != TODAY or not known):
        known[""] = np.full(count, goal.reference if goal.quantity.is_part else math.log(goal.reference))
    if not known:
        return None
    best = (np.max if goal.quantity.is_large_good else np.min)(np.stack(list(known.values())), axis=0)
    scaled: Sizes = best * own if goal.quantity.is_part else best + own
    return scaled


def _outcome(goal: Goal, value: Jackknife | None, bound: Sizes | None) -> Outcome:
    is_part = goal.quantity.is_part
    limit = None if bound is None else float(bound[0]) if is_part else math.exp(bound[0])
    return Outcome(goal, estimate(value, is_part=is_part), limit, _margin(goal, value, bound))


def _margin(goal: Goal, value: Jackknife | None, bound: Sizes | None) -> Jackknife | None:
    """The margin of a goal; `None` where flows did not finish, or no candidate has a value."""
    if bound is None or value is None or not value.is_finite:
        return None
    if goal.quantity.is_part:
        # A relative bound of 0 events is met by 0 events alone.
        least = np.maximum(bound, np.finfo(float).tiny)
        return Jackknife(np.minimum(value.values / least, _MOST_TIMES) - 1, value.floor / float(least[0]))
    sign = -1.0 if goal.quantity.is_large_good else 1.0
    return Jackknife(sign * (value.values - bound))


# The largest ratio of a part to its bound: a bound of 0 would have no margin.
_MOST_TIMES = 1e6


def _vector(goal: Goal, value: Jackknife | None, bound: Sizes | None) -> Sizes:
    margin = _margin(goal, value, bound)
    if margin is not None:
        return margin.values
    # No candidate has a value of such a goal: it says nothing about any.
    if bound is None or value is None:
        return np.zeros(1) if value is None else np.zeros(len(value.values))
    return np.full(len(value.values), math.inf)
