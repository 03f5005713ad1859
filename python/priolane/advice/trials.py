"""Simulated runs of candidates on the list: the experiment files that are written, and the values that runs give."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from priolane.advice.candidate import Candidate
from priolane.advice.fabric import Fabric
from priolane.advice.feasible import requires, shipped
from priolane.advice.flow_list import FlowList
from priolane.advice.goals import Goal
from priolane.advice.outcomes import Values
from priolane.advice.samples import COLUMNS, Trial, read_trial
from priolane.advice.windows import Windows, mean
from priolane.execution.grid import Watcher, run_grid
from priolane.execution.settings import Settings
from priolane.model.experiment import Options, plan
from priolane.model.toml import toml_text
from priolane.results.results import Results
from priolane.storage.files import write_whole
from priolane.storage.parquet_table import read_parquet

FLOWS = "flows"
"""The folder of the lists."""
# How much longer than its flows start a run may take.
_LIMIT_S = 30.0
_NS_PER_S = 1e9
# Instructions of runs for which processes are not started: they take a second to start.
_WORTH_PROCESSES = 2e11

Trials = Mapping[int, Trial]
"""The trials of a candidate by seed; seeds draw paths and the order at one instant."""


@dataclass
class Experiment:
    """An experiment file of candidates on the list, as it is written to `path`.

    Flows that start in `windows` are measured. Where these end before the list, flows go on to start until the measured
    ones have completed. `simple` is always among the schemes: what `[switch]` and `[host]` state must apply to one of
    them. `lists` is the folder of the lists, `squeeze` theirs, and `group_keys` has further keys of their groups, by
    name. `changes` are further top-level keys, `more_groups` further groups, and `tail` is TOML that follows them
    (panels and claims).
    """

    path: Path
    title: str
    fabric: Fabric
    flows: FlowList
    windows: Windows
    simple: Candidate
    candidates: dict[str, Candidate] = field(default_factory=dict)
    seeds: Sequence[int] = (1,)
    lists: str = FLOWS
    group_keys: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    changes: Mapping[str, Any] = field(default_factory=dict)
    more_groups: Sequence[Mapping[str, Any]] = ()
    tail: str = ""
    squeeze: float = 1.0

    def write(self) -> None:
        """Writes the file."""
        write_whole(self.path, self.text())

    @property
    def own_windows(self) -> Windows:
        """The windows in the time of the lists."""
        return self.windows.squeezed(self.squeeze)

    def text(self) -> str:
        """The file's text."""
        keys: dict[str, Any] = {
            "title": self.title,
            "schemes": list(self.schemes),
            "seeds": list(self.seeds),
            "time": self._time(),
            **self.fabric.experiment,
            "group": [*self._groups, *self.more_groups],
            "metrics": {"classes": self.classes},
        }
        if self.fabric.ecn is not None and self._marks:
            keys["switch"] = {**keys["switch"], "ecn": self.fabric.ecn}
        keys |= self.changes
        lines = [f"{key} = {toml_text(value)}" for key, value in keys.items() if not _is_table(value)]
        for key, value in keys.items():
            if _is_table(value):
                lines += [f"[{key}]", *(f"{name} = {toml_text(inner)}" for name, inner in value.items())]
        for name, candidate in self.schemes.items():
            if candidate.rows:
                lines += [f"# {candidate.description}", f"[scheme.{name}]"]
                lines += [f"{row} = {toml_text(of)}" for row, of in candidate.rows.items()]
        return "\n".join([*lines, self.tail]).rstrip() + "\n"

    @property
    def _groups(self) -> list[dict[str, Any]]:
        return [{**entry, **self.group_keys.get(entry["name"], {})} for entry in self.flows.entries(self.lists)]

    def _time(self) -> dict[str, Any]:
        windows = self.own_windows
        measured = windows.end_ns - windows.length_ns
        span = self.flows.span_ns / self.squeeze
        time = {"warmup": f"{windows.length_ns}ns", "measure": f"{measured}ns"}
        if windows.end_ns < span:
            time["arrivals"] = "continue"
        limit = max(windows.end_ns, span) / _NS_PER_S + _LIMIT_S
        return {**time, "drain": True, "limit": f"{limit:.0f}s"}

    @property
    def schemes(self) -> dict[str, Candidate]:
        """All that are in the file."""
        return {self.simple.name: self.simple, **self.candidates}

    @property
    def classes(self) -> dict[str, Any]:
        """The classes of flows, of the lists alone."""
        groups = self.flows.groups
        of_lists = groups[0] if len(groups) == 1 else list(groups)
        return {name: {"group": of_lists, **of} for name, of in self.fabric.classes.items()}

    @property
    def _marks(self) -> bool:
        bases = {str(candidate.rows.get("base", candidate.name)) for candidate in self.schemes.values()}
        return any("ecn" in requires(shipped()[base]) for base in bases)

    def run(self, out: Path, names: Sequence[str], how: "RunOptions") -> Results:
        """Runs some of the candidates; what is there is kept."""
        options = Options(schemes=tuple(names), seeds=tuple(sorted(self.seeds)))
        settings = how.settings
        if sum(plan(self.path, options).costs) < _WORTH_PROCESSES:
            settings = replace(settings, jobs=1)
        return run_grid(self.path, out, options, settings, how.watcher)

    def trials(self, out: Path, names: Sequence[str], how: "RunOptions", goals: Sequence[Goal]) -> dict[str, Trials]:
        """The trials of some of the candidates."""
        return self.read(self.run(out, names, how), names, goals, self.own_windows)

    def read(
        self, results: Results, names: Sequence[str], goals: Sequence[Goal], windows: Windows
    ) -> dict[str, Trials]:
        """The trials of some of the candidates, whose flows are read in windows."""
        trials: dict[str, dict[int, Trial]] = {name: {} for name in names}
        for run in results.runs:
            table = read_parquet(results.checked(run.id, "flows.parquet"), COLUMNS)
            rows = table.filter(pq.filters_to_expression([("group", "in", list(self.flows.groups))]))
            trial = read_trial(rows, results.records[run.id], goals, self.fabric.classes, windows)
            trials[run.scheme][run.seed] = replace(trial, run=run.id)
        return dict(trials)


@dataclass(frozen=True)
class RunOptions:
    """The way in which runs are executed, and the observers of their progress."""

    settings: Settings
    watcher: Watcher


def _is_table(value: object) -> bool:
    return isinstance(value, Mapping)


def values(trials: Mapping[str, Trials]) -> dict[str, Values]:
    """The values of candidates, each the mean over its seeds; `None` where a seed has none."""
    return {name: values_of(of) for name, of in trials.items()}


def values_of(of: Trials) -> Values:
    """The values of one candidate, the mean over its seeds."""
    return _mean([trial.values for trial in of.values()])


def bare(of: Trials) -> Values:
    """The values of goals if each flow were alone in the network."""
    return _mean([trial.bare for trial in of.values()])


def _mean(of: Sequence[Values]) -> Values:
    means = {}
    for name in of[0]:
        known = [own for value in of if (own := value[name]) is not None]
        means[name] = mean(known) if len(known) == len(of) else None
    return means


def timed_out_parts(of: Trials) -> dict[str, float]:
    """The part of the slowest flows that had a timeout, by class: the mean over seeds."""
    first = next(iter(of.values()))
    return {name: sum(trial.timed_out[name] for trial in of.values()) / len(of) for name in first.timed_out}


def longest_s(of: Trials, goals: Sequence[Goal]) -> float:
    """The longest completion time of a flow of the goals, in seconds."""
    return max(trial.longest_s[goal.name] for trial in of.values() for goal in goals)


def hops(trials: Mapping[str, Trials]) -> int:
    """Packet-hops of all runs."""
    return sum(trial.hops for of in trials.values() for trial in of.values())
