"""Windows of start times, and what a metric is with each of them left out: how sure a value of one run is.

    | window 0 | window 1 | window 2 | ... | window n |
      the network fills: not read          flows that start here are read; all others are simulated too

The list is run uncut, so a window sees what the flows before and after it leave in the network. The value of a metric
is that of all flows that are read. Its uncertainty comes from the delete-one jackknife (Shao and Wu, "A general theory
for jackknife variance estimation", Annals of Statistics, 1989): the value is taken again without each window, and the
pseudo-values `n all - (n - 1) without` are averaged as independent ones, on logarithms for quantities. The interval of
a value is that of another list of the same length: sqrt(2) times as wide as that of a mean, as that list varies too.
docs/evidence/advise.md has the measured coverage.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from priolane import _core
from priolane.advice.fabric import Sizes
from priolane.advice.flow_list import FlowList, Numbers
from priolane.results.estimate import Average, Estimate

FEWEST, MOST = 5, 24
"""The windows that are read, at least and at most."""
TIMES_LONGEST = 2.0
"""The least length of a window, in longest completion times of the flows of goals."""
TIMES_LONGEST_IN_RACE = 1.0
"""The same of windows on which candidates are compared with each other, and not with bounds."""
_OTHER_LIST = math.sqrt(2)
_PS_PER_NS = 1000


@dataclass(frozen=True)
class Windows:
    """Windows of `length_ns`; number 0 begins with the list and is not read, `after + 1` to `count` are. `all` is how
    many the whole list has."""

    length_ns: int
    count: int
    after: int = 0
    all: int = 0

    @classmethod
    def over(cls, flows: FlowList, count: int) -> "Windows":
        """As many windows that are read, over the whole list."""
        return cls(math.ceil(flows.span_ns / (count + 1)), count, all=count)

    def first(self, count: int) -> "Windows":
        """The first `count` of the windows that are read."""
        return replace(self, count=min(count, self.count))

    def second_half(self) -> "Windows":
        """The second half of the windows that are read."""
        return replace(self, after=self.count // 2)

    @property
    def part(self) -> float:
        """The part of the list that is simulated, without the flows that only go on to start."""
        return (self.count + 1) / (self.all + 1)

    @property
    def read(self) -> int:
        """The number of windows that are read."""
        return self.count - self.after

    @property
    def end_ns(self) -> int:
        """The end of the last window, from the beginning of the list."""
        return self.length_ns * (self.count + 1)

    def squeezed(self, factor: float) -> "Windows":
        """The same windows of a list whose starts are `factor` times closer together."""
        return replace(self, length_ns=max(1, math.ceil(self.length_ns / factor)))

    def of(self, start_ps: Numbers) -> Numbers:
        """The window of each start of a run, whose list begins at 0: 1 to `read` for those that are read."""
        return start_ps // (self.length_ns * _PS_PER_NS) - self.after


@dataclass(frozen=True)
class Jackknife:
    """A value of all flows that are read, `values[0]`, and the same without window 1, 2, ..., `values[1:]`.

    Values are logarithms for quantities and the values themselves for parts; they are infinite where flows did not
    finish. `floor` is the least half width of the interval: parts that are 0 in every window have no other.
    """

    values: Sizes
    floor: float = 0.0

    @property
    def all(self) -> float:
        """The value of all flows that are read."""
        return float(self.values[0])

    @property
    def windows(self) -> int:
        """The number of windows."""
        return len(self.values) - 1

    @property
    def pseudo(self) -> list[float]:
        """The pseudo-values, one for each window."""
        count = self.windows
        return [float(value) for value in count * self.all - (count - 1) * self.values[1:]]

    @property
    def is_finite(self) -> bool:
        """Whether all values are finite."""
        return bool(np.isfinite(self.values).all())

    def minus(self, other: "Jackknife") -> "Jackknife":
        """The difference of two values of the same windows."""
        return Jackknife(self.values - other.values, max(self.floor, other.floor))

    def difference(self) -> tuple[float, float, float, float]:
        """The value with the 95 % interval of its expectation, and the two-sided p of 0."""
        mean, low, high, p = _core.paired(self.pseudo)
        return self.all, self.all + low - mean, self.all + high - mean, p

    def half_width(self) -> float:
        """Half of the 95 % interval of the value of another list of the same length.

        Where means of two or four neighbouring windows vary more than they would if windows were independent, the
        interval is as much wider.
        """
        _, low, high, _ = _core.paired(self.pseudo)
        return max(self.floor, _OTHER_LIST * _dependence(np.asarray(self.pseudo)) * (high - low) / 2)


def _dependence(values: Sizes) -> float:
    """The standard error of the mean from means of neighbours over that from single values, at least 1."""
    alone = _standard_error(values, 1)
    errors = [_standard_error(values, size) for size in _NEIGHBOURS if len(values) // size >= FEWEST]
    return max([1.0, *(error / alone for error in errors)]) if alone > 0 else 1.0


_NEIGHBOURS = (2, 4)


def _standard_error(values: Sizes, size: int) -> float:
    """The standard error of the mean, from means of so many neighbours each."""
    means = values[len(values) % size :].reshape(-1, size).mean(axis=1)
    return float(means.std(ddof=1)) / math.sqrt(len(means))


def mean(of: Sequence[Jackknife]) -> Jackknife:
    """The mean of several seeds, of the same windows."""
    return Jackknife(
        np.mean(np.stack([jackknife.values for jackknife in of]), axis=0), max(jackknife.floor for jackknife in of)
    )


def estimate(of: Jackknife | None, *, is_part: bool) -> Estimate:
    """The value with the 95 % interval of another list of the same length; no value where flows did not finish."""
    if of is None or not of.is_finite:
        return Estimate(None, None, None, 0 if of is None else of.windows)
    value, half = of.all, of.half_width()
    if is_part:
        return Estimate(value, value - half, value + half, of.windows).within(0.0, 1.0)
    low, middle, high = (math.exp(end) for end in (value - half, value, value + half))
    return Estimate(middle, low, high, of.windows, Average.GEOMETRIC)
