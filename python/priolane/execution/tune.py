"""Thresholds of priority by size, optimised against the simulator (AuTO of Firapam's Table I).

    start      the scheme's thresholds, as its file states them
    step       one threshold times or over a factor, if they stay in order and whole: kept if the cost falls
    factors    4, 2, 1.4, 1.2, each until no step of any threshold is better

The cost is the mean of a metric over the experiment's points and seeds: the same flows for every try.
docs/assumptions.md#auto-thresholds.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from priolane import _core
from priolane._core import InputError
from priolane.execution.grid import run_grid
from priolane.execution.settings import Settings
from priolane.model import quantity
from priolane.model.experiment import Options, check
from priolane.model.toml import toml_text

FACTORS = (4.0, 2.0, 1.4, 1.2)

# What can be made least.
METRICS = tuple(metric["name"] for metric in json.loads(_core.metrics()) if metric["tuned"])


Thresholds = tuple[int, ...]


@dataclass(frozen=True)
class Evaluation:
    """Thresholds in bytes, and what they cost."""

    thresholds: Thresholds
    cost: float


def descend(start: Sequence[int], cost: Callable[[Thresholds], float], *, most: int = 200) -> list[Evaluation]:
    """Every try in order, at most `most`; the best is the one of least cost, the earliest of equals."""
    tried: dict[Thresholds, float] = {}

    def costs(thresholds: Thresholds) -> float:
        if thresholds not in tried:
            tried[thresholds] = cost(thresholds)
        return tried[thresholds]

    best = tuple(start)
    costs(best)
    for factor in FACTORS:
        better = True
        while better and len(tried) < most:
            better = False
            for step in _steps(best, factor):
                if len(tried) < most and costs(step) < tried[best]:
                    best, better = step, True
                    break
    return [Evaluation(thresholds, value) for thresholds, value in tried.items()]


def _steps(thresholds: Thresholds, factor: float) -> list[Thresholds]:
    steps = []
    for place, threshold in enumerate(thresholds):
        for moved in (round(threshold * factor), round(threshold / factor)):
            step = (*thresholds[:place], moved, *thresholds[place + 1 :])
            if moved >= 1 and list(step) == sorted(set(step)):
                steps.append(step)
    return steps


@dataclass(frozen=True)
class SimulatedCost:
    """The cost of thresholds of `scheme` in the experiment at `path`; results go below `out`."""

    path: Path
    scheme: str
    metric: str
    size_class: str
    options: Options
    settings: Settings
    out: Path

    def start(self) -> Thresholds:
        """The thresholds of the scheme's file; raises `InputError` where it has none by size."""
        merged: Mapping[str, Any] = check(self.path, self.options)["merged"]
        assign = merged.get("scheme", {}).get(self.scheme, {}).get("assign")
        if assign is None:
            known = ", ".join(merged.get("scheme", {}))
            raise InputError(f"{self.path}: key `scheme`: there is no scheme {self.scheme!r}; one of {known}")
        if assign["kind"] != "size":
            raise InputError(
                f"{self.path}: key `scheme.{self.scheme}.assign`: `{assign['kind']}` has no thresholds of size; "
                'assign = { kind = "size", thresholds = ["10kB", "1MB"] }'
            )
        return tuple(quantity.size(text) for text in assign["thresholds"])

    def cost(self, thresholds: Thresholds) -> float:
        """The mean of the metric over points and seeds; raises `InputError` where a run has none."""
        key = f"scheme.{self.scheme}.assign.thresholds"
        sets = (*self.options.sets, (key, toml_text([f"{bytes_}B" for bytes_ in thresholds])))
        options = Options(sets=sets, seeds=self.options.seeds, schemes=(self.scheme,), size=self.options.size)
        place = self.out / "-".join(str(threshold) for threshold in thresholds)
        results = run_grid(self.path, place, options, self.settings)
        values = [self._value(record) for record in results.records.values()]
        return sum(values) / len(values)

    def _value(self, record: Mapping[str, Any]) -> float:
        summary = record["summary"].get(self.size_class)
        if summary is None:
            known = ", ".join(record["summary"])
            raise InputError(f"{self.path}: key `metrics.classes`: there is no {self.size_class!r}; one of {known}")
        value = _core.summary_value(self.metric, json.dumps(summary))
        if value is None:
            raise InputError(f"{self.path}: {self.metric}.{self.size_class} has no value: no flow gives one")
        return value
