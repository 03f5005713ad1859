"""The table of results in words: one unit for a column, intervals in brackets, and what signs mean."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from priolane.report.overview import ALL, ClassTable, Entry, Overview, Quantity
from priolane.results.numbers import fitting, short

_COUNTS_FROM = 1000
_NAMES = {
    "fct": "mean FCT",
    "fct_p50": "median FCT",
    "fct_p99": "p99 FCT",
    "slowdown": "slowdown",
    "slowdown_p99": "p99 slowdown",
}


@dataclass(frozen=True)
class Column:
    """A quantity, the unit of what is shown (empty for none), and how many of it are one of the quantity's."""

    quantity: Quantity
    unit: str
    scale: float

    @property
    def is_count(self) -> bool:
        """Whether its values are counts of events, which are told in full."""
        return self.quantity.unit == "1" and not self.quantity.better


def column_name(quantity: Quantity) -> str:
    """The name of a column where its neighbours do not say what it is of: `p99 FCT`."""
    return _NAMES.get(quantity.name, quantity.label)


def columns_of(section: ClassTable) -> list[Column]:
    """The columns of a section, each in the unit that fits the (geometric) middle of its means."""
    return [
        _column(quantity, [row.entries[nth] for row in section.rows]) for nth, quantity in enumerate(section.quantities)
    ]


def _column(quantity: Quantity, entries: Sequence[Entry]) -> Column:
    if quantity.unit in ("%", "1"):
        return Column(quantity, quantity.unit if quantity.unit == "%" else "", 1.0)
    means = [mean for entry in entries if (mean := entry.estimate.mean) is not None and mean > 0]
    middle = math.exp(math.fsum(map(math.log, means)) / len(means)) if means else 0.0
    unit, scale = fitting(middle, quantity.unit)
    return Column(quantity, unit, scale)


def mean_text(column: Column, entry: Entry) -> str:
    """The mean to three digits; counts in full."""
    mean = entry.estimate.mean
    return "\N{EN DASH}" if mean is None else _number_text(column, mean)


def _number_text(column: Column, number: float) -> str:
    value = number * column.scale
    counted = column.is_count and value >= _COUNTS_FROM
    return f"{value:,.0f}" if counted else short(value) if value < 1e5 else f"{value:.0f}"


def interval_text(column: Column, entry: Entry) -> str:
    """Both ends of the 95 % interval; empty without an interval, or where it has no width."""
    low, high = entry.estimate.low, entry.estimate.high
    if low is None or high is None or low == high:
        return ""
    return f"[{_number_text(column, low)}, {_number_text(column, high)}]"


def value_text(value: object) -> str:
    """The value of a swept key."""
    return f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def heading(section: ClassTable) -> str:
    """The flows in a section, and their number in a run."""
    if section.flows is None:
        return section.text
    flows = f"{section.flows:,.0f} flow{'' if round(section.flows) == 1 else 's'} a run"
    return f"{section.name}: {section.text}; {flows}" if section.text else f"{section.name}: {flows}"


def _incomplete(view: Overview) -> tuple[list[str], list[str]]:
    """The schemes of which some value leaves out flows that did not finish, and what these values are called."""
    schemes: dict[str, None] = {}
    labels: dict[str, None] = {}
    for section in view.classes:
        for row in section.rows:
            for quantity, entry in zip(section.quantities, row.entries, strict=True):
                if entry.left_out:
                    schemes[row.scheme] = labels[column_name(quantity)] = None
    return list(schemes), list(labels)


def notes(view: Overview, sign: str) -> list[str]:
    """The content of intervals, the meaning of `sign`, and the origin of the classes, in sentences."""
    lines = []
    seeds = len(view.seeds)
    if view.missing:
        lines.append(f"{view.missing} runs are missing: means are over those that are there.")
    if seeds > 1:
        lines.append(
            f"Means over {seeds} seeds, geometric for quantities above 0, and in brackets the 95 % interval over "
            f"seeds ({view.drawn}). {sign}: best, and the 95 % interval of its change to each other scheme, seed by "
            "seed, excludes no change."
        )
        schemes, labels = _incomplete(view)
        if schemes:
            lines.append(
                f"Flows of {', '.join(schemes)} did not finish: they are left out of {', '.join(labels)}, which are "
                "not compared with those of other schemes."
            )
    else:
        lines.append("One seed: no intervals, so that no scheme is marked as best; --seeds 5 gives both.")
    usual = [f"{section.name} is {section.text}" for section in view.classes if section.name != ALL]
    if view.uses_default_classes and usual:
        lines.append(f"The experiment states no [metrics] classes: {', '.join(usual)}.")
    return lines
