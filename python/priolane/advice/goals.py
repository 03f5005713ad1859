"""Goals: bounds of metrics by class of flows, such as `p99.small < 1ms` or `goodput.bulk > 90%`.

The first goal is the objective. Candidates that meet all goals are ordered by it; the others by how much they miss.
The score of a candidate on a block of flows, which the race compares, is

    log(value / bound) of the objective + MISS x sum over the other goals of max(0, log(value / bound))

with bound / value for metrics that should be large. Smaller is better. Of parts, such as that of missed deadlines,
which may be 0, it is value / bound - 1 in place of the logarithm.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from priolane import _core
from priolane._core import InputError
from priolane.report.estimate import Nature
from priolane.report.numbers import format_value, short

MISS = 10.0
"""The weight of a missed goal against the objective: 1 % too much of one outweighs 10 % of the other."""

DEFAULTS = ("p99.small < 1ms", "goodput.bulk > 90%")
"""The goals where none is given."""

Values = Mapping[str, float | None]
"""The values of one run by `metric.class`; `None` where no flow gives one."""


_PART = "part"


@dataclass(frozen=True)
class Quantity:
    """A metric that goals can bound: its key in summaries, its factor from there, its unit in reports, and whether
    large values are good. `least` is how many flows of its class a block should have."""

    metric: str
    key: str
    unit: str
    is_large_good: bool = False
    factor: float = 1.0
    least: int = 20

    @property
    def is_of_coflows(self) -> bool:
        """Whether it is a metric of coflows, not of flows."""
        return self.metric.startswith("cct")

    @property
    def is_of_deadlines(self) -> bool:
        """Whether it is a metric of flows with a deadline."""
        return self.metric.startswith("deadline")

    @property
    def nature(self) -> Nature:
        """The kind of the metric's values."""
        return Nature.EVENTS if self.is_part else Nature.QUANTITY

    @property
    def is_part(self) -> bool:
        """Whether it is a part of all, from 0 to 1."""
        return self.unit == _PART


QUANTITIES = {
    "mean": Quantity("fct", "mean_fct_s", "s"),
    "p50": Quantity("fct_p50", "p50_fct_s", "s"),
    "p95": Quantity("fct_p95", "p95_fct_s", "s", least=40),
    "p99": Quantity("fct_p99", "p99_fct_s", "s", least=100),
    "p999": Quantity("fct_p999", "p999_fct_s", "s", least=200),
    "slowdown": Quantity("slowdown", "mean_slowdown", "1"),
    "slowdown_p95": Quantity("slowdown_p95", "p95_slowdown", "1", least=40),
    "slowdown_p99": Quantity("slowdown_p99", "p99_slowdown", "1", least=100),
    "cct": Quantity("cct", "mean_cct_s", "s", least=8),
    "cct_p95": Quantity("cct_p95", "p95_cct_s", "s", least=20),
    "deadline_missed": Quantity("deadline_miss_rate", "deadline_miss_rate", _PART, least=20),
    "goodput": Quantity("goodput", "goodput_bps", "Gbit/s", is_large_good=True, factor=1e-9, least=2),
}

_GOAL = re.compile(r"\s*([a-z0-9_]+)\.([A-Za-z0-9_]+)\s*([<>])=?\s*([0-9.eE+-]+)\s*([A-Za-z%/ ]*?)\s*")
_QUEUES = re.compile(r"\s*queues\s*(?:<=|=)\s*(\d+)\s*")
_UNITS = {
    "s": {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9},
    "Gbit/s": {"Gbps": 1.0, "Mbps": 1e-3, "Gbit/s": 1.0, "Mbit/s": 1e-3},
    "1": {"": 1.0},
    _PART: {"%": 0.01, "": 1.0},
}
_BEST = ("%", "x best")


@dataclass(frozen=True)
class Goal:
    """A bound of a metric of a class of flows.

    `bound` is in the unit of the quantity, or relative to the best candidate: 0.9 for at least 90 % of it.
    """

    text: str
    quantity: Quantity
    size_class: str
    bound: float
    is_relative: bool

    @property
    def name(self) -> str:
        """The metric as experiments name it, such as `fct_p99.small`."""
        return f"{self.quantity.metric}.{self.size_class}"

    def format(self, value: float | None) -> str:
        """A value in words."""
        return "no value" if value is None else format_value(value, self.quantity.unit)

    def limit(self, best: float | None) -> float | None:
        """The bound in the metric's unit, given the best value of any candidate."""
        if not self.is_relative:
            return self.bound
        return None if best is None else self.bound * best

    def best(self, values: Iterable[float | None]) -> float | None:
        """The best of several values; `None` if there is none."""
        known = [value for value in values if value is not None]
        return (max if self.quantity.is_large_good else min)(known, default=None)

    def miss(self, value: float, limit: float) -> float:
        """The logarithm of the factor by which the bound is missed, of parts the factor less 1; negative if met."""
        if self.quantity.is_part and limit > 0:
            return value / limit - 1
        if value <= 0 or limit <= 0:
            return 0.0 if value == limit else math.copysign(math.inf, (value > limit) - 0.5)
        ratio = limit / value if self.quantity.is_large_good else value / limit
        return math.log(ratio)


def read_goals(texts: Sequence[str]) -> tuple[tuple[Goal, ...], int | None]:
    """Goals and, where one of the texts states it, the number of queues; the defaults if there is no goal.

    Raises `InputError` with one line for each mistake.
    """
    goals: list[Goal] = []
    queues: int | None = None
    mistakes: list[str] = []
    for text in texts:
        if (stated := _QUEUES.fullmatch(text)) is not None:
            queues = int(stated[1])
            continue
        try:
            goals.append(_goal(text))
        except InputError as error:
            mistakes.append(str(error))
    if mistakes:
        raise InputError("\n".join(mistakes))
    names = [goal.name for goal in goals]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"--goal: {twice} has two goals; state one of them")
    return tuple(goals) or tuple(_goal(text) for text in DEFAULTS), queues


def _goal(text: str) -> Goal:
    found = _GOAL.fullmatch(text)
    if found is None:
        raise InputError(
            f"--goal {text!r}: this is no goal; write METRIC.CLASS < VALUE, such as 'p99.small < 1ms', "
            "'goodput.bulk > 90%' or 'queues <= 3'"
        )
    name, size_class, sign, number, unit = found.groups()
    quantity = QUANTITIES.get(name)
    if quantity is None:
        raise InputError(f"--goal {text!r}: no metric {name!r}; one of {', '.join(QUANTITIES)}")
    if (sign == ">") != quantity.is_large_good:
        right = ">" if quantity.is_large_good else "<"
        raise InputError(f"--goal {text!r}: {name} should be {'large' if right == '>' else 'small'}; write {right}")
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise InputError(f"--goal {text!r}: {number!r} is not a number above 0")
    bound, is_relative = _bound(text, quantity, value, unit)
    return Goal(" ".join(text.split()), quantity, size_class, bound, is_relative)


def _bound(text: str, quantity: Quantity, value: float, unit: str) -> tuple[float, bool]:
    known = _UNITS[quantity.unit]
    if unit in _BEST and unit not in known:
        bound = value / 100 if unit == "%" else value
        if (bound > 1) if quantity.is_large_good else (bound < 1):
            limit = "at most 100%" if quantity.is_large_good else "at least 100%"
            raise InputError(f"--goal {text!r}: no candidate is better than the best; write {limit}")
        return bound, True
    if unit not in known:
        units = ", ".join(repr(name) for name in dict.fromkeys((*known, *_BEST)) if name)
        raise InputError(f"--goal {text!r}: unit {unit!r} does not fit; one of {units}")
    return value * known[unit], False


def scores(goals: Sequence[Goal], values: Mapping[str, Mapping[int, Values]]) -> dict[str, dict[int, float]]:
    """The score of each candidate on each block, from the values of each.

    A block in which no candidate has a value of the objective, as no flow of its class is measured there, has no
    score. A candidate without a value that others have did not finish: its score is infinite. Relative goals refer to
    the best of the candidates on the same block.
    """
    blocks = list(dict.fromkeys(block for of in values.values() for block in of))
    found: dict[str, dict[int, float]] = {name: {} for name in values}
    for block in blocks:
        here = {name: of[block] for name, of in values.items() if block in of}
        best = {goal.name: goal.best(of[goal.name] for of in here.values()) for goal in goals}
        if best[goals[0].name] is None:
            continue
        for name, of in here.items():
            found[name][block] = _score(goals, of, best)
    return found


def score_difference(
    goals: Sequence[Goal], values: Mapping[str, Mapping[int, Values]], best: str, other: str
) -> tuple[float, float, float] | None:
    """The excess of the score of `other` over that of `best` on the same blocks: the mean and its 95 % interval.

    `None` for fewer than two blocks, and where flows of one of the two did not finish.
    """
    found = scores(goals, values)
    between = [found[other][block] - found[best][block] for block in found[best]]
    if len(between) < 2 or not all(map(math.isfinite, between)):
        return None
    mean, low, high, _ = _core.paired(between)
    return mean, low, high


def _score(goals: Sequence[Goal], values: Values, best: Mapping[str, float | None]) -> float:
    total = 0.0
    for place, goal in enumerate(goals):
        limit, value = goal.limit(best[goal.name]), values[goal.name]
        if best[goal.name] is None or limit is None:
            continue
        miss = math.inf if value is None else goal.miss(value, limit)
        total += miss if place == 0 else MISS * max(0.0, miss)
    return total


@dataclass(frozen=True)
class Outcome:
    """The result of a candidate for one goal: its mean, the bound in the metric's unit, and whether it is met."""

    goal: Goal
    value: float | None
    limit: float | None

    @property
    def met(self) -> bool:
        """Whether the mean is within the bound."""
        return self.value is not None and self.limit is not None and self.goal.miss(self.value, self.limit) <= 0

    @property
    def miss(self) -> float:
        """The distance by which the bound is missed, as in `Goal.miss`; infinite without a value."""
        if self.value is None or self.limit is None:
            return math.inf
        return self.goal.miss(self.value, self.limit)

    def __str__(self) -> str:
        """The outcome as a clause."""
        sentence = f"{self.goal.name} is {self.goal.format(self.value)}"
        if self.met or self.limit is None or self.value is None:
            return sentence
        factor = 1 + self.miss if self.goal.quantity.is_part else math.exp(self.miss)
        return f"{sentence}, {short(factor)} times off the bound of {self.goal.format(self.limit)}"


def outcomes(goals: Sequence[Goal], means: Mapping[str, Values]) -> dict[str, tuple[Outcome, ...]]:
    """The results of each candidate for each goal, from the means over blocks."""
    best = {goal.name: goal.best(of[goal.name] for of in means.values()) for goal in goals}
    return {
        name: tuple(Outcome(goal, of[goal.name], goal.limit(best[goal.name])) for goal in goals)
        for name, of in means.items()
    }


def ranked(found: Mapping[str, Sequence[Outcome]]) -> list[str]:
    """Names, the best first: those that meet all goals by the objective, then the others by how much they miss."""

    def key(name: str) -> tuple[bool, float, float]:
        of = found[name]
        missed = sum(max(0.0, outcome.miss) for outcome in of)
        return not all(outcome.met for outcome in of), missed, of[0].miss

    return sorted(found, key=key)
