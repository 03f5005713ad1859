"""Numbers as people read them: three digits, in a unit that fits."""

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


def short(value: float) -> str:
    """A number to three significant digits, without an exponent where it reads well without one."""
    if value == 0:
        return "0"
    if abs(value) >= 1e5 or abs(value) < 1e-3:
        return f"{value:.2e}"
    digits = f"{value:#.3g}"
    return f"{float(digits):.0f}" if "e" in digits else digits.rstrip(".")


def fitting(value: float, unit: str) -> tuple[str, float]:
    """The unit in which a value in `unit` (`s`, `B`, `Gbit/s`, `1`, or `part` of all) is at least 1, or the smallest,
    and how many of it are one `unit`."""
    units = UNITS[unit]
    return next(((name, many) for name, many in units if abs(value) * many >= 1.0), units[-1])


def relabelled(label: str, largest: float) -> tuple[str, float]:
    """A label such as `Mean FCT (s)` of values up to `largest` with the unit that fits them, and how many of it are one
    of the label's unit. A label without a unit, or values at or below 0, stay as they are."""
    found = _IN_BRACKETS.search(label)
    if found is None or largest <= 0:
        return label, 1.0
    unit, scale = fitting(largest, found[1])
    return f"{label[: found.start()]}({unit}){label[found.end() :]}", scale


def format_value(value: float, unit: str) -> str:
    """A value in `unit` in the unit that fits it: `1.76 ms`."""
    name, many = fitting(value, unit)
    return f"{short(value * many)} {name}".rstrip()
