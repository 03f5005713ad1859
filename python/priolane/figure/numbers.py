"""How figures write numbers: decimals by the width of the interval, units that fit, and thin spaces.

Rules: an interval keeps one digit of its half width, or two if that begins with 1 or 2, and three decimals at most. A
value without an interval has three significant digits. From 10 000 on, thin spaces separate thousands. No number has an
exponent, unless it is below 1e-9 or from 1e15 on.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from priolane.report.estimate import Estimate
from priolane.report.numbers import UNITS

THIN = "\N{NARROW NO-BREAK SPACE}"
_MINUS = "\N{MINUS SIGN}"
_UNIT_IN_LABEL = re.compile(r"\s*\((s|B|Gbit/s)\)")
_MOST_DECIMALS = 3
# The most decimals where both ends of an interval would otherwise look the same.
_MOST_DECIMALS_TO_DIFFER = 9
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
        """What follows a number: a thin space and the unit, or nothing."""
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
        found = _UNIT_IN_LABEL.search(text)
        if found is None:
            return cls(text, "1", "")
        return cls(text[: found.start()], found[1], text[found.end() :])

    def in_unit(self, unit: Unit | None) -> str:
        """The label with another unit, or with none."""
        shown = f" ({unit.name})" if unit is not None and unit.name else ""
        return f"{self.before}{shown}{self.after}"


def fitting_unit(value: float, unit: str) -> Unit:
    """The unit in which `value`, given in `unit` of reports, is at least 1; the smallest one if there is none."""
    units = UNITS[unit]
    # 0.9996 ms are 1.00 ms in three digits.
    name, many = next((one for one in units if abs(value) * one[1] >= 0.9995), units[-1])
    return Unit(name.replace("us", "µs"), many)


def interval_decimals(half_width: float) -> int:
    """The number of decimals that an interval of that half width deserves."""
    mantissa, _, exponent = f"{half_width:.1e}".partition("e")
    digits = 2 if mantissa[0] in "12" else 1
    return min(max(digits - 1 - int(exponent), 0), _MOST_DECIMALS)


def significant_decimals(value: float) -> int:
    """The number of decimals with which `value` has three significant digits."""
    if value == 0:
        return 0
    return max(_SIGNIFICANT - 1 - int(f"{value:.{_SIGNIFICANT - 1}e}".partition("e")[2]), 0)


def fixed(value: float, decimals: int) -> str:
    """A number with `decimals` decimals, a minus sign, and thin spaces between thousands from 10 000 on."""
    if value != 0 and not _LEAST <= abs(value) < _MOST:
        return f"{value:.2e}".replace("-", _MINUS)
    written = f"{abs(value):.{decimals}f}"
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
    decimals = _decimals(mean, low, high)
    return f"{fixed(mean, decimals)}{shown.suffix} [{fixed(low, decimals)},{THIN}{fixed(high, decimals)}]"


def _decimals(mean: float, low: float, high: float) -> int:
    """The decimals of an interval. There are more if both ends would look the same, or the mean would look like 0."""
    if low == high:
        return significant_decimals(mean)
    decimals = interval_decimals((high - low) / 2)
    while decimals < _MOST_DECIMALS_TO_DIFFER and (
        fixed(low, decimals) == fixed(high, decimals) or (mean != 0 and float(f"{mean:.{decimals}f}") == 0)
    ):
        decimals += 1
    return decimals


def tick_texts(values: Sequence[float]) -> list[str]:
    """Ticks of one axis: as few decimals as write every one exactly, the same number for all; 0 is `0`."""
    decimals = next(
        (n for n in range(_MOST_DECIMALS_TO_DIFFER) if all(_is_exact(value, n) for value in values)),
        _MOST_DECIMALS_TO_DIFFER,
    )
    return ["0" if value == 0 else fixed(value, decimals) for value in values]


def power_texts(values: Sequence[float]) -> list[str]:
    """Ticks of a logarithmic axis: each has its own decimals, such as 0.01, 1 and 100."""
    return [tick_texts([value])[0] for value in values]


def _is_exact(value: float, decimals: int) -> bool:
    return math.isclose(float(f"{value:.{decimals}f}"), value, rel_tol=1e-9, abs_tol=1e-300)
