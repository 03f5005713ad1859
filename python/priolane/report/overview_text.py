"""The table of results in words: one unit for a column, intervals as half their width, and what signs mean."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from priolane.report.numbers import fitting, short
from priolane.report.overview import ALL, ClassTable, Entry, Overview, Quantity

_COUNTS_FROM = 1000


@dataclass(frozen=True)
class Column:
    """A quantity, the unit of what is shown (empty for none), and how many of it are one of the quantity's."""

    quantity: Quantity
    unit: str
    scale: float


def columns_of(section: ClassTable) -> list[Column]:
    """The columns of a section, each in the unit that fits the (geometric) middle of its means."""
    return [
        _column(quantity, [row.entries[nth] for row in section.rows]) for nth, quantity in enumerate(section.quantities)
    ]


def _column(quantity: Quantity, entries: Sequence[Entry]) -> Column:
    if quantity.unit in ("%", "1"):
        return Column(quantity, quantity.unit if quantity.unit == "%" else "", 1.0)
    means = [entry.estimate.mean for entry in entries if entry.estimate.mean]
    middle = math.exp(math.fsum(map(math.log, means)) / len(means)) if means else 0.0
    unit, scale = fitting(middle, quantity.unit)
    return Column(quantity, unit, scale)


def mean_text(column: Column, entry: Entry) -> str:
    """The mean to three digits; counts in full."""
    mean = entry.estimate.mean
    if mean is None:
        return "\N{EN DASH}"
    value = mean * column.scale
    counted = column.quantity.unit == "1" and not column.quantity.better and value >= _COUNTS_FROM
    return f"{value:,.0f}" if counted else short(value) if value < 1e5 else f"{value:.0f}"


def half_text(column: Column, entry: Entry) -> str:
    """Half the width of the 95 % interval, to two digits; empty without an interval, or where it has no width."""
    estimate = entry.estimate
    if estimate.mean is None or estimate.high is None or estimate.high == estimate.mean:
        return ""
    half = (estimate.high - estimate.mean) * column.scale
    digits = 1 - math.floor(math.log10(half))
    return f"±{half:,.{max(digits, 0)}f}" if half >= 1e-4 else f"±{half:.1e}"


def value_text(value: object) -> str:
    """The value of a swept key."""
    return f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def heading(section: ClassTable) -> str:
    """Which flows are in a section, and how many of them a run has."""
    if section.flows is None:
        return section.text
    flows = f"{section.flows:,.0f} flow{'' if round(section.flows) == 1 else 's'} a run"
    return f"{section.name}: {section.text}; {flows}" if section.text else f"{section.name}: {flows}"


def notes(view: Overview, sign: str) -> list[str]:
    """What intervals contain, what `sign` marks, and where the classes come from, in sentences."""
    lines = []
    seeds = len(view.seeds)
    if view.missing:
        lines.append(f"{view.missing} runs are missing: means are over those that are there.")
    if seeds > 1:
        lines.append(
            f"Means over {seeds} seeds; ± is half the 95 % interval over seeds ({view.drawn}). {sign}: best, and the "
            "95 % interval of its difference to each other scheme, seed by seed, excludes 0."
        )
    else:
        lines.append("One seed: no intervals, so that no scheme is marked as best; --seeds 5 gives both.")
    usual = [f"{section.name} is {section.text}" for section in view.classes if section.name != ALL]
    if view.uses_default_classes and usual:
        lines.append(f"The experiment states no [metrics] classes: {', '.join(usual)}.")
    return lines
