"""The table of results: what every scheme makes of every class of flows, point by point, and which is best.

Values are estimates over seeds (`priolane.results.estimate`): their 95 % intervals contain what a seed draws, and
nothing else. A scheme is *best* in a metric if its mean is, and the 95 % interval of its change to each other scheme,
paired by seed, excludes no change (an intersection-union test: no correction for the number of schemes is needed). The
value that leaves out flows that did not finish leaves out the slowest of them: it is never the best, and no scheme is
compared with it. Which values do, the compiled module says: means by Little's law count every flow.
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from priolane import _core
from priolane.results.estimate import Estimate, Nature, over_seeds, paired_change
from priolane.results.results import Results
from priolane.storage.record_shape import require_totals

ALL = "all"
_LARGEST_P = 1 - _core.level()

# Members of a record of tokens: those that were too old.
EXPIRED = ("expired_at_hosts", "expired_at_ports")

Record = Mapping[str, Any]
BySeed = Mapping[int, float]


@dataclass(frozen=True)
class Quantity:
    """A column: what it is called, its unit (`s`, `Gbit/s`, `%` or `1`), how it is read, and the nature of its values.

    `better` is -1 where less is better, 1 where more is, and 0 where neither is.
    """

    name: str
    label: str
    unit: str
    better: int
    read: Callable[[Record, str], float | None]
    nature: Nature = Nature.QUANTITY


def _of_class(key: str, scale: float = 1.0) -> Callable[[Record, str], float | None]:
    def read(record: Record, size_class: str) -> float | None:
        value = record["summary"].get(size_class, {}).get(key)
        return None if value is None else scale * float(value)

    return read


def _counted(key: str) -> Callable[[Record, str], float | None]:
    return lambda record, _: record["counters"].get(key)


def _tokens(*keys: str) -> Callable[[Record, str], float | None]:
    def read(record: Record, _: str) -> float | None:
        tokens = record.get("tokens")
        return None if tokens is None else float(sum(tokens[key] for key in keys))

    return read


def dropped_data(record: Record) -> int | None:
    """Packets dropped for want of room, tokens aside; `None` where nobody counts them."""
    drops: int | None = record["counters"]["drops"]
    return None if drops is None else drops - (record.get("tokens") or {}).get("dropped", 0)


def _trimmed(record: Record, _: str) -> float:
    return float(sum(row.get("trimmed", {}).get("packets", 0) for row in record.get("ledger", [])))


OF_CLASSES = (
    Quantity("fct", "FCT mean", "s", -1, _of_class("mean_fct_s")),
    Quantity("fct_p50", "median", "s", -1, _of_class("p50_fct_s")),
    Quantity("fct_p99", "p99", "s", -1, _of_class("p99_fct_s")),
    Quantity("slowdown", "slowdown", "1", -1, _of_class("mean_slowdown")),
    Quantity("slowdown_p99", "its p99", "1", -1, _of_class("p99_slowdown")),
    Quantity("goodput", "goodput", "Gbit/s", 1, _of_class("goodput_bps", 1e-9)),
    Quantity("timeouts", "timeouts", "1", 0, _of_class("timeouts"), Nature.EVENTS),
    Quantity("timed_out", "timed out", "%", 0, _of_class("timed_out", 100.0), Nature.EVENTS),
)
OF_RUNS = (
    Quantity("unfinished", "unfinished", "1", 0, lambda record, _: record["summary"][ALL]["unfinished"], Nature.EVENTS),
    Quantity("drops", "drops", "1", 0, lambda record, _: dropped_data(record), Nature.EVENTS),
    Quantity("trimmed", "trimmed", "1", 0, _trimmed, Nature.EVENTS),
    Quantity("lost", "lost on links", "1", 0, _counted("lost"), Nature.EVENTS),
    Quantity("timeouts", "timeouts", "1", 0, _counted("timeouts"), Nature.EVENTS),
    Quantity("tokens_dropped", "tokens dropped", "1", 0, _tokens("dropped"), Nature.EVENTS),
    Quantity("tokens_expired", "tokens expired", "1", 0, _tokens(*EXPIRED), Nature.EVENTS),
)
# Columns that stand even where all is 0.
_ALWAYS = ("drops", "timeouts")


@dataclass(frozen=True)
class Entry:
    """A value and, by seed, what it is the mean of. `best`: it is beyond what luck gives the other schemes.
    `left_out` counts the flows that did not finish and are not in it."""

    estimate: Estimate
    by_seed: BySeed
    best: bool = False
    left_out: int = 0


@dataclass(frozen=True)
class Row:
    """A scheme at a sweep point, in one class of flows or over whole runs: entries in the order of the section."""

    scheme: str
    point: Mapping[str, Any]
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class ClassTable:
    """The rows of one class of flows, or of whole runs: `text` which flows are in it, `flows` how many a run, mean."""

    name: str
    text: str
    flows: float | None
    quantities: tuple[Quantity, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Overview:
    """All sections: the classes of flows, `all` first, and whole runs last.

    `seeds` are those of the grid, `drawn` says what a seed changes; `missing` counts runs that are not there;
    `uses_default_classes` is whether the classes are those of experiments that state none.
    """

    title: str
    seeds: tuple[int, ...]
    drawn: str
    missing: int
    uses_default_classes: bool
    classes: tuple[ClassTable, ...]
    runs: ClassTable

    @property
    def sections(self) -> tuple[ClassTable, ...]:
        """The classes and the whole runs."""
        return (*self.classes, self.runs)

    @property
    def points(self) -> tuple[Mapping[str, Any], ...]:
        """The sweep points, in the order of the grid."""
        rows = (row for section in self.sections for row in section.rows)
        return tuple({repr(row.point): row.point for row in rows}.values())

    @property
    def schemes(self) -> tuple[str, ...]:
        """The schemes, in the order of the grid."""
        return tuple(dict.fromkeys(row.scheme for section in self.sections for row in section.rows))


def overview(results: Results) -> Overview:
    """The table of all runs that are there; raises `InputError` if a record is damaged."""
    results.require(require_totals)
    cells = _cells(results)
    stated = results.experiment.get("metrics", {}).get("classes") or {}
    classes = [
        _class_section(cells, name, text) for name, text in _classes(results, stated or _default_classes()).items()
    ]
    shown = [section for section in classes if section.flows]
    if not stated and shown:
        # A usual class that has every flow says nothing more.
        shown = [section for section in shown if section.name == ALL or section.flows != shown[0].flows]
    return Overview(
        title=results.title,
        seeds=tuple(dict.fromkeys(run.seed for run in results.runs)),
        drawn=_drawn(results.experiment),
        missing=len(results.missing()),
        uses_default_classes=not stated,
        classes=tuple(shown),
        runs=_without_zeros(ClassTable("run", "whole runs", None, OF_RUNS, tuple(_rows(cells, "", OF_RUNS)))),
    )


Cells = Mapping[tuple[str, str], tuple[Mapping[str, Any], Mapping[int, Record]]]


def _cells(results: Results) -> Cells:
    """By sweep point and scheme: the point, and the record of each seed that is there."""
    cells: dict[tuple[str, str], tuple[Mapping[str, Any], dict[int, Record]]] = {}
    for run in results.runs:
        _, by_seed = cells.setdefault((repr(sorted(run.point.items())), run.scheme), (run.point, {}))
        if run.id in results.records:
            by_seed[run.seed] = results.records[run.id]
    return cells


@cache
def _default_classes() -> Mapping[str, Any]:
    read: dict[str, Any] = json.loads(_core.usual_classes())
    return read


def _classes(results: Results, stated: Mapping[str, Any]) -> dict[str, str]:
    """The classes that the records have, each with which flows are in it: `all`, then from small flows to large."""
    there = dict.fromkeys(name for record in results.records.values() for name in record["summary"])
    names = [ALL, *sorted((name for name in there if name != ALL), key=lambda name: _place(stated.get(name, {})))]
    return {name: "all flows" if name == ALL else bounds_text(stated.get(name, {})) for name in names}


def _place(bounds: Mapping[str, Any]) -> int:
    """Classes that have no lower bound come first, those that have no upper one last."""
    return ("from" in bounds or "above" in bounds) - ("below" in bounds or "to" in bounds)


_BOUNDS = {"from": "from", "above": "above", "below": "below", "to": "up to"}
_MOST_NAMED = 2
_OF = {"group": "group", "cos": "class of service", "asked": "class asked", "given": "class given"}


def bounds_text(bounds: Mapping[str, Any]) -> str:
    """The flows in a class that is stated so: `from 10kB, below 100kB, group all`."""
    parts = [f"{word} {bounds[key]}" for key, word in _BOUNDS.items() if key in bounds]
    for key, word in _OF.items():
        if key in bounds:
            value = bounds[key]
            parts.append(f"{word} {_one_of(value) if isinstance(value, list) else value}")
    return ", ".join(parts)


def _one_of(values: Sequence[Any]) -> str:
    """Values of which a class has any: `x or y`, `x, y, or 2 others`."""
    if len(values) <= _MOST_NAMED + 1:
        return " or ".join(map(str, values))
    return ", ".join(map(str, values[:_MOST_NAMED])) + f", or {len(values) - _MOST_NAMED} others"


def _drawn(experiment: Mapping[str, Any]) -> str:
    """The changes that a seed makes, and so the variation that intervals over seeds contain."""
    groups = experiment.get("group", [])
    recorded = [group.get("app") in ("flows", "coflow_trace") for group in groups]
    if groups and all(recorded):
        return "seeds change only paths and ties: flows are a fixed list, and intervals do not cover other flows"
    return "each seed draws new flows, paths, and ties" + ("; recorded flows stay the same" if any(recorded) else "")


def _class_section(cells: Cells, name: str, text: str) -> ClassTable:
    flows = [
        float(record["summary"].get(name, {}).get("flows", 0))
        for _, by_seed in cells.values()
        for record in by_seed.values()
    ]
    rows = tuple(_rows(cells, name, OF_CLASSES))
    mean = math.fsum(flows) / len(flows) if flows else None
    return _without_zeros(ClassTable(name, text, mean, OF_CLASSES, _with_best(rows, OF_CLASSES)))


def _rows(cells: Cells, size_class: str, quantities: Sequence[Quantity]) -> Iterable[Row]:
    for (_, scheme), (point, by_seed) in cells.items():
        yield Row(scheme, point, tuple(_entry(quantity, size_class, by_seed) for quantity in quantities))


def _entry(quantity: Quantity, size_class: str, records: Mapping[int, Record]) -> Entry:
    read = {seed: quantity.read(record, size_class) for seed, record in records.items()}
    by_seed = {seed: float(value) for seed, value in read.items() if value is not None}
    by_seed = over_seeds((size_class, quantity.name), by_seed, records)
    most = 100.0 if quantity.unit == "%" else math.inf
    estimate = Estimate.of(list(by_seed.values()), quantity.nature).within(0.0, most)
    left = sum(_left_out(quantity, size_class, record) for record in records.values()) if quantity.better else 0
    return Entry(estimate, by_seed, left_out=left)


def _left_out(quantity: Quantity, size_class: str, record: Record) -> int:
    """The number of flows of a class that did not finish and are not in the value of a metric."""
    means = "littles_law" if size_class in record.get("steady", {}) else "completed_flows"
    counted_in = _counted_in(quantity.name, means)
    return 0 if counted_in is None else int(record["summary"].get(size_class, {}).get(counted_in, 0))


@cache
def _counted_in(metric: str, means: str) -> str | None:
    return _core.left_out(metric, means)


def _with_best(rows: Sequence[Row], quantities: Sequence[Quantity]) -> tuple[Row, ...]:
    """The rows with the best scheme of each point marked, quantity by quantity."""
    marked = list(rows)
    for point in {repr(row.point) for row in rows}:
        places = [place for place, row in enumerate(rows) if repr(row.point) == point]
        for nth, quantity in enumerate(quantities):
            best = _best([rows[place].entries[nth] for place in places], quantity)
            if best is not None:
                row = marked[places[best]]
                entries = [replace(entry, best=entry.best or at == nth) for at, entry in enumerate(row.entries)]
                marked[places[best]] = replace(row, entries=tuple(entries))
    return tuple(marked)


def _best(entries: Sequence[Entry], quantity: Quantity) -> int | None:
    """The place of the best entry of those that leave out no flow; `None` if intervals do not separate it from every
    other of them."""
    known = [
        (entry.estimate.mean, place)
        for place, entry in enumerate(entries)
        if entry.estimate.mean is not None and not entry.left_out
    ]
    if quantity.better == 0 or len(known) < 2:
        return None
    _, best = max(known) if quantity.better > 0 else min(known)
    others = (entries[place] for _, place in known if place != best)
    return best if all(_separated(entries[best], other, quantity.nature) for other in others) else None


def _separated(entry: Entry, other: Entry, nature: Nature) -> bool:
    """Whether the 95 % interval of the change, paired by seed, excludes no change."""
    seeds = [seed for seed in entry.by_seed if seed in other.by_seed]
    if len(seeds) < 2:
        return False
    p = paired_change([other.by_seed[seed] for seed in seeds], [entry.by_seed[seed] for seed in seeds], nature).p
    return p is not None and p <= _LARGEST_P


def _without_zeros(section: ClassTable) -> ClassTable:
    """The section without columns that have no value, and without counts that are 0 everywhere. If no column is left,
    it has no rows."""

    def says_something(nth: int, quantity: Quantity) -> bool:
        means = [row.entries[nth].estimate.mean for row in section.rows]
        if quantity.better or quantity.name in _ALWAYS:
            return any(mean is not None for mean in means)
        return any(means)

    kept = [nth for nth, quantity in enumerate(section.quantities) if says_something(nth, quantity)]
    if not kept:
        return replace(section, quantities=(), rows=())
    return replace(
        section,
        quantities=tuple(section.quantities[nth] for nth in kept),
        rows=tuple(replace(row, entries=tuple(row.entries[nth] for nth in kept)) for row in section.rows),
    )
