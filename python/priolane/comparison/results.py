"""Two results side by side: which metrics moved, by how much, and whether luck alone could have moved them.

Runs are paired by scheme and sweep point, and within those by seed. A metric of such a pair is tested

- *paired* where at least two seeds are in both: the ratios b / a of the seeds (`priolane.results.estimate`);
- *unpaired* where not, but each side has at least two seeds: the difference of the means, by Welch's t;
- else not at all: a change of one seed has no interval.

Both are of logarithms if all values are above 0, so that means are geometric and a relative change is above -100 %.
Where a value is 0 or below, the change is the difference itself, of arithmetic means. A metric has *moved* if its p
value, corrected by Holm's method for the number of metrics tested, is at most 0.05.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from priolane import _core
from priolane._core import InputError
from priolane.model.experiment import PlannedRun
from priolane.results.estimate import Nature, over_seeds, paired_change
from priolane.results.numbers import format_value, short
from priolane.results.results import Results, load
from priolane.storage.directory import RUN_FILE

RUN = "run"
# The probability that intervals cover.
LEVEL = _core.level()
# The complement of `deadline_miss_rate`, and what moves whenever `timed_out` does.
_LEFT_OUT = ("deadline_meet_ratio", "timed_out_fct_share", "timed_out_p50_fct_s")

Group = tuple[str, str]
BySeed = dict[int, dict[str, Any]]


class Difference(NamedTuple):
    """A change with its 95 % interval and its two-sided p value against no change; `None` without an interval."""

    mean: float
    low: float | None
    high: float | None
    p: float | None


class Design(StrEnum):
    """The way in which a metric's values were compared."""

    PAIRED = "paired"
    UNPAIRED = "unpaired"
    UNTESTED = "no interval"


class Finding(StrEnum):
    """The result of the comparison. `SUGGESTED`: the metric's own interval excludes 0, but among so many some do by
    luck."""

    MOVED = "moved"
    SUGGESTED = "suggested"
    WITHIN = "within noise"
    UNTESTED = "not tested"
    SAME = "same"


@dataclass(frozen=True)
class Change:
    """One metric of one scheme, sweep point and size class in two results.

    `first` and `second` are means over the seeds that are compared, geometric where `relative` is true; `change` is
    the ratio of both less 1, or the difference itself where `relative` is false. `seeds` counts those of each side,
    `shared` those of both.
    `corrected` is the p value after Holm's correction.
    """

    scheme: str
    point: Mapping[str, Any]
    size_class: str
    metric: str
    first: float
    second: float
    relative: bool
    design: Design
    seeds: tuple[int, int]
    shared: int
    change: float
    low: float | None
    high: float | None
    p: float | None
    corrected: float | None
    finding: Finding


@dataclass(frozen=True)
class Setting:
    """A key of the merged experiment with different values in runs that are compared; `None` where it is absent."""

    key: str
    first: Any
    second: Any


@dataclass(frozen=True)
class OtherRecord:
    """A run whose tables are the same in both results, while its record has another value for `key`."""

    run: PlannedRun
    key: str
    first: Any
    second: Any


@dataclass(frozen=True)
class Comparison:
    """The common part of two results, and their differences. Changes come in order of importance.

    `runs` have the same scheme, point and seed; `same` of them are identical to the bit, tables and record; `others`
    have the same tables and another record. `unknown` counts metrics that only one side has a value for. `versions`
    are those of each side.
    """

    changes: tuple[Change, ...]
    settings: tuple[Setting, ...]
    versions: tuple[tuple[str, ...], tuple[str, ...]]
    runs: int
    same: int
    others: tuple[OtherRecord, ...]
    only_first: tuple[PlannedRun, ...]
    only_second: tuple[PlannedRun, ...]
    missing: tuple[int, int]
    unknown: int

    @property
    def identical(self) -> bool:
        """Whether both have the same runs, each identical to the bit."""
        return self.runs == self.same > 0 and not self.only_first and not self.only_second

    @property
    def tested(self) -> int:
        """Number of metrics with a p value: the family that is corrected for."""
        return sum(change.p is not None for change in self.changes)

    def found(self, finding: Finding) -> list[Change]:
        """The changes of one finding."""
        return [change for change in self.changes if change.finding is finding]


_FLOWS = "flows"
# Numbers of flows that differ by more are not those of the same traffic.
_MOST_OTHER_FLOWS = 0.01


def other_flows(comparison: "Comparison") -> str:
    """A warning where the sides do not have the same number of flows in a run; empty where they have.

    Completion times of a file that is cut off are those of its first flows.
    """
    of_runs = [change for change in comparison.changes if (change.size_class, change.metric) == (RUN, _FLOWS)]
    others = [
        change for change in of_runs if change.first and abs(change.second / change.first - 1) > _MOST_OTHER_FLOWS
    ]
    if not others:
        return ""
    worst = max(others, key=lambda change: abs(math.log(change.second / change.first)) if change.second else math.inf)
    return (
        f"not the same traffic: runs of {worst.scheme} have {worst.first:,.0f} flows in the first and "
        f"{worst.second:,.0f} in the second. Is a file cut off?"
    )


def compare(first: Results | str | Path, second: Results | str | Path) -> Comparison:
    """Compares two results, or those in two directories.

    Raises `InputError` if a file is damaged or missing, or nothing is in both.
    """
    first = first if isinstance(first, Results) else load(first)
    second = second if isinstance(second, Results) else load(second)
    first.verify()
    second.verify()
    left, right = _grouped(first), _grouped(second)
    common = [group for group in left if group in right]
    if not common:
        raise InputError(
            f"{first.directory} and {second.directory} have no run in common: no scheme at the same sweep point"
        )
    planned = {(*_group(run), run.seed): run for results in (first, second) for run in results.runs}
    pairs = [
        (planned[(*group, seed)], left[group][seed], right[group][seed])
        for group in common
        for seed in left[group]
        if seed in right[group]
    ]
    differing = {run.id: _differing(a, b) for run, a, b in pairs}
    changes, unknown = [], 0
    for group in common:
        for name, a, b in _metrics(left[group], right[group]):
            run = planned[(*group, next(iter(left[group])))]
            change = change_of((run.scheme, run.point), name, (a, b))
            unknown += change is None
            changes += [] if change is None else [change]
    return Comparison(
        changes=tuple(with_findings(changes)),
        settings=tuple(_settings([(left[group], right[group]) for group in common])),
        versions=(_versions(first), _versions(second)),
        runs=len(pairs),
        same=sum(reason is None for reason in differing.values()),
        others=tuple(
            OtherRecord(run, *reason)
            for run, a, b in pairs
            if (reason := differing[run.id]) is not None and a["digest"] == b["digest"]
        ),
        only_first=tuple(_only(planned, left, right)),
        only_second=tuple(_only(planned, right, left)),
        missing=(len(first.missing()), len(second.missing())),
        unknown=unknown,
    )


# The unit in which a name ends, the one that it is shown in, and how many of that are one of it.
_UNITS = {"s": ("s", 1.0), "bps": ("Gbit/s", 1e-9), "bytes": ("B", 1.0)}


def metric_text(name: str, value: float) -> str:
    """A value of a metric of `summary` or `counters` with the unit in which its name ends: `4.95 us` of mean_fct_s."""
    stem, _, end = name.rpartition("_")
    if not stem or end not in _UNITS:
        return short(value)
    unit, many = _UNITS[end]
    return format_value(value * many, unit)


def change_text(change: Change) -> str:
    """The change with its 95 % interval, if it has one: `-40 % [-45 %, -35 %]`."""

    def spelled(value: float) -> str:
        return f"{100 * value:+.3g} %" if change.relative else f"{value:+.3g}"

    if change.low is None or change.high is None:
        return spelled(change.change)
    return f"{spelled(change.change)} [{spelled(change.low)}, {spelled(change.high)}]"


_NOT_RESULTS = frozenset(_core.not_results())


def _differing(first: Mapping[str, Any], second: Mapping[str, Any]) -> tuple[str, Any, Any] | None:
    """Dotted name and values of the first result that differs between two records of a run; `None` if none does."""
    a, b = ({key: value for key, value in side.items() if key not in _NOT_RESULTS} for side in (first, second))
    if a == b:
        return None
    flat = _flat("", a), _flat("", b)
    keys = (key for key in dict.fromkeys([*flat[0], *flat[1]]) if flat[0].get(key) != flat[1].get(key))
    key = next(keys, "")
    return key, flat[0].get(key), flat[1].get(key)


def _group(run: PlannedRun) -> Group:
    return run.scheme, repr(sorted(run.point.items()))


def _grouped(results: Results) -> dict[Group, BySeed]:
    planned = {run.id: run for run in results.runs}
    groups: dict[Group, BySeed] = {}
    for name, record in _records(results).items():
        groups.setdefault(_group(planned[name]), {})[planned[name].seed] = record
    return groups


def _records(results: Results) -> dict[str, dict[str, Any]]:
    records = results.records
    for name, record in records.items():
        wanted = {"digest": str, "version": str, "merged": dict, "summary": dict, "counters": dict}
        wrong = [key for key, kind in wanted.items() if not isinstance(record.get(key), kind)]
        if wrong:
            path = results.place(name).file(RUN_FILE)
            raise InputError(f"{path}: no `{'`, `'.join(wrong)}` of this version; run the experiment again")
    return records


def _versions(results: Results) -> tuple[str, ...]:
    return tuple(sorted({record["version"] for record in results.records.values()}))


def _only(
    planned: Mapping[tuple[str, str, int], PlannedRun], here: dict[Group, BySeed], there: dict[Group, BySeed]
) -> Iterator[PlannedRun]:
    for group, seeds in here.items():
        yield from (planned[(*group, seed)] for seed in seeds if seed not in there.get(group, {}))


def _metrics(
    left: BySeed, right: BySeed
) -> Iterator[tuple[tuple[str, str], dict[int, float | None], dict[int, float | None]]]:
    """Class and name of every metric of either side, with its values by seed."""
    names: dict[tuple[str, str], None] = {}
    sides = [{seed: _values(record) for seed, record in side.items()} for side in (left, right)]
    for side in sides:
        for values in side.values():
            names.update(dict.fromkeys(values))
    for name in names:
        known = [
            {seed: value for seed, values in side.items() if (value := values.get(name)) is not None} for side in sides
        ]
        means = [over_seeds(name, values, side) for values, side in zip(known, (left, right), strict=True)]
        a, b = ({seed: of.get(seed) for seed in side} for of, side in zip(means, sides, strict=True))
        yield name, a, b


def _values(record: Mapping[str, Any]) -> dict[tuple[str, str], float | None]:
    classes = {RUN: record["counters"], **record["summary"]}
    return {
        (size_class, name): float(value) if _is_number(value) else None
        for size_class, values in classes.items()
        for name, value in values.items()
        if name not in _LEFT_OUT
    }


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def change_of(
    of: tuple[str, Mapping[str, Any]],
    name: tuple[str, str],
    values: tuple[Mapping[int, float | None], Mapping[int, float | None]],
) -> Change | None:
    """The change of one metric, `name` being class and metric, of a scheme at a sweep point; `None` if only one side,
    or neither, knows it."""
    a, b = ({seed: value for seed, value in side.items() if value is not None} for side in values)
    both = [seed for seed in a if seed in b]
    design = Design.PAIRED if len(both) > 1 else Design.UNPAIRED if min(len(a), len(b)) > 1 else Design.UNTESTED
    if both and design is not Design.UNPAIRED:
        a, b = {seed: a[seed] for seed in both}, {seed: b[seed] for seed in both}
    if not a or not b:
        return None
    first, second = list(a.values()), list(b.values())
    relative = min(*first, *second) > 0
    difference = _difference(first, second, _nature(name), relative=relative, design=design)
    # What is the same, seed by seed, did not move: there is nothing to be lucky about.
    same = design is not Design.UNPAIRED and first == second and bool(both)
    tested = difference.p is not None and not same
    return Change(
        scheme=of[0],
        point=of[1],
        size_class=name[0],
        metric=name[1],
        first=_mean(first, geometric=relative),
        second=_mean(second, geometric=relative),
        relative=relative,
        design=design,
        seeds=(len(first), len(second)),
        shared=len(both),
        change=difference.mean,
        low=difference.low if tested else None,
        high=difference.high if tested else None,
        p=difference.p if tested else None,
        corrected=None,
        finding=Finding.SAME if same else Finding.UNTESTED,
    )


def _nature(name: tuple[str, str]) -> Nature:
    """The kind of a metric's values: those of whole runs are counts."""
    size_class, metric = name
    return Nature.EVENTS if size_class == RUN else Nature(_core.summary_nature(metric))


def _difference(
    first: Sequence[float], second: Sequence[float], nature: Nature, *, relative: bool, design: Design
) -> Difference:
    if design is Design.PAIRED:
        change = paired_change(first, second, nature)
        less = 1.0 if change.is_ratio else 0.0
        of = change.estimate
        low, high = (None if end is None else end - less for end in (of.low, of.high))
        return Difference((of.mean or 0.0) - less, low, high, change.p)
    if design is Design.UNPAIRED:
        values = [[math.log(value) for value in side] for side in (first, second)] if relative else [first, second]
        mean, low, high, p = _core.welch(*values)
        ends = [math.expm1(end) if relative else end for end in (mean, low, high)]
        return Difference(ends[0], ends[1], ends[2], p)
    before, after = (_mean(side, geometric=relative) for side in (first, second))
    return Difference(after / before - 1 if relative else after - before, None, None, None)


def _mean(values: Sequence[float], *, geometric: bool) -> float:
    """The geometric mean, or the arithmetic one."""
    if geometric:
        return math.exp(math.fsum(map(math.log, values)) / len(values))
    return math.fsum(values) / len(values)


def with_findings(changes: Sequence[Change]) -> list[Change]:
    """The changes with corrected p values and findings, those beyond noise first, the largest first."""
    family = [change for change in changes if change.p is not None]
    corrected = _core.holm([change.p for change in family if change.p is not None])
    assessed = [change for change in changes if change.p is None]
    for change, p in zip(family, corrected, strict=True):
        own = change.p is not None and change.p <= 1 - LEVEL
        finding = Finding.MOVED if p <= 1 - LEVEL else Finding.SUGGESTED if own else Finding.WITHIN
        assessed.append(replace(change, corrected=p, finding=finding))
    order = list(Finding)
    # A change from 0 is larger than any relative one.
    return sorted(assessed, key=lambda change: (order.index(change.finding), change.relative, -abs(change.change)))


def _settings(groups: Sequence[tuple[BySeed, BySeed]]) -> list[Setting]:
    """Keys whose values differ in some scheme and point, each pair of values once."""
    settings: dict[tuple[str, str, str], Setting] = {}
    for left, right in groups:
        a, b = (_flat("", next(iter(side.values()))["merged"]) for side in (left, right))
        for key in dict.fromkeys([*a, *b]):
            if a.get(key) != b.get(key):
                settings[(key, repr(a.get(key)), repr(b.get(key)))] = Setting(key, a.get(key), b.get(key))
    return list(settings.values())


def _flat(key: str, value: Any) -> dict[str, Any]:
    """Dotted keys and their values; the tables of a list are keyed by their names where they have one."""
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        value = {str(item.get("name", nth)): item for nth, item in enumerate(value)}
    if not isinstance(value, dict) or not value:
        return {key: value}
    flat: dict[str, Any] = {}
    for name, item in value.items():
        flat.update(_flat(f"{key}.{name}" if key else str(name), item))
    return flat
