"""The rollout of an answer: the first month, in which some hosts are changed and the others run what runs today.

Switches are those of the answer, as they are configured first. Flows from changed hosts have the answer's transport
and classes. Flows from the other hosts keep today's transport, and their packets go to the last queue, which has all
traffic without a code point of its own. Both sides share every link, so that each number shows new beside old.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from priolane._core import InputError, RunFailed
from priolane.advice.candidate import Candidate
from priolane.advice.changes import PLAIN_HOSTS, Today, merged
from priolane.advice.flow_list import FlowList
from priolane.advice.outcomes import Outcome, Values, outcomes
from priolane.advice.request import AdviceContext
from priolane.advice.samples import COLUMNS, read_trial
from priolane.advice.trials import Experiment
from priolane.advice.windows import Windows
from priolane.model.experiment import Options, check
from priolane.results.results import Results
from priolane.storage.parquet_table import read_parquet

PARTS = (10, 50, 100)
"""The parts of the hosts to change that are changed, in percent."""
CHANGED, UNCHANGED = "changed", "unchanged"
_FOLDER = "flows_rollout"


@dataclass(frozen=True)
class RolloutStep:
    """One step: `hosts` of the hosts to change, `of`, are changed.

    `outcomes` are by side, for the goals of which the side has flows. `refused` says why the step could not be run.
    """

    part: int
    hosts: int
    of: int
    outcomes: Mapping[str, tuple[Outcome, ...]] = field(default_factory=dict)
    refused: str | None = None
    hops: int = 0


def hosts_change(today: Today, advised: Candidate) -> bool:
    """Whether a change from today to a candidate touches hosts."""
    now, then = merged(today.candidate.rows), merged(advised.rows)
    return any(now.get(row) != then.get(row) for row in ("transport", "assign", "host", "nic"))


@dataclass(frozen=True)
class _Sides:
    """The values of both sides of a step, and the packet-hops of its run."""

    values: Mapping[str, Values]
    hops: int


def obstacle(context: AdviceContext, advised: Candidate) -> str | None:
    """The reason why the rollout of `advised` is not run, as a sentence; `None` if it is."""
    if not hosts_change(context.today, advised):
        return "no host changes: the answer configures switches alone"
    if context.needs_whole_list:
        return "flows of this list wait for others or belong to coflows, which both kinds of hosts share"
    now = merged(context.today.candidate.rows)
    if now["assign"]["kind"] != "none" or now["host"]["kind"] not in PLAIN_HOSTS:
        return (
            f"hosts with {context.today.candidate.family} today give flows classes or an order, which is not simulated"
        )
    senders = {int(host) for host in np.unique(context.flows.columns["src"])}
    if not senders & set(context.changed):
        return "the hosts that are to be changed send no flow of this list"
    return None


def roll_out(
    context: AdviceContext, advised: Candidate, windows: Windows, judged: Mapping[str, Values]
) -> tuple[RolloutStep, ...]:
    """Runs each step of the rollout of `advised` to the hosts that the request names.

    Relative goals refer to the best of the candidates that were `judged`.
    """
    hosts = context.changed
    transport = _todays_transport(context, windows)
    runs = unsorted(advised)
    steps = []
    for part in PARTS:
        changed = hosts[: max(1, round(part * len(hosts) / 100))]
        step = RolloutStep(part, len(changed), len(hosts))
        try:
            experiment = _experiment(context, runs, transport, _by_side(context.flows, changed), part, windows)
            out = context.request.out / "runs" / f"rollout_{part}"
            sides = _read(context, experiment.run(out, [runs.name], context.request.how), windows)
            steps.append(replace(step, outcomes=_outcomes(context, sides, judged), hops=sides.hops))
        except (InputError, RunFailed) as error:
            # Without the file of the step and the place in it.
            steps.append(replace(step, refused=str(error).splitlines()[0].rpartition(": ")[2]))
    return tuple(steps)


def unsorted(advised: Candidate) -> Candidate:
    """The candidate as steps run it: hosts that sort the flows of one transport take them in turn beside another."""
    if merged(advised.rows)["host"]["kind"] in PLAIN_HOSTS:
        return advised
    return replace(advised, rows={**advised.rows, "host": {"kind": "round_robin"}})


def _experiment(
    context: AdviceContext,
    advised: Candidate,
    transport: Mapping[str, Any],
    flows: FlowList,
    part: int,
    windows: Windows,
) -> Experiment:
    """The experiment of a step, with `transport` for the flows from unchanged hosts."""
    folder = f"{_FOLDER}_{part}"
    advised = _by_sides(advised, context.flows.groups, flows.groups)
    last = advised.queues - 1 if advised.queues else 0
    old = [name for name in flows.groups if name.endswith(f"_{UNCHANGED}")]
    flows.write(context.request.out / folder, classes=dict.fromkeys(old, last))
    return context.experiment(
        f"rollout_{part}.toml",
        [advised],
        windows,
        flows=flows,
        # Classes may name groups, which have other names here; values are read from the table of flows.
        fabric=replace(context.fabric, classes={}),
        lists=folder,
        group_keys={name: {"transport": transport} for name in old},
    )


def _by_side(flows: FlowList, changed: Sequence[int]) -> FlowList:
    """The flows with a group for each side of each group; groups without a flow are left out."""
    is_old = ~np.isin(flows.columns["src"], np.asarray(changed))
    names = [f"{name}_{side}" for name in flows.groups for side in (CHANGED, UNCHANGED)]
    place = flows.group_of * 2 + is_old
    used, group_of = np.unique(place, return_inverse=True)
    return replace(flows, groups=tuple(names[number] for number in used), group_of=group_of)


def _by_sides(advised: Candidate, groups: Sequence[str], sides: Sequence[str]) -> Candidate:
    """The candidate for the groups of both sides, where its classes are by group: each side has its group's."""
    assign = merged(advised.rows)["assign"]
    of = {side: side.rpartition("_")[0] for side in sides}
    if assign["kind"] == "group":
        last = len(assign["classes"]) - 1
        own: dict[str, Any] = {"classes": [assign["classes"][min(groups.index(of[side]), last)] for side in sides]}
    elif assign.get("first"):
        # Unchanged hosts have a transport of their own, and no class by the scheme.
        own = {"first": {side: assign["first"][of[side]] for side in sides if side.endswith(f"_{CHANGED}")}}
    else:
        return advised
    return replace(advised, rows={**advised.rows, "assign": {**assign, **own}})


def _todays_transport(context: AdviceContext, windows: Windows) -> dict[str, Any]:
    """The transport of what runs today, with what `[host]` states for all hosts."""
    now = context.today.candidate
    path = context.experiment("today.toml", [now], windows).path
    transport: dict[str, Any] = check(path, Options(schemes=(now.name,)))["merged"]["scheme"][now.name]["transport"]
    return transport


def _read(context: AdviceContext, results: Results, windows: Windows) -> _Sides:
    """The values of both sides of a step."""
    (run,) = results.runs
    table = read_parquet(results.checked(run.id, "flows.parquet"), COLUMNS)
    record = results.records[run.id]
    values: dict[str, Values] = {}
    for side in (CHANGED, UNCHANGED):
        own = table.filter(pc.ends_with(table["group"].cast(pa.string()), f"_{side}"))
        if not len(own):
            continue
        names = pc.replace_substring_regex(own["group"].cast(pa.string()), f"_{side}$", "")
        own = own.set_column(own.column_names.index("group"), "group", names)
        values[side] = read_trial(own, record, context.goals, context.fabric.classes, windows).values
    return _Sides(values, int(record["counters"]["packet_hops"]))


def _outcomes(context: AdviceContext, sides: _Sides, judged: Mapping[str, Values]) -> dict[str, tuple[Outcome, ...]]:
    """The outcomes of each side, for the goals of which it has flows."""
    by_side = {}
    for side, values in sides.values.items():
        goals = [goal for goal in context.goals if values[goal.name] is not None]
        by_side[side] = outcomes(goals, {side: values}, judged)[side]
    return by_side
