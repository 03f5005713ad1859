"""Student's t: how likely a mean of a few differences is to lie this far from zero by luck, and intervals.

    P(|T| > t) = I_x(nu / 2, 1 / 2),  x = nu / (nu + t^2)

with the regularised incomplete beta function I, as its continued fraction (Abramowitz & Stegun 26.5.8) by Lentz's
method; nu need not be whole, as Welch's degrees of freedom are not.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

LEVEL = 0.95
_TINY = 1e-300
_MOST_TERMS = 10_000


@dataclass(frozen=True)
class Difference:
    """A mean difference with its 95 % interval and its two-sided p value against zero."""

    mean: float
    low: float
    high: float
    p: float


def paired(differences: Sequence[float]) -> Difference:
    """The t test of differences that belong together, at least two of them."""
    n = len(differences)
    mean = math.fsum(differences) / n
    return _test(mean, math.sqrt(_variance(differences) / n), n - 1)


def welch(first: Sequence[float], second: Sequence[float]) -> Difference:
    """The t test of `second` less `first`, two or more values each, whose variances may differ.

    Degrees of freedom: (u + v)^2 / (u^2 / (m - 1) + v^2 / (n - 1)) with u = s^2 / m of the one and v = s^2 / n of the
    other (Welch 1947).
    """
    u, v = _variance(first) / len(first), _variance(second) / len(second)
    mean = math.fsum(second) / len(second) - math.fsum(first) / len(first)
    below = u * u / (len(first) - 1) + v * v / (len(second) - 1)
    return _test(mean, math.sqrt(u + v), (u + v) ** 2 / below if below > 0 else 1.0)


def holm(values: Sequence[float]) -> list[float]:
    """p values corrected for their number, in the order given: any that is at most a is beyond luck at the level a
    for all of them together, whatever their dependence (Holm 1979)."""
    order = sorted(range(len(values)), key=values.__getitem__)
    corrected = [0.0] * len(values)
    worst = 0.0
    for rank, index in enumerate(order):
        worst = max(worst, min(1.0, (len(values) - rank) * values[index]))
        corrected[index] = worst
    return corrected


def outside(t: float, nu: float) -> float:
    """P(|T| > t) at `nu` degrees of freedom."""
    return _incomplete_beta(nu / (nu + t * t), nu / 2, 0.5) if math.isfinite(t) else 0.0


def quantile(nu: float) -> float:
    """The t for which |T| <= t with probability 0.95 at `nu` degrees of freedom, at least 1: up to 12.71."""
    low, high = 0.0, 16.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if outside(middle, nu) > 1 - LEVEL else (low, middle)
    return high


def _test(mean: float, error: float, nu: float) -> Difference:
    if error == 0:
        return Difference(mean, mean, mean, 1.0 if mean == 0 else 0.0)
    half = quantile(nu) * error
    return Difference(mean, mean - half, mean + half, outside(abs(mean) / error, nu))


def _variance(values: Sequence[float]) -> float:
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def _incomplete_beta(x: float, a: float, b: float) -> float:
    if x <= 0 or x >= 1:
        return min(max(x, 0.0), 1.0)
    if x > (a + 1) / (a + b + 2):  # where the fraction converges slowly, its mirror image converges fast
        return 1 - _incomplete_beta(1 - x, b, a)
    scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(scale) / a / _fraction(x, a, b)


def _fraction(x: float, a: float, b: float) -> float:
    """1 + d1 / (1 + d2 / (1 + ...)), whose reciprocal is the continued fraction of the incomplete beta function."""
    value = c = 1.0
    d = 0.0
    for term in range(1, _MOST_TERMS):
        m = term // 2
        if term % 2 == 0:
            step = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        else:
            step = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / _nonzero(1 + step * d)
        c = _nonzero(1 + step / c)
        value *= c * d
        if abs(c * d - 1) < 1e-15:
            return value
    return value


def _nonzero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
