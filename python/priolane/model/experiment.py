"""Options of an experiment, its plan, and its check."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from priolane import _core
from priolane._core import InputError
from priolane.model.definition import Experiment, Source, as_experiment
from priolane.storage.directory import GRID_FILE
from priolane.storage.files import write_whole
from priolane.text.command_line import option

Size = Literal["quick", "default", "full"]

SAVED = "experiment"
"""The folder below results, and the file in it, with an experiment that was given as values."""


@dataclass(frozen=True)
class Options:
    """The changes of an experiment file for this grid.

    `sets` maps dotted keys to TOML values (as text) and wins over everything else; `seeds` (how many, or which) and
    `schemes` replace the file's; `reading` is one of the file's readings of its paper, and the leading one if it is
    `None`; `size` chooses which of the file's overlays, `[quick]` or `[full]`, applies. `looks` is how many times
    claims are judged while seeds are added: it changes verdicts, and no run.
    """

    sets: tuple[tuple[str, str], ...] = ()
    seeds: int | tuple[int, ...] | None = None
    schemes: tuple[str, ...] | None = None
    reading: str | None = None
    size: Size = "default"
    looks: int = 1

    def to_json(self) -> str:
        """The options as the compiled module reads them."""
        read = {
            "sets": self.sets,
            "seeds": self.seeds,
            "schemes": self.schemes,
            "reading": self.reading,
            "size": self.size,
            "looks": self.looks,
        }
        return json.dumps(read, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> "Options":
        """Reads what `to_json` wrote."""
        read = json.loads(text)
        schemes, seeds = read["schemes"], read["seeds"]
        return cls(
            sets=tuple((str(key), str(value)) for key, value in read["sets"]),
            seeds=tuple(seeds) if isinstance(seeds, list) else seeds,
            schemes=None if schemes is None else tuple(schemes),
            reading=read.get("reading"),
            size=read["size"],
            looks=read.get("looks", 1),
        )

    def arguments(self) -> list[str]:
        """The same options as arguments of `priolane run`, for the line that says how to rerun."""
        spelled: list[str] = []
        for key, value in self.sets:
            spelled += option("--set", f"{key}={value}")
        if isinstance(self.seeds, int):
            spelled += ["--seeds", str(self.seeds)]
        elif self.seeds is not None:
            spelled += ["--seed-list", ",".join(map(str, self.seeds))]
        if self.reading is not None:
            spelled += option("--reading", self.reading)
        if self.size != "default":
            spelled.append(f"--{self.size}")
        if self.looks != 1:
            spelled += ["--looks", str(self.looks)]
        return spelled


@dataclass(frozen=True)
class PlannedRun:
    """One run of a grid: its id, scheme, sweep point and seed."""

    id: str
    scheme: str
    seed: int
    point: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Reading:
    """One reading of a paper that is silent or says two things: what speaks for it, and which claims depend on it."""

    name: str
    evidence: str
    decides: str
    leads: bool


@dataclass(frozen=True)
class Plan:
    """The grid of an experiment: every run, in the order in which they are started."""

    source: Path
    title: str
    runs: tuple[PlannedRun, ...]
    readings: tuple[Reading, ...]
    warnings: tuple[str, ...]
    core: _core.Plan = field(repr=False, compare=False)
    """The same in the compiled module, which carries out its runs."""
    values: Experiment | None = field(default=None, repr=False, compare=False)
    """The experiment if no file has it."""
    alone: tuple[PlannedRun, ...] = ()
    """Runs beside the grid in which only some groups send, where a metric compares with these."""

    @property
    def all_runs(self) -> tuple[PlannedRun, ...]:
        """The runs to carry out, each once: those of the grid, and those of groups alone."""
        return self.runs + self.alone

    @cached_property
    def costs(self) -> Sequence[float]:
        """The predicted cost of each of `all_runs`, in instructions, more or less."""
        return self.core.costs()


def as_seeds(seeds: int | Sequence[int] | None) -> int | tuple[int, ...] | None:
    """Seeds as options have them: a number of seeds, or the seeds; raises `InputError` for anything else."""
    if seeds is None:
        return None
    counted = isinstance(seeds, int)
    numbers = (seeds,) if isinstance(seeds, int) else tuple(seeds)
    for seed in numbers:
        if isinstance(seed, bool) or not isinstance(seed, int) or not 1 <= seed < 2**63:
            what = "a number of seeds" if counted else "a seed"
            raise InputError(
                f"seeds=: {seed!r} is not {what}; a whole number from 1, or a list of seeds such as [7, 8, 9]"
            )
    return numbers[0] if counted else numbers


def plan(source: Source, options: Options | None = None) -> Plan:
    """Lists the runs of an experiment: a file by its path, a mapping of keys, or an `Experiment`.

    Raises `InputError` if it is not right.
    """
    experiment = as_experiment(source)
    core = experiment.core.plan((options or Options()).to_json())
    read = json.loads(core.to_json())
    runs, alone = (
        tuple(PlannedRun(id=run["id"], scheme=run["scheme"], seed=run["seed"], point=run["point"]) for run in listed)
        for listed in (read["runs"], read["alone"])
    )
    return Plan(
        source=Path(read["source"]),
        title=read["title"] or experiment.name,
        runs=runs,
        readings=tuple(Reading(**reading) for reading in read["readings"]),
        warnings=tuple(read["warnings"]),
        core=core,
        values=experiment if experiment.path is None else None,
        alone=alone,
    )


def saved(grid: Plan, directory: Path) -> Plan:
    """Writes the experiment of `grid`, which no file has, below `directory`, with copies of the files that it names.

    Returns the same plan with that file as its source. Raises `InputError` if the experiment names a file above its
    folder, or if `directory` has a folder of that name and no grid.
    """
    if grid.values is None:
        return grid
    folder = directory / SAVED
    files = {PurePosixPath(name): text for name, text in grid.core.files().items()}
    for name in files:
        if ".." in name.parts:
            raise InputError(f"{name}: the file is above the experiment's folder; give folder=, or its full path")
    if folder.exists() and not (directory / GRID_FILE).exists():
        raise InputError(f"{folder}: priolane did not write this folder; choose another directory with out=")
    texts = {name: text for name, text in files.items() if not name.is_absolute()}
    for name, text in {**texts, PurePosixPath(f"{SAVED}.toml"): grid.values.to_toml()}.items():
        write_whole(folder / name, text)
    return replace(grid, source=folder / f"{SAVED}.toml", values=None)


def check(source: Source, options: Options | None = None) -> dict[str, Any]:
    """The merged experiment, its grid and its predicted cost; raises `InputError` if it is not right."""
    read: dict[str, Any] = json.loads(as_experiment(source).core.check((options or Options()).to_json()))
    return read


def network_of(source: Source, options: Options | None = None) -> dict[str, Any]:
    """The switches, ports and hosts of an experiment's network, as the simulator builds it."""
    read: dict[str, Any] = json.loads(as_experiment(source).core.network((options or Options()).to_json()))
    return read
