"""Scales: where a value lies along an axis, and the ticks of the axis."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

# Values beyond are drawn at the end, so that their differences stay finite.
LARGEST = 1e150
# The number of decades below which a logarithmic axis has ticks at 1, 2 and 5, and not at powers of ten only.
_FEW_DECADES = 2.2
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_DIGITS = 12
_LEAST_TICKS = 2


class Scale(Protocol):
    """A map of values to parts of the length of an axis."""

    @property
    def low(self) -> float:
        """The low end."""

    @property
    def high(self) -> float:
        """The high end."""

    def part(self, value: float) -> float:
        """The place of `value`, from 0 at the low end to 1 at the high end."""

    def ticks(self, most: int) -> list[float]:
        """Values of ticks within the ends, about `most` of them or fewer."""


@dataclass(frozen=True)
class Linear:
    """A linear scale from `low` to `high`, which differ."""

    low: float
    high: float

    @classmethod
    def over(cls, low: float, high: float) -> "Linear":
        """A scale over these values; one value alone lies in the middle."""
        low, high = clamped(low), clamped(high)
        if high - low > max(1e-12 * max(abs(low), abs(high)), 1 / LARGEST):
            return cls(low, high)
        around = abs(low) / 2 if abs(low) > 1 / LARGEST else 0.5
        return cls(low - around, high + around)

    def part(self, value: float) -> float:
        """As `Scale` has it."""
        return (clamped(value) - self.low) / (self.high - self.low)

    def ticks(self, most: int) -> list[float]:
        """Multiples of 1, 2, 2.5, or 5 times a power of ten."""
        least_step = (self.high - self.low) / max(most, 1)
        power = 10.0 ** math.floor(math.log10(least_step))
        step = next((times * power for times in _STEPS if times * power >= least_step * (1 - 1e-9)), 10 * power)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [float(f"{nth * step:.{_DIGITS}g}") for nth in range(first, last + 1)]


@dataclass(frozen=True)
class Log:
    """A logarithmic scale from `low` to `high`, which are above 0 and differ."""

    low: float
    high: float

    @classmethod
    def over(cls, low: float, high: float) -> "Log":
        """A scale over these values; one value alone lies in the middle."""
        # Half and twice of either is still within what is drawn.
        low, high = (min(max(end, 2 / LARGEST), LARGEST / 2) for end in (low, high))
        return cls(low, high) if high > low * (1 + 1e-9) else cls(low / 2, high * 2)

    @property
    def decades(self) -> float:
        """The number of powers of ten between the ends."""
        return math.log10(self.high / self.low) if self.high / self.low < LARGEST else 2 * math.log10(LARGEST)

    def part(self, value: float) -> float:
        """As `Scale` has it; what is not above 0 lies far below the low end."""
        if value <= 0:
            return -1.0
        of = math.log(self.low)
        return (math.log(min(max(value, 1 / LARGEST), LARGEST)) - of) / (math.log(self.high) - of)

    def ticks(self, most: int) -> list[float]:
        """Powers of ten, or 1, 2 and 5 times these below 2.2 decades; round numbers where even those are too few."""
        few = self.decades <= _FEW_DECADES
        first, last = (math.floor(math.log10(end)) for end in (self.low, self.high))
        powers = range(first, last + 1)
        every = 1 if few else max(1, math.ceil(self.decades / max(most, 1)))
        values = [
            float(f"{digit}e{power}")
            for power in powers
            if power % every == 0
            for digit in ((1, 2, 5) if few else (1,))
        ]
        within = [value for value in values if self.low * (1 - 1e-9) <= value <= self.high * (1 + 1e-9)]
        return within if len(within) >= _LEAST_TICKS else Linear(self.low, self.high).ticks(most)


def clamped(value: float) -> float:
    """The value, or the largest that is drawn."""
    return min(max(value, -LARGEST), LARGEST)


def scale_over(values: Sequence[float], *, log: bool) -> Scale:
    """A scale over `values`: a logarithmic one has the values above 0. It is 0 to 1 without a value, or 1 to 10."""
    within = [value for value in values if value > 0 or not log]
    if not within:
        return Log(1.0, 10.0) if log else Linear(0.0, 1.0)
    return Log.over(min(within), max(within)) if log else Linear.over(min(within), max(within))
