"""Measured values in sentences: decimals that the interval justifies, one unit, several values in a few words."""

from collections.abc import Iterable, Sequence
from enum import StrEnum

from priolane.results.estimate import Estimate
from priolane.results.numbers import fitting, interval_decimals, place_of_digit, short

NO_BREAK = "\N{NO-BREAK SPACE}"
"""Stands between a number and its unit, so that no line ends there."""

# More values than this are told as their range.
_MOST_LISTED = 3


class Detail(StrEnum):
    """The amount of detail in a sentence."""

    FULL = "full"
    """Each with its interval and place, or of many their range and number."""
    BRIEF = "brief"
    """Their range, as a title has it: intervals and places stand below."""


Place = tuple[str, Estimate]
"""The place where a value was measured, in words (empty for the only place), and the value."""


def number_text(value: float, unit: str) -> str:
    """A number without interval, to three digits, in the unit that fits."""
    name, many = fitting(value, unit)
    return _with_unit(short(value * many), name)


def estimate_text(estimate: Estimate, unit: str, word: str = "") -> str:
    """A mean with its interval: `6.04 [5.87, 6.22] Gbit/s`; `word` stands behind the mean: `2.9 times [1.9, 4.4]`."""
    if estimate.mean is None:
        return "no value"
    name, many = fitting(estimate.mean, unit)
    mean, *ends = rounded(estimate, many)
    interval = f" [{', '.join(ends)}]" if ends and ends[0] != ends[1] else ""
    return _with_unit(f"{mean}{word}{interval}", name)


def rounded(estimate: Estimate, scale: float, decimals: int | None = None) -> list[str]:
    """The mean and both ends of the interval, each times `scale`, with as many decimals as the interval justifies, or
    with those of a column, of which the mean keeps one digit at least. Without an interval, the mean has three digits.
    """
    values = _ends(estimate, scale)
    if values is None:
        return [] if estimate.mean is None else [short(estimate.mean * scale)]
    own = interval_decimals(*values) if decimals is None else max(decimals, place_of_digit(values[0], 1))
    return [_fixed(value, own) for value in values]


def common_decimals(estimates: Iterable[Estimate], scale: float) -> int | None:
    """The decimals of a column of values: one more than its widest interval justifies if that suits the others;
    `None` without intervals."""
    intervals = (_ends(estimate, scale) for estimate in estimates)
    decimals = [interval_decimals(*values) for values in intervals if values is not None]
    return min(min(decimals) + 1, max(decimals)) if decimals else None


def _ends(estimate: Estimate, scale: float) -> tuple[float, float, float] | None:
    """The mean and both ends of an interval that has a width; `None` without one."""
    mean, low, high = estimate.mean, estimate.low, estimate.high
    if mean is None or low is None or high is None or low == high:
        return None
    return scale * mean, scale * low, scale * high


def _fixed(value: float, decimals: int) -> str:
    if decimals < 0:
        step = 10.0**-decimals
        return f"{round(value / step) * step:.0f}"
    text = f"{value:.{decimals}f}"
    return short(value) if float(text) == 0 and value != 0 else text


def listed(places: Sequence[Place], unit: str, word: str = "") -> str:
    """Several values: `2.9 [1.9, 4.4] at load 0.5, and 3.5 [3.0, 4.2] at load 0.8`; more than three as their range."""
    if len(places) > _MOST_LISTED:
        return range_text([estimate for _, estimate in places], unit, word)
    texts = [_at(estimate_text(estimate, unit, word), place) for place, estimate in places]
    return texts[0] if len(texts) == 1 else ", ".join(texts[:-1]) + f", and {texts[-1]}"


def short_text(estimates: Sequence[Estimate], unit: str, word: str = "") -> str:
    """The values without intervals, as a title has them: `2.9 times`, or the smallest to the largest mean."""
    known = sorted(
        (estimate for estimate in estimates if estimate.mean is not None), key=lambda estimate: estimate.mean or 0.0
    )
    if not known:
        return "no value"
    name, many = fitting(known[-1].mean or 0.0, unit)
    decimals = common_decimals((known[0], known[-1]), many)
    ends = list(dict.fromkeys(rounded(estimate, many, decimals)[0] for estimate in (known[0], known[-1])))
    return _with_unit(" to ".join(ends) + word, name)


def range_text(estimates: Sequence[Estimate], unit: str, word: str = "") -> str:
    """The smallest and the largest mean, and of how many: `1.1 to 3.5 times (9 values)`."""
    means = sorted(estimate.mean for estimate in estimates if estimate.mean is not None)
    if not means:
        return "no value"
    name, many = fitting(means[-1], unit)
    ends = list(dict.fromkeys(short(end * many) for end in (means[0], means[-1])))
    return f"{_with_unit(' to '.join(ends) + word, name)} ({len(estimates)} values)"


def _at(text: str, place: str) -> str:
    return f"{text} at {place}" if place else text


def _with_unit(text: str, name: str) -> str:
    return f"{text}{NO_BREAK}{name}" if name else text
