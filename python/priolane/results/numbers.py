"""Numbers as people read them: the rules of decimals and units, for the page, its figures, and the console.

A value without an interval has three significant digits. An interval keeps one digit of its half width, or two if that
begins with 1 or 2, and its mean and both ends have the same number of decimals. A value is told in the unit in which it
is at least 1.
"""

import math
import re

# The units that axes have in brackets behind their label.
_IN_BRACKETS = re.compile(r"\((s|B|Gbit/s)\)")
# By the unit that reports have: units that a reader is told, and how many of each are one of the report's.
UNITS = {
    "s": (("s", 1.0), ("ms", 1e3), ("us", 1e6), ("ns", 1e9)),
    "B": (("GB", 1e-9), ("MB", 1e-6), ("kB", 1e-3), ("B", 1.0)),
    "Gbit/s": (("Gbit/s", 1.0), ("Mbit/s", 1e3)),
    "1": (("", 1.0),),
    "part": (("%", 100.0),),
}

_THREE_DIGITS = 0.9995
"""From here on, a number is 1.00 in three digits."""
_MOST_DECIMALS = 3
_SMALL = 0.1


def short(value: float) -> str:
    """A number to three significant digits, without an exponent where it reads well without one."""
    if value == 0:
        return "0"
    if abs(value) >= 1e5 or abs(value) < 1e-3:
        return f"{value:.2e}"
    digits = f"{value:#.3g}"
    return f"{float(digits):.0f}" if "e" in digits else digits.rstrip(".")


def fitting(value: float, unit: str) -> tuple[str, float]:
    """The unit in which a value in `unit` (`s`, `B`, `Gbit/s`, `1`, or `part` of all) is at least 1.00, or the
    smallest, and how many of it are one `unit`."""
    units = UNITS[unit]
    return next(((name, many) for name, many in units if abs(value) * many >= _THREE_DIGITS), units[-1])


def interval_decimals(mean: float, low: float, high: float) -> int:
    """The number of decimals of a mean and both ends of its interval, which differ; -1 rounds to tens.

    Half of the interval keeps one digit, or two if it begins with 1 or 2, and the least end two, or one below 0.1: it
    must not be rounded to what a claim sets. There are at most three decimals, except for a mean far below 1: ends that
    then look the same are not shown.
    """
    half = (high - low) / 2
    if not math.isfinite(half):
        return min(place_of_digit(mean, 2), _MOST_DECIMALS)
    mantissa, _, exponent = f"{half:.1e}".partition("e")
    decimals = (1 if mantissa[0] in "12" else 0) - int(exponent)
    least = min((abs(value) for value in (mean, low, high) if value), default=1.0)
    decimals = max(decimals, place_of_digit(least, 2 if least >= _SMALL else 1))
    return min(decimals, max(_MOST_DECIMALS, place_of_digit(mean, 2)))


def place_of_digit(value: float, digits: int) -> int:
    """The number of decimals with which a value has `digits` significant digits; 0 for the value 0."""
    return digits - 1 - math.floor(math.log10(abs(value))) if value else 0


def relabelled(label: str, largest: float) -> tuple[str, float]:
    """A label such as `Mean FCT (s)` of values up to `largest` with the unit that fits them, and how many of it are one
    of the label's unit. A label without a unit, or values at or below 0, stay as they are."""
    match = _IN_BRACKETS.search(label)
    if match is None or largest <= 0:
        return label, 1.0
    unit, scale = fitting(largest, match[1])
    return f"{label[: match.start()]}({unit}){label[match.end() :]}", scale


def format_value(value: float, unit: str) -> str:
    """A value in `unit` in the unit that fits it: `1.76 ms`."""
    name, many = fitting(value, unit)
    return f"{short(value * many)} {name}".rstrip()
