"""The request, and the values that do not change in the course of an answer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from priolane._core import InputError
from priolane.advice.candidate import Candidate
from priolane.advice.candidates import simplest
from priolane.advice.fabric import Fabric, read_fabric
from priolane.advice.flow_blocks import Blocks, FlowTable, class_groups, cut
from priolane.advice.goals import DEFAULTS, Goal, read_goals
from priolane.advice.traffic import Traffic
from priolane.advice.trials import Experiment, RunOptions
from priolane.budget import Budget
from priolane.grid import Watcher
from priolane.settings import Settings

MINUTES = 3.0
"""The time for an answer where no budget is given."""

Tell = Callable[[str], None]
"""Is told of each stage in a line."""


@dataclass(frozen=True)
class Request:
    """A request. `budget` is in packet-hops; without one it is what `minutes` are on this machine.

    `sampling` says that one packet in so many was seen, where the import does not.
    """

    traffic: Traffic
    fabric: Path
    out: Path
    switch: Path | None = None
    queues: int | None = None
    goals: tuple[str, ...] = ()
    budget: Budget | None = None
    minutes: float | None = None
    sampling: int | None = None
    settings: Settings = field(default_factory=Settings)
    watcher: Watcher = field(default_factory=Watcher)

    @property
    def how(self) -> RunOptions:
        """The way in which runs are carried out."""
        return RunOptions(self.settings, self.watcher)


@dataclass(frozen=True)
class AdviceContext:
    """The values that do not change in the course of an answer."""

    request: Request
    goals: tuple[Goal, ...]
    shown: tuple[Goal, ...]
    fabric: Fabric
    table: FlowTable
    blocks: Blocks
    tell: Tell

    @property
    def read(self) -> tuple[Goal, ...]:
        """All that is read from runs."""
        return (*self.goals, *self.shown)

    def experiment(self, name: str, title: str, chosen: Sequence[Candidate], seeds: Sequence[int]) -> Experiment:
        """An experiment of candidates, written below the directory of the answer."""
        made = Experiment(
            path=self.request.out / name,
            title=f"{title}: {self.request.traffic.name}",
            fabric=self.fabric,
            blocks=self.blocks,
            simple=simplest(self.fabric),
            candidates={one.name: one for one in chosen},
            seeds=sorted(seeds),
        )
        made.write()
        return made


def read(request: Request, tell: Tell) -> AdviceContext:
    """Reads goals, files and list; raises `InputError` for what is wrong in them."""
    goals, queues = read_goals(request.goals)
    fabric = read_fabric(request.fabric, request.switch, queues if request.queues is None else request.queues)
    known = [*fabric.classes, "all"]
    for goal in goals:
        if goal.size_class not in known:
            raise InputError(f"--goal {goal.text!r}: there is no class {goal.size_class!r}; one of {', '.join(known)}")
    defaults, _ = read_goals(DEFAULTS)
    names = {goal.name for goal in goals}
    shown = tuple(goal for goal in defaults if goal.name not in names and goal.size_class in known)
    fabric = replace(fabric, assumed=(*request.traffic.assumed, *fabric.assumed))
    table = request.traffic.table(fabric, goals)
    for goal in goals:
        if goal.quantity.is_of_coflows and not table.has("coflow"):
            raise InputError(
                f"--goal {goal.text!r}: {table.path} names no coflows. Use a list with the column `coflow`, or a goal "
                "of flows."
            )
        if goal.quantity.is_of_deadlines and not table.has("deadline_ns"):
            raise InputError(
                f"--goal {goal.text!r}: no flow of {table.path} has a deadline. Use a list with the column "
                "`deadline_ns`, or another goal."
            )
    _check_groups(fabric, table)
    wanted = min(count_flows(table, fabric, goal) // goal.quantity.least for goal in goals)
    return AdviceContext(request, goals, shown, fabric, table, cut(table, wanted), tell)


def _check_groups(fabric: Fabric, table: FlowTable) -> None:
    """Raises `InputError` for classes of groups that no flow belongs to."""
    unknown = [
        f"{fabric.path}: key `metrics.classes.{name}.group`: no flow of {table.path} is of {group!r}. Use "
        f"{' or '.join(table.groups)}."
        for name, of in fabric.classes.items()
        for group in class_groups(of)
        if group not in table.groups
    ]
    if unknown:
        raise InputError("\n".join(unknown))


def count_flows(table: FlowTable, fabric: Fabric, goal: Goal) -> int:
    """The number of flows of the list in a goal's class; for a goal of coflows that of coflows, for one of deadlines
    that of flows with a deadline."""
    chosen = table.in_class(fabric.classes.get(goal.size_class, {}))
    if goal.quantity.is_of_coflows:
        return int(table.rows["coflow"].nunique())
    if goal.quantity.is_of_deadlines:
        chosen &= table.rows["deadline_ns"].notna().to_numpy()
    return int(chosen.sum())


def tenants(context: AdviceContext) -> tuple[int, ...]:
    """The places of the groups of flows, those first that goals name first."""
    groups = context.table.groups
    named = [
        groups.index(group)
        for goal in context.goals
        for group in class_groups(context.fabric.classes.get(goal.size_class, {}))
    ]
    return tuple(dict.fromkeys([*named, *range(len(groups))]))
