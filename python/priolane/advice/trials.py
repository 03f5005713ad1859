"""Simulated runs of candidates on blocks: the experiment files that are written, and the values that runs give."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from priolane._core import InputError
from priolane.advice.candidate import Candidate
from priolane.advice.fabric import Fabric
from priolane.advice.feasible import requires, shipped
from priolane.advice.flow_blocks import Blocks
from priolane.advice.goals import Goal, Values
from priolane.experiment import Options, toml_text
from priolane.files import write_whole
from priolane.grid import Watcher, run_grid
from priolane.report.estimate import Estimate
from priolane.results import Results
from priolane.settings import Settings

FLOWS = "flows"
"""The folder of the blocks."""
# How much longer than its flows start a run may take.
_LIMIT_S = 30.0
_NS_PER_S = 1e9


@dataclass(frozen=True)
class Trial:
    """The results of a run: values by `metric.class`, packet-hops, and for each class the numbers of flows and coflows,
    the number of flows that did not finish, and the part of the tail that had a timeout."""

    values: Values
    hops: int
    flows: Mapping[str, int]
    unfinished: Mapping[str, int]
    timed_out: Mapping[str, float | None]
    offered: float
    coflows: Mapping[str, int] = field(default_factory=dict)


@dataclass
class Experiment:
    """An experiment file of candidates on blocks, as it is written to `path`.

    `simple` is always among the schemes: what `[switch]` and `[host]` state must apply to one of them. `lists` is the
    folder of the blocks. `changes` are further top-level keys, `tail` TOML that follows them (panels and claims).
    `squeeze` is that of the blocks in `lists`.
    """

    path: Path
    title: str
    fabric: Fabric
    blocks: Blocks
    simple: Candidate
    candidates: dict[str, Candidate] = field(default_factory=dict)
    seeds: Sequence[int] = ()
    lists: str = FLOWS
    changes: Mapping[str, Any] = field(default_factory=dict)
    tail: str = ""
    squeeze: float = 1.0

    def write(self) -> None:
        """Writes the file."""
        write_whole(self.path, self.text())

    def text(self) -> str:
        """The file's text."""
        warm, length = (round(ns / self.squeeze) for ns in (self.blocks.warm_ns, self.blocks.length_ns))
        limit = (warm + length) / _NS_PER_S + _LIMIT_S
        time = {"warmup": f"{warm}ns", "measure": f"{length}ns", "drain": True, "limit": f"{limit:.0f}s"}
        keys: dict[str, Any] = {
            "title": self.title,
            "schemes": list(self.schemes),
            "seeds": list(self.seeds),
            "time": time,
            **self.fabric.experiment,
            "group": self.blocks.groups(self.lists),
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
    def schemes(self) -> dict[str, Candidate]:
        """All that are in the file."""
        return {self.simple.name: self.simple, **self.candidates}

    @property
    def classes(self) -> dict[str, Any]:
        """The classes of flows, of the lists alone."""
        groups = self.blocks.table.groups
        of_lists = groups[0] if len(groups) == 1 else list(groups)
        return {name: {"group": of_lists, **of} for name, of in self.fabric.classes.items()}

    @property
    def _marks(self) -> bool:
        bases = {str(one.rows.get("base", one.name)) for one in self.schemes.values()}
        return any("ecn" in requires(shipped()[base]) for base in bases)

    def run(self, out: Path, names: Sequence[str], seeds: Sequence[int], how: "RunOptions") -> Results:
        """Runs some of the candidates on some of the blocks; what is there is kept."""
        options = Options(schemes=tuple(names), seeds=tuple(sorted(seeds)))
        return run_grid(self.path, out, options, how.settings, how.watcher)


@dataclass(frozen=True)
class RunOptions:
    """The way in which runs are executed, and the observers of their progress."""

    settings: Settings
    watcher: Watcher


def _is_table(value: object) -> bool:
    return isinstance(value, Mapping)


def trials(results: Results, goals: Sequence[Goal]) -> dict[str, dict[int, Trial]]:
    """The results of each candidate on each block; raises `InputError` for a class that the experiment does not
    have."""
    found: dict[str, dict[int, Trial]] = {}
    for run in results.runs:
        record = results.records[run.id]
        found.setdefault(run.scheme, {})[run.seed] = trial(record, goals)
    return found


def trial(record: Mapping[str, Any], goals: Sequence[Goal]) -> Trial:
    """The results of one run."""
    summary: Mapping[str, Mapping[str, Any]] = record["summary"]
    values: dict[str, float | None] = {}
    for goal in goals:
        of = summary.get(goal.size_class)
        if of is None:
            known = ", ".join(summary)
            raise InputError(f"--goal {goal.text!r}: there is no class {goal.size_class!r}; one of {known}")
        if goal.quantity.is_of_coflows:
            of = record["coflows"][goal.size_class]
        value = of[goal.quantity.key]
        # A mean over those that finished would favour who leaves the others behind.
        done = value is not None and not of["unfinished"]
        values[goal.name] = value * goal.quantity.factor if done else None
    return Trial(
        values=values,
        hops=int(record["counters"]["packet_hops"]),
        flows={name: int(of["flows"]) for name, of in summary.items()},
        coflows={name: int(of["coflows"]) for name, of in record.get("coflows", {}).items()},
        unfinished={name: int(of["unfinished"]) for name, of in summary.items()},
        timed_out={name: of["tail_timed_out"] for name, of in summary.items()},
        offered=float(record["load"]["offered_host"] or 0.0),
    )


def values(found: Mapping[str, Mapping[int, Trial]]) -> dict[str, dict[int, Values]]:
    """The values alone."""
    return {name: {block: of.values for block, of in by_block.items()} for name, by_block in found.items()}


def means(found: Mapping[str, Mapping[int, Trial]], goals: Sequence[Goal]) -> dict[str, dict[str, float | None]]:
    """Means over blocks. A block in which no candidate has a value of a metric counts for none; a candidate that lacks
    a value which another has, as flows did not finish, has no mean."""
    known = {
        goal.name: {block for of in found.values() for block, one in of.items() if one.values[goal.name] is not None}
        for goal in goals
    }
    result: dict[str, dict[str, float | None]] = {}
    for name, of in found.items():
        result[name] = {}
        for goal in goals:
            here = [one.values[goal.name] for block, one in of.items() if block in known[goal.name]]
            whole = [value for value in here if value is not None]
            result[name][goal.name] = Estimate.of(whole, goal.quantity.nature).mean if len(whole) == len(here) else None
    return result
