"""Names of ticks: numbers in another unit on linear axes, powers of ten on logarithmic ones."""

import math

from matplotlib.axis import Axis
from matplotlib.ticker import FuncFormatter

# A logarithmic axis over less than so many times its lowest value has hardly one power of ten, or no two or five.
_FEW_DECADES = 40
_HALF_A_DECADE = 5


def power_text(value: float, _position: int | None = None) -> str:
    """A tick of a logarithmic axis: 0.1 to 100 in full, other powers of ten with a raised exponent."""
    exponent = round(math.log10(value)) if value > 0 else 0
    if -1 <= exponent <= 2 or not math.isclose(value, 10.0**exponent):
        return f"{value:g}"
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def name_ticks(axis: Axis, scale: float) -> None:
    """Names ticks of a linear axis in another unit."""
    if scale != 1.0:
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value * scale:.6g}"))


def name_powers(axis: Axis, scale: float) -> None:
    """Names powers of ten on a logarithmic axis and, where it shows hardly one, twos and fives between, or all."""

    def power(value: float, _position: int | None = None) -> str:
        return power_text(value * scale)

    def between(value: float, _position: int | None = None) -> str:
        low, high = (end * scale for end in axis.get_view_interval())
        value *= scale
        exponent = math.floor(math.log10(value)) if value > 0 else 0
        digit = value / 10.0**exponent
        named = (2, 5) if high > low * _HALF_A_DECADE else range(2, 10)
        if not (0 < low < high <= low * _FEW_DECADES) or not any(math.isclose(digit, d) for d in named):
            return ""
        whole = power_text(10.0**exponent)
        return f"{value:g}" if whole[-1] in "01" else f"{digit:.0f}\N{MULTIPLICATION SIGN}{whole}"

    axis.set_major_formatter(FuncFormatter(power))
    axis.set_minor_formatter(FuncFormatter(between))
