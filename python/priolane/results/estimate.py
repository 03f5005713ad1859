"""Means over seeds with their intervals, as verdicts are made of them (`priolane_lab::metrics::estimate`).

A quantity that is above 0 in every seed has a geometric mean, and its interval is that of its logarithm. Shares and
counts of events, of which 0 is an ordinary value, have an arithmetic mean; so have quantities that are 0 in some seed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from priolane import _core
from priolane.results.numbers import fitting, format_value, short


class Nature(StrEnum):
    """The kind of values: a continuous quantity, or a share or count of events."""

    QUANTITY = "quantity"
    EVENTS = "events"


class Average(StrEnum):
    """The scale of a mean and its interval: logarithms, or the values themselves."""

    GEOMETRIC = "geometric"
    ARITHMETIC = "arithmetic"


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds with its 95 % interval.

    There is no interval from fewer than two seeds, nor from fewer than six with equal counts of events, and no mean
    from none.
    """

    mean: float | None
    low: float | None
    high: float | None
    seeds: int
    average: Average = Average.ARITHMETIC

    @classmethod
    def of(cls, values: Sequence[float], nature: Nature = Nature.QUANTITY) -> "Estimate":
        """The estimate of values by seed."""
        if not values:
            return cls(None, None, None, 0)
        average, mean, low, high = _core.estimate(list(values), nature)
        return cls(mean, low, high, len(values), Average(average))

    @classmethod
    def read(cls, value: Mapping[str, Any]) -> "Estimate":
        """Reads `{average, mean, low, high, n}`."""
        return cls(value["mean"], value["low"], value["high"], value["n"], Average(value["average"]))

    def within(self, least: float, most: float) -> "Estimate":
        """The estimate with its ends in the range of the values."""
        low, high = (None if end is None else min(max(end, least), most) for end in (self.low, self.high))
        return replace(self, low=low, high=high)

    def scaled(self, many: float) -> "Estimate":
        """The estimate in a unit of which there are `many` in one of its own."""
        mean, low, high = (None if value is None else value * many for value in (self.mean, self.low, self.high))
        return replace(self, mean=mean, low=low, high=high)

    def __str__(self) -> str:
        """The mean to three digits, and the interval in brackets."""
        return self.format()

    def format(self, unit: str = "1") -> str:
        """The same of an estimate in `unit`, in the unit that fits its mean: `1.76 ms [1.65, 1.87]`."""
        if self.mean is None:
            return "no value"
        mean = format_value(self.mean, unit)
        if self.low is None or self.high is None:
            return mean
        _, many = fitting(self.mean, unit)
        return f"{mean} [{short(self.low * many)}, {short(self.high * many)}]"


@dataclass(frozen=True)
class PairedChange:
    """The change between two values, seed by seed: their ratio if all are above 0 (geometric), else their difference.
    `p` is the two-sided p value of no change; `None` without an interval."""

    estimate: Estimate
    p: float | None

    @property
    def is_ratio(self) -> bool:
        """Whether it is a ratio."""
        return self.estimate.average is Average.GEOMETRIC


def paired_change(first: Sequence[float], second: Sequence[float], nature: Nature = Nature.QUANTITY) -> PairedChange:
    """The change from `first` to `second`, which have a value of each seed in one order."""
    (average, mean, low, high), p = _core.change(list(first), list(second), nature)
    return PairedChange(Estimate(mean, low, high, len(first), Average(average)), p)


def over_seeds(
    name: tuple[str, str], values: Mapping[int, float], records: Mapping[int, Mapping[str, Any]]
) -> dict[int, float]:
    """The values of a metric by seed, whose geometric mean is that of the steady state where arrivals continue.

    `name` is the class and the metric, or the member of a class's summary. Values other than means over arrivals stay
    as they are.
    """
    size_class, metric = name
    arrivals = [records[seed].get("steady", {}).get(size_class, {}).get("arrivals", 0) for seed in values]
    if not _core.is_per_arrival(metric) or not all(arrivals):
        return dict(values)
    means = [(value, float(count)) for value, count in zip(values.values(), arrivals, strict=True)]
    return dict(zip(values, _core.pooled(means), strict=True))
