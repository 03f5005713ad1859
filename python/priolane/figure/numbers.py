"""Numbers in figures: with thin spaces and minus signs, decimals and units by the rules of `report.numbers`.

From 10 000 on, thin spaces separate thousands. No number has an exponent, unless it is below 1e-9 or from 1e15 on.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from priolane.results.estimate import Estimate
from priolane.results.numbers import fitting, interval_decimals

THIN = "\N{NARROW NO-BREAK SPACE}"
_MINUS = "\N{MINUS SIGN}"
_UNIT_IN_LABEL = re.compile(r"\s*\((s|B|Gbit/s)\)")
# The most decimals of ticks.
_MOST_DECIMALS = 9
_SIGNIFICANT = 3
_GROUPED_FROM = 10_000
_LEAST, _MOST = 1e-9, 1e15


@dataclass(frozen=True)
class Unit:
    """The unit that is printed, and the factor from the unit of reports to it."""

    name: str
    many: float

    @property
    def suffix(self) -> str:
        """The text after a number: a thin space and the unit, or nothing."""
        return f"{THIN}{self.name}" if self.name else ""


@dataclass(frozen=True)
class Label:
    """A label of an axis in two parts, around its unit: `FCT`, `s`, `, small`. The unit of a bare number is `1`."""

    before: str
    unit: str
    after: str

    @classmethod
    def read(cls, text: str) -> "Label":
        """Reads a label such as `FCT (s)`."""
        match = _UNIT_IN_LABEL.search(text)
        if match is None:
            return cls(text, "1", "")
        return cls(text[: match.start()], match[1], text[match.end() :])

    def in_unit(self, unit: Unit | None) -> str:
        """The label with another unit, or with none."""
        shown = f" ({unit.name})" if unit is not None and unit.name else ""
        return f"{self.before}{shown}{self.after}"


def fitting_unit(value: float, unit: str) -> Unit:
    """The unit that fits `value`, given in `unit` of reports."""
    name, many = fitting(value, unit)
    return Unit(name.replace("us", "µs"), many)


def significant_decimals(value: float) -> int:
    """The number of decimals with which `value` has three significant digits."""
    if value == 0:
        return 0
    return max(_SIGNIFICANT - 1 - int(f"{value:.{_SIGNIFICANT - 1}e}".partition("e")[2]), 0)


def fixed(value: float, decimals: int) -> str:
    """A number with `decimals` decimals (-1: in tens), a minus sign, and thin spaces between thousands."""
    if value != 0 and not _LEAST <= abs(value) < _MOST:
        return f"{value:.2e}".replace("-", _MINUS)
    written = f"{round(abs(value), decimals):.0f}" if decimals < 0 else f"{abs(value):.{decimals}f}"
    whole, point, rest = written.partition(".")
    if int(whole) >= _GROUPED_FROM:
        whole = f"{int(whole):,}".replace(",", THIN)
    sign = _MINUS if value < 0 and float(written) != 0 else ""
    return f"{sign}{whole}{point}{rest}"


def plain(value: float) -> str:
    """A number with three significant digits."""
    return fixed(value, significant_decimals(value))


def value_text(value: float, unit: str = "1") -> str:
    """A value in the unit that fits: `1.76 ms`."""
    shown = fitting_unit(value, unit)
    return plain(value * shown.many) + shown.suffix


def exact_text(value: float, unit: str = "1") -> str:
    """A value that was stated, in the unit that fits, with as many digits as it has: `10 ms`."""
    shown = fitting_unit(value, unit)
    return tick_texts([value * shown.many])[0] + shown.suffix


def estimate_text(estimate: Estimate, unit: str = "1") -> str:
    """A mean and its 95 % interval in the unit that fits the mean: `1.76 ms [1.65, 1.87]`."""
    mean, low, high = estimate.mean, estimate.low, estimate.high
    if mean is None:
        return "no value"
    if low is None or high is None:
        return value_text(mean, unit)
    shown = fitting_unit(mean, unit)
    mean, low, high = (value * shown.many for value in (mean, low, high))
    if not math.isfinite(high - low):
        return f"{plain(mean)}{shown.suffix} [{plain(low)},{THIN}{plain(high)}]"
    decimals = significant_decimals(mean) if low == high else interval_decimals(mean, low, high)
    text, *ends = (fixed(value, decimals) for value in (mean, low, high))
    interval = f" [{f',{THIN}'.join(ends)}]" if low == high or ends[0] != ends[1] else ""
    return f"{text}{shown.suffix}{interval}"


def tick_texts(values: Sequence[float]) -> list[str]:
    """Ticks of one axis: as few decimals as write every one exactly, the same number for all; 0 is `0`."""
    decimals = next(
        (n for n in range(_MOST_DECIMALS) if all(_is_exact(value, n) for value in values)),
        _MOST_DECIMALS,
    )
    return ["0" if value == 0 else fixed(value, decimals) for value in values]


def power_texts(values: Sequence[float]) -> list[str]:
    """Ticks of a logarithmic axis: each has its own decimals, such as 0.01, 1 and 100."""
    return [tick_texts([value])[0] for value in values]


def _is_exact(value: float, decimals: int) -> bool:
    return math.isclose(float(f"{value:.{decimals}f}"), value, rel_tol=1e-9, abs_tol=1e-300)
