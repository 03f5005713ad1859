"""The request, and the values that do not change in the course of an answer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from priolane._core import InputError
from priolane.advice.candidate import Candidate
from priolane.advice.candidates import simplest
from priolane.advice.changed_hosts import racks_of, read_hosts
from priolane.advice.changes import Today, today, with_today
from priolane.advice.fabric import Fabric, in_class, read_fabric
from priolane.advice.flow_list import FlowList, class_groups
from priolane.advice.goals import DEFAULTS, Goal, read_goals
from priolane.advice.measured import read_measured
from priolane.advice.traffic import Traffic
from priolane.advice.trials import Experiment, RunOptions
from priolane.advice.windows import Windows
from priolane.execution.budget import Budget
from priolane.execution.grid import Watcher
from priolane.execution.settings import Settings

MINUTES = 5.0
"""The time for an answer where no budget is given."""

Tell = Callable[[str], None]
"""Is told of each stage in a line."""


@dataclass(frozen=True)
class Preferences:
    """The preferences of the user among changes.

    `today` is the scheme that runs now, in place of the fabric file's. `steps` are kinds of change, the cheapest first.
    `without` names schemes and candidates that are not wanted. `least_gain` is the part of the objective that a more
    expensive change must gain to lead; `None` if none leads that is not needed.
    """

    today: str | None = None
    steps: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    least_gain: float | None = None


@dataclass(frozen=True)
class Request:
    """A request. `budget` is in packet-hops; without one it is what `minutes` are on this machine.

    `sampling` says that one packet in so many was seen, where the import does not. `check` is a file of values that
    were measured of the network as it runs today (`measured`). `changed` names the hosts that are changed first
    (`changed_hosts.read_hosts`). `seed` draws paths and the order at one instant.
    """

    traffic: Traffic
    fabric: Path
    out: Path
    switch: Path | None = None
    queues: int | None = None
    goals: tuple[str, ...] = ()
    preferences: Preferences = field(default_factory=Preferences)
    budget: Budget | None = None
    minutes: float | None = None
    sampling: int | None = None
    check: Path | None = None
    changed: str | None = None
    seed: int = 1
    settings: Settings = field(default_factory=Settings)
    watcher: Watcher = field(default_factory=Watcher)

    @property
    def how(self) -> RunOptions:
        """The way in which runs are carried out."""
        return RunOptions(self.settings, self.watcher)


@dataclass
class Speed:
    """The packet-hops that this machine simulates in a second, with all its jobs; `None` until runs have shown it."""

    hops_per_s: float | None = None


@dataclass(frozen=True)
class AdviceContext:
    """The values that do not change in the course of an answer."""

    request: Request
    goals: tuple[Goal, ...]
    shown: tuple[Goal, ...]
    fabric: Fabric
    today: Today
    flows: FlowList
    tell: Tell
    measured: tuple[Goal, ...] = ()
    """The values that were measured of today's network, as goals whose bound is the value."""
    changed: tuple[int, ...] = ()
    """The hosts that are changed first, in order; empty if no rollout was asked for."""
    part: float = 1.0
    """The part of the list that the budget has room for."""
    enough: float = 0.0
    """The budget in packet-hops that would have room for the whole list, if it was cut."""

    speed: Speed = field(default_factory=Speed)

    @property
    def cut(self) -> str | None:
        """The sentence that the list was cut, with the cure; `None` if it is whole."""
        if self.part >= 1:
            return None
        return (
            f"the list was cut by the budget, which has room for its first {100 * self.part:.2g} %: "
            f"--budget {self.enough:.2g}hops reads it whole, which is {1 / self.part:.2g} times as much (or --minutes)"
        )

    @property
    def read(self) -> tuple[Goal, ...]:
        """All that is read from runs, each metric once."""
        return tuple({goal.name: goal for goal in (*self.measured, *self.shown, *self.goals)}.values())

    @property
    def needs_whole_list(self) -> bool:
        """Whether the beginning of the list says nothing alone: coflows and waiting flows may be cut in two."""
        return self.flows.waits or any(goal.quantity.is_of_coflows for goal in self.read)

    def experiment(self, name: str, entrants: Sequence[Candidate], windows: Windows, **changes: Any) -> Experiment:
        """An experiment of candidates, written below the directory of the answer; `changes` are fields of it."""
        title = name.removesuffix(".toml").replace("_", " ").capitalize()
        made = Experiment(
            path=self.request.out / name,
            title=f"{title}: {self.request.traffic.name}",
            windows=windows,
            candidates={candidate.name: candidate for candidate in entrants},
            **{
                "fabric": self.fabric,
                "flows": self.flows,
                "seeds": (self.request.seed,),
                "simple": simplest(self.fabric),
                **changes,
            },
        )
        made.write()
        return made

    def counts(self) -> Mapping[str, int]:
        """The flows of the list by goal, in its class: coflows or flows with a deadline for goals of these."""
        return {goal.name: count_flows(self.flows, self.fabric, goal) for goal in self.read}


def read(request: Request, tell: Tell) -> AdviceContext:
    """Reads goals, files and list; raises `InputError` for what is wrong in them."""
    limit = request.budget
    if limit is not None and limit.unit != "hops":
        raise InputError(f"--budget {limit}: an answer takes packet-hops, such as --budget 2e9hops, or --minutes 5")
    goals, queues = read_goals(request.goals)
    fabric = read_fabric(
        request.fabric,
        request.switch,
        queues if request.queues is None else request.queues,
        request.preferences.today,
        tell,
    )
    known = [*fabric.classes, "all"]
    measured = read_measured(request.check)
    placed = [(f"--goal {goal.text!r}", goal) for goal in goals]
    placed += [(f"{request.check}: {goal.name}", goal) for goal in measured]
    for place, goal in placed:
        if goal.size_class not in known:
            raise InputError(f"{place}: there is no class {goal.size_class!r}; one of {', '.join(known)}")
    defaults, _ = read_goals(DEFAULTS)
    names = {goal.name for goal in goals}
    shown = tuple(goal for goal in defaults if goal.name not in names and goal.size_class in known)
    flows = request.traffic.flows(fabric, goals)
    for place, goal in placed:
        if goal.quantity.is_of_coflows and not flows.has("coflow"):
            raise InputError(
                f"{place}: {flows.path} names no coflows. Use a list with the column `coflow`, or a goal of flows."
            )
        if goal.quantity.is_of_deadlines and not flows.has("deadline_ns"):
            raise InputError(
                f"{place}: no flow of {flows.path} has a deadline. Use a list with the column "
                "`deadline_ns`, or another goal."
            )
    _check_groups(fabric, flows)
    fabric = replace(fabric, assumed=(*flows.unused, *request.traffic.assumed, *fabric.assumed))
    shown = tuple(goal for goal in shown if count_flows(flows, fabric, goal) >= goal.quantity.least)
    now = today(fabric, request.preferences.steps)
    named = request.changed
    changed = () if named is None else read_hosts(named, racks_of(fabric.experiment["topology"]))
    return AdviceContext(request, goals, shown, with_today(fabric), now, flows, tell, measured, changed)


def _check_groups(fabric: Fabric, flows: FlowList) -> None:
    """Raises `InputError` for classes of groups that no flow belongs to."""
    unknown = [
        f"{fabric.path}: key `metrics.classes.{name}.group`: no flow of {flows.path} is of {group!r}. Use "
        f"{' or '.join(flows.groups)}."
        for name, of in fabric.classes.items()
        for group in class_groups(of)
        if group not in flows.groups
    ]
    if unknown:
        raise InputError("\n".join(unknown))


def count_flows(flows: FlowList, fabric: Fabric, goal: Goal) -> int:
    """The number of flows of the list in a goal's class; for a goal of coflows that of coflows, for one of deadlines
    that of flows with a deadline."""
    of = fabric.classes.get(goal.size_class, {})
    if goal.quantity.is_of_coflows:
        return int(in_class(flows.coflow_bytes, of).sum())
    mask = flows.in_class(of)
    if goal.quantity.is_of_deadlines:
        mask &= np.isfinite(flows.columns["deadline_ns"])
    return int(mask.sum())


def tenants(context: AdviceContext) -> tuple[int, ...]:
    """The places of the groups of flows, those first that goals name first."""
    groups = context.flows.groups
    named = [
        groups.index(group)
        for goal in context.goals
        for group in class_groups(context.fabric.classes.get(goal.size_class, {}))
    ]
    return tuple(dict.fromkeys([*named, *range(len(groups))]))
