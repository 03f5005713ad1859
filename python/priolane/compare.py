"""Two results side by side: what changed, run by run with the same seed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from priolane.experiment import PlannedRun
from priolane.results import Results

METRICS = ("mean_fct_s", "p99_fct_s", "mean_slowdown")

Key = tuple[str, str, int]


@dataclass(frozen=True)
class Change:
    """One metric of one size class in two results: means over the seeds that both have, and the ratios per seed."""

    scheme: str
    point: Mapping[str, Any]
    size_class: str
    metric: str
    first: float
    second: float
    ratios: tuple[float, ...]


@dataclass(frozen=True)
class Comparison:
    """What two results have in common."""

    changes: tuple[Change, ...]
    runs: int
    same_digest: int
    only_first: int
    only_second: int


def compare(first: Results, second: Results) -> Comparison:
    """Pairs the runs of two results by scheme, sweep point and seed."""
    left, right = _by_key(first), _by_key(second)
    shared = [key for key in left if key in right]
    groups: dict[tuple[str, str], list[Key]] = {}
    for key in shared:
        groups.setdefault(key[:2], []).append(key)
    changes = [
        change
        for keys in groups.values()
        for change in _changes(left[keys[0]][0], [(left[key][1], right[key][1]) for key in keys])
    ]
    same = sum(left[key][1]["digest"] == right[key][1]["digest"] for key in shared)
    return Comparison(
        changes=tuple(changes),
        runs=len(shared),
        same_digest=same,
        only_first=len(left) - len(shared),
        only_second=len(right) - len(shared),
    )


def _by_key(results: Results) -> dict[Key, tuple[PlannedRun, dict[str, Any]]]:
    planned = {run.id: run for run in results.runs}
    return {
        (planned[name].scheme, repr(sorted(planned[name].point.items())), planned[name].seed): (
            planned[name],
            record,
        )
        for name, record in results.records.items()
    }


def _changes(run: PlannedRun, pairs: list[tuple[dict[str, Any], dict[str, Any]]]) -> list[Change]:
    classes = [name for name in pairs[0][0]["summary"] if all(name in b["summary"] for _, b in pairs)]
    changes = []
    for name in classes:
        for metric in METRICS:
            values = [(a["summary"][name].get(metric), b["summary"][name].get(metric)) for a, b in pairs]
            known = [(a, b) for a, b in values if a and b is not None]
            if known:
                first = sum(a for a, _ in known) / len(known)
                second = sum(b for _, b in known) / len(known)
                ratios = tuple(b / a for a, b in known)
                changes.append(Change(run.scheme, run.point, name, metric, first, second, ratios))
    return changes
