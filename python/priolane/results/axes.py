"""Labels, units and scales of axes where an experiment states none: chosen from what is drawn."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from priolane import _core
from priolane.results.numbers import fitting

# Values that span more than two decades are drawn along a logarithmic axis.
DECADES = 100.0
LOG_SCALE = "log scale"

_WORDS = {
    "fct": "mean FCT",
    "fct_acked": "mean FCT, acknowledged",
    "fct_bound": "bound of mean FCT",
    "slowdown": "mean slowdown",
    "cct": "mean CCT",
    "gain": "gain in mean FCT",
    "cct_gain": "gain in mean CCT",
    "cv": "coefficient of variation of FCT",
}
_PERCENTILE = re.compile(r"(fct|cct|slowdown|queue)_p(\d+)")
# What a metric is of a single flow.
_OF_FLOWS = {"fct": "FCT", "slowdown": "slowdown", "size": "size"}
_OF_UNITS = {"s": "time", "B": "size", "Gbit/s": "rate", "1": "", "part": ""}
# Units that stand beside no label.
_BARE = ("1", "part")

# By the units that values are written with: the unit of reports, and how many of it one is.
_WRITTEN = {
    **{unit: ("s", scale) for unit, scale in (("ps", 1e-12), ("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0))},
    **{unit: ("B", scale) for unit, scale in (("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9))},
    **{unit: ("Gbit/s", scale) for unit, scale in (("bps", 1e-9), ("kbps", 1e-6), ("Mbps", 1e-3), ("Gbps", 1.0))},
    "Tbps": ("Gbit/s", 1e3),
    "pkt": ("pkt", 1.0),
}
_VALUE = re.compile(r"([0-9.]+)\s*([A-Za-z]+)")


@cache
def _units() -> Mapping[str, str]:
    return {metric["name"]: metric["unit"] for metric in json.loads(_core.metrics())}


def metrics_label(metrics: Sequence[str], *, of_flows: bool = False) -> str:
    """The name of the values of metrics such as `fct_p99.small`, with their unit: `FCT p99, small (s)`. Empty if they
    have neither a name nor a unit in common."""
    parts = [metric.partition(".")[::2] for metric in metrics]
    quantities, classes = (list(dict.fromkeys(part[nth] for part in parts)) for nth in (0, 1))
    units = {_units().get(quantity, "1") for quantity in quantities}
    if len(units) != 1:
        return ""
    unit = units.pop()
    words = quantity_label(quantities[0], of_flows=of_flows) if len(quantities) == 1 else _OF_UNITS[unit]
    of_class = f", {classes[0]}" if words and len(classes) == 1 and classes[0] not in ("", "all") else ""
    return f"{words}{of_class}" + ("" if unit in _BARE else f" ({unit})")


def quantity_label(name: str, *, of_flows: bool = False) -> str:
    """The name of the values of a quantity along an axis: `mean FCT`, `FCT p99`."""
    if of_flows and name in _OF_FLOWS:
        return _OF_FLOWS[name]
    match = _PERCENTILE.fullmatch(name)
    if match is not None:
        about = match[1].upper() if match[1] in ("fct", "cct") else match[1]
        return f"{about} p{match[2] if len(match[2]) < 3 else f'{match[2][:2]}.{match[2][2:]}'}"
    return _WORDS.get(name, name.replace("_", " "))


def key_label(key: str) -> str:
    """A swept key in words, with its unit if that is known: `load (part of capacity)` for `group.all.load.value`."""
    parts = key.split(".")
    if parts[0] in ("group", "scheme") and len(parts) > 2:
        parts = parts[2:]
    elif parts[0] == "topology" and len(parts) > 1:
        parts = parts[1:]
    if parts[-1] == "value" and len(parts) > 1:
        parts = parts[:-1]
    words = " ".join(part.replace("_", " ") for part in parts)
    return "load (part of capacity)" if parts[-1] == "load" else words


class Numbers(NamedTuple):
    """Values with units as numbers in one unit."""

    by_text: dict[str, float]
    unit: str


def in_numbers(texts: Sequence[object]) -> Numbers | None:
    """Values such as "10us" and "1ms" in the unit that fits the largest; `None` if they are not all of one kind."""
    numbers: dict[str, float] = {}
    units = set()
    for text in texts:
        read = _VALUE.fullmatch(text) if isinstance(text, str) else None
        if read is None or read[2] not in _WRITTEN or read[1].count(".") > 1:
            return None
        unit, scale = _WRITTEN[read[2]]
        units.add(unit)
        numbers[str(text)] = float(read[1]) * scale
    if len(units) != 1:
        return None
    unit = units.pop()
    name, many = ("pkt", 1.0) if unit == "pkt" else fitting(max(numbers.values()), unit)
    return Numbers({text: float(f"{value * many:.12g}") for text, value in numbers.items()}, name)


def spans_decades(values: Sequence[float | str | None], *, inclusive: bool = True) -> bool:
    """Whether values are all positive numbers, and the largest is 100 times the least, or more than that if not
    `inclusive`."""
    numbers = [value for value in values if isinstance(value, int | float)]
    if not numbers or len(numbers) != len(values) or min(numbers) <= 0:
        return False
    return max(numbers) >= DECADES * min(numbers) if inclusive else max(numbers) > DECADES * min(numbers)


def with_scale(label: str, *, scaled: bool) -> str:
    """A label that says that its axis is logarithmic, if that was not asked for."""
    if not scaled:
        return label
    return f"{label}, {LOG_SCALE}" if label else LOG_SCALE
