"""Goals: bounds of metrics by class of flows, such as `p99.small < 1ms` or `goodput.bulk > 90% of today`.

The first goal is the objective. `outcomes` has what a candidate's values mean for goals.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from priolane._core import InputError
from priolane.results.numbers import format_value

DEFAULTS = ("p99.small < 1ms", "goodput.bulk > 90%")
"""The goals where none is given."""


Against = Literal["best", "today"]
"""The other value that a relative bound is of: the best candidate's, or that of what runs today."""
_PART = "part"


@dataclass(frozen=True)
class Quantity:
    """A metric that goals can bound: its key in summaries, its factor from there, its unit in reports, and whether
    large values are good. `least` is how many flows of its class a window should have,
    `per_mille` the rank of a percentile."""

    metric: str
    key: str
    unit: str
    is_large_good: bool = False
    factor: float = 1.0
    least: int = 20
    per_mille: int | None = None

    @property
    def is_of_coflows(self) -> bool:
        """Whether it is a metric of coflows, not of flows."""
        return self.metric.startswith("cct")

    @property
    def is_of_deadlines(self) -> bool:
        """Whether it is a metric of flows with a deadline."""
        return self.metric.startswith("deadline")

    @property
    def is_part(self) -> bool:
        """Whether it is a part of all, from 0 to 1."""
        return self.unit == _PART


QUANTITIES = {
    "mean": Quantity("fct", "mean_fct_s", "s"),
    "p50": Quantity("fct_p50", "p50_fct_s", "s", per_mille=500),
    "p95": Quantity("fct_p95", "p95_fct_s", "s", least=40, per_mille=950),
    "p99": Quantity("fct_p99", "p99_fct_s", "s", least=100, per_mille=990),
    "p999": Quantity("fct_p999", "p999_fct_s", "s", least=200, per_mille=999),
    "slowdown": Quantity("slowdown", "mean_slowdown", "1"),
    "slowdown_p95": Quantity("slowdown_p95", "p95_slowdown", "1", least=40, per_mille=950),
    "slowdown_p99": Quantity("slowdown_p99", "p99_slowdown", "1", least=100, per_mille=990),
    "cct": Quantity("cct", "mean_cct_s", "s", least=8),
    "cct_p95": Quantity("cct_p95", "p95_cct_s", "s", least=20, per_mille=950),
    "deadline_missed": Quantity("deadline_miss_rate", "deadline_miss_rate", _PART, least=20),
    "goodput": Quantity("goodput", "goodput_bps", "Gbit/s", is_large_good=True, factor=1e-9, least=2),
}

_GOAL = re.compile(r"\s*([a-z0-9_]+)\.([A-Za-z0-9_]+)\s*([<>])=?\s*([0-9.]+(?:[eE][+-]?[0-9]+)?)\s*([A-Za-z%/ ]*?)\s*")
_QUEUES = re.compile(r"\s*queues\s*(?:<=|=)\s*(\d+)\s*")
_UNITS = {
    "s": {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9},
    "Gbit/s": {"Gbps": 1.0, "Mbps": 1e-3, "Gbit/s": 1.0, "Mbit/s": 1e-3},
    "1": {"": 1.0},
    _PART: {"%": 0.01, "": 1.0},
}
_BEST: Against = "best"
_TODAY: Against = "today"
# What a bound may be relative to, by how it is written behind the number.
_RELATIVE: Mapping[str, Against] = {
    "%": _BEST,
    "% of best": _BEST,
    "x best": _BEST,
    "% of today": _TODAY,
    "x today": _TODAY,
}


@dataclass(frozen=True)
class Goal:
    """A bound of a metric of a class of flows.

    `bound` is in the unit of the quantity, or relative: 0.9 for at least 90 % of the best candidate's value, or of
    today's. `against` says of which. `reference` is that value in the unit of the quantity, for candidates that are
    compared with others that are not among them.
    """

    text: str
    quantity: Quantity
    size_class: str
    bound: float
    against: Against | None = None
    reference: float | None = None

    @property
    def is_relative(self) -> bool:
        """Whether the bound is relative to another value."""
        return self.against is not None

    @property
    def name(self) -> str:
        """The metric as experiments name it, such as `fct_p99.small`."""
        return f"{self.quantity.metric}.{self.size_class}"

    @property
    def asked(self) -> str:
        """The metric as goals name it, such as `p99.small`."""
        return self.text.split()[0]

    def format(self, value: float | None) -> str:
        """A value in words."""
        return "no value" if value is None else format_value(value, self.quantity.unit)


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
    match = _GOAL.fullmatch(text)
    if match is None:
        raise InputError(
            f"--goal {text!r}: this is no goal; write METRIC.CLASS < VALUE, such as 'p99.small < 1ms', "
            "'goodput.bulk > 90%' or 'queues <= 3'"
        )
    name, size_class, sign, number, unit = match.groups()
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
    bound, against = _bound(text, quantity, value, " ".join(unit.split()))
    return Goal(" ".join(text.split()), quantity, size_class, bound, against)


def _bound(text: str, quantity: Quantity, value: float, unit: str) -> tuple[float, Against | None]:
    known = _UNITS[quantity.unit]
    against = _RELATIVE.get(unit)
    if against is not None and unit not in known:
        bound = value / 100 if unit.startswith("%") else value
        if against == _TODAY:
            return bound, against
        if (bound > 1) if quantity.is_large_good else (bound < 1):
            limit = "at most 100%" if quantity.is_large_good else "at least 100%"
            raise InputError(f"--goal {text!r}: no candidate is better than the best; write {limit}, or '% of today'")
        return bound, against
    if unit not in known:
        units = ", ".join(repr(name) for name in dict.fromkeys((*known, *_RELATIVE)) if name)
        raise InputError(f"--goal {text!r}: unit {unit!r} does not fit; one of {units}")
    return value * known[unit], None
