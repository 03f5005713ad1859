"""The answer of results without claims: the difference between schemes that is supported best, as a sentence."""

from collections.abc import Iterator
from dataclasses import dataclass

from priolane.report.overview import ALL, ClassTable, Entry, Overview, Quantity, Row
from priolane.report.sentences.contrast import flows
from priolane.report.sentences.places import place_text
from priolane.report.sentences.quantities import quantity_words
from priolane.report.sentences.values import estimate_text, short_text
from priolane.report.sentences.words import sentence_case
from priolane.results.estimate import paired_change

# The units that sentences know; tables have shares in per cent.
_UNITS = ("s", "Gbit/s", "1")


@dataclass(frozen=True)
class Difference:
    """A sentence without intervals, its numbers with them, the class that it is about, and what it rests on."""

    headline: str
    numbers: str
    of_class: str | None
    basis: str


@dataclass(frozen=True)
class _Lead:
    """The scheme that is best in a metric of a class at a point, the next one, and the p value between both."""

    section: ClassTable
    quantity: Quantity
    rows: tuple[Row, Row]
    entries: tuple[Entry, Entry]
    p: float


def difference(view: Overview, ran: str) -> Difference:
    """The metric in which the best scheme is separated best from the next one; where none is, the spread of the first
    metric over the schemes. `ran` tells what ran."""
    leads = sorted(_leads(view), key=lambda lead: lead.p)
    if leads:
        return _of_lead(view, leads[0], len(leads))
    section = next((table for table in view.classes if table.rows and table.quantities), None)
    if section is None:
        return Difference(f"{sentence_case(ran)}: no flow was measured", "", None, "")
    return _of_spread(view, section)


def _leads(view: Overview) -> Iterator[_Lead]:
    """The metrics that have a best scheme, class by class and point by point."""
    for section in view.classes:
        for nth, quantity in enumerate(section.quantities):
            if not quantity.better or quantity.unit not in _UNITS:
                continue
            for best in (row for row in section.rows if row.entries[nth].best):
                others = [row for row in section.rows if row.point == best.point and row is not best]
                known = [row for row in others if row.entries[nth].estimate.mean is not None]
                if known:
                    after = min(known, key=lambda row: -quantity.better * (row.entries[nth].estimate.mean or 0.0))
                    entries = (best.entries[nth], after.entries[nth])
                    p = _p(entries, quantity)
                    if p is not None:
                        yield _Lead(section, quantity, (best, after), entries, p)


def _p(entries: tuple[Entry, Entry], quantity: Quantity) -> float | None:
    first, second = entries
    seeds = [seed for seed in first.by_seed if seed in second.by_seed]
    values = [[entry.by_seed[seed] for seed in seeds] for entry in (second, first)]
    return paired_change(values[0], values[1], quantity.nature).p if len(seeds) > 1 else None


def _of_lead(view: Overview, lead: _Lead, many: int) -> Difference:
    best, after = lead.rows
    what, unit = f"{quantity_words(lead.quantity.name)}{_of(lead.section)}", lead.quantity.unit
    place = place_text(best.point, view.points)
    where = f" at {place}" if place else ""
    values = [short_text([entry.estimate], unit) for entry in lead.entries]
    extreme = "highest" if lead.quantity.better > 0 else "lowest"
    texts = [
        f"{row.scheme}: {estimate_text(entry.estimate, unit)}"
        for row, entry in zip(lead.rows, lead.entries, strict=True)
    ]
    also = f"one of {many} metrics in which a scheme is the best" if many > 1 else "the only metric with a best scheme"
    return Difference(
        headline=f"{best.scheme} has the {extreme} {what}{where}: {values[0]}, next is {after.scheme} with {values[1]}",
        numbers=" · ".join(texts),
        of_class=lead.section.name,
        basis=f"paired by seed, 95 %; {also}; no correction for their number",
    )


def _of_spread(view: Overview, section: ClassTable) -> Difference:
    """The first metric of the first class, where no scheme is the best."""
    quantity = section.quantities[0]
    last = section.rows[-1].point
    rows = [row for row in section.rows if row.point == last and row.entries[0].estimate.mean is not None]
    unit = quantity.unit if quantity.unit in _UNITS else "1"
    what = f"{quantity_words(quantity.name)}{_of(section)}"
    place = place_text(last, view.points)
    where = f" at {place}" if place else ""
    value = short_text([row.entries[0].estimate for row in rows], unit)
    schemes = len(view.schemes)
    if schemes == 1:
        headline = f"{sentence_case(what)} with {rows[0].scheme if rows else view.schemes[0]} is {value}{where}"
    else:
        headline = f"Open: {what} is {value} with {schemes} schemes{where}; no scheme is shown to be the best"
    numbers = " · ".join(f"{row.scheme}: {estimate_text(row.entries[0].estimate, unit)}" for row in rows[:3])
    basis = "one seed has no interval" if len(view.seeds) == 1 else "paired by seed, 95 %"
    return Difference(headline, numbers, section.name, basis)


def _of(section: ClassTable) -> str:
    return "" if section.name == ALL else f" of {flows(section.name)}"
