"""The advice and today's scheme where things are not as recorded: more and less load, bursts, failures, noise.

Of failures the worst is told: each kind of link and switch whose loss leaves every two hosts a path fails in a run of
its own, from before the first window that is read, so that what is seen is the state with the failure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from priolane._core import InputError, RunFailed
from priolane.advice.candidate import Candidate
from priolane.advice.candidates import simplest
from priolane.advice.connections import folded, remembered
from priolane.advice.fabric import Fabric
from priolane.advice.flow_list import Numbers
from priolane.advice.goals import Goal
from priolane.advice.outcomes import Outcome, outcomes
from priolane.advice.request import AdviceContext
from priolane.advice.spending import Ledger, Stage, begin
from priolane.advice.trials import hops, values
from priolane.advice.windows import FEWEST, Windows

# Of the budget, what disturbances may take in any case.
_RESERVE = 0.1
_NOISE = {"trace": "host", "scale": 1.0}


@dataclass(frozen=True)
class Disturbance:
    """A change of the experiment, described in a clause and in `short` words. `squeeze` brings flows closer together;
    `group` is one more group of flows."""

    name: str
    description: str
    short: str
    squeeze: float = 1.0
    changes: Mapping[str, Any] = field(default_factory=dict)
    group: Mapping[str, Any] | None = None
    asked: Numbers | None = None
    """The class in which each flow begins, where it is not the first."""


@dataclass(frozen=True)
class Finding:
    """The outcomes under a disturbance by candidate. `refused` says why it could not be run."""

    disturbance: Disturbance
    outcomes: Mapping[str, tuple[Outcome, ...]] = field(default_factory=dict)
    refused: str | None = None
    hops: int = 0
    windows: int = 0
    """The windows that were read."""


def disturbances(fabric: Fabric, windows: Windows) -> tuple[Disturbance, ...]:
    """All that are tried on this fabric, in the time of these windows."""
    found = [
        Disturbance("load_up", "20 % more load", "20 % more load", squeeze=1.2),
        Disturbance("load_down", "20 % less load", "20 % less load", squeeze=0.8),
        Disturbance(
            "burst",
            "bursts: up to 16 hosts send 64 kB each to one at once, in each window",
            "bursts",
            group=_burst(fabric, windows),
        ),
    ]
    found += [_failure(what, windows) for what in failures(fabric.topology)]
    noise = fabric.experiment.get("delay_noise", _NOISE)
    table = noise if isinstance(noise, Mapping) else {"trace": noise}
    twice = {**table, "scale": 2 * float(table.get("scale", 1))}
    found.append(
        Disturbance(
            "noise", "twice the noise of measured delays", "twice the delay noise", changes={"delay_noise": twice}
        )
    )
    return tuple(found)


def _failure(what: str, windows: Windows) -> Disturbance:
    event = {
        "at": f"{windows.length_ns // 2}ns",
        "fail": what,
        "reconvergence": f"{max(1, windows.length_ns // 50)}ns",
    }
    name = what.replace(":", "_").replace("-", "_")
    return Disturbance(name, f"{what} has failed", FAILURES, changes={"event": [event]})


FAILURES = "failures"
"""The name of all disturbances by failures together."""
# Failures of one kind that are tried.
_MOST_FAILURES = 3


def failures(topology: Mapping[str, Any]) -> tuple[str, ...]:
    """Links between switches and switches whose loss leaves every two hosts a path; none where none is known."""

    def count(key: str) -> int:
        value = topology.get(key)
        return min(value, _MOST_FAILURES) if isinstance(value, int) else 0

    match topology.get("kind"):
        case "leaf_spine" if count("spines") >= 2:
            return ("link:leaf0-spine0", *(f"switch:spine{spine}" for spine in range(count("spines"))))
        case "three_tier" if count("aggs_per_pod") >= 2:
            return ("link:leaf0-0-agg0-0", "switch:agg0-0")
        case "fat_tree" if (topology.get("k") or 0) >= 4:
            return ("link:edge0-agg0", "switch:agg0")
        case _:
            return ()


def _burst(fabric: Fabric, windows: Windows) -> dict[str, Any]:
    return {
        "name": "burst",
        "hosts": "*",
        "app": "incast",
        "period": f"{windows.length_ns}ns",
        "start": f"{windows.length_ns // 2}ns",
        "fan_in": burst_width(fabric.topology),
        "size": "64kB",
    }


def burst_width(topology: Mapping[str, Any]) -> int:
    """Senders of a burst: 16, or fewer where there are fewer hosts."""
    per_leaf, leaves = topology.get("hosts_per_leaf"), topology.get("leaves")
    if isinstance(per_leaf, int) and isinstance(leaves, int):
        return max(1, min(16, per_leaf * leaves - 1))
    hosts = topology.get("hosts")
    return max(1, min(16, hosts - 1)) if isinstance(hosts, int) else 8


def examine(
    context: AdviceContext, pair: Sequence[Candidate], windows: Windows, goals: Sequence[Goal], ledger: Ledger
) -> tuple[Finding, ...]:
    """Runs candidates under every disturbance that the budget has room for, on as many of the first `windows` as a
    fifth of the grid has."""
    begin(context, ledger, Stage.SENSITIVITY)
    kept = [Disturbance(one.name, one.says, one.says, asked=one.asked) for one in remembered(context.flows, pair[0])]
    lists = ledger.lists_left() / (len(pair) * len([*kept, *disturbances(context.fabric, windows)]))
    fitting = int(lists * (windows.all + 1)) - 1
    shorter = windows if context.needs_whole_list else windows.first(max(FEWEST, fitting))
    room = max(_RESERVE * ledger.budget, ledger.budget - ledger.total)
    found: list[Finding] = []
    for one in (*kept, *disturbances(context.fabric, shorter)):
        # The next takes about what the largest before it took.
        if sum(done.hops for done in found) + max((done.hops for done in found), default=0) > room:
            found.append(Finding(one, refused="the budget has no room for it: raise --budget or --minutes"))
            continue
        try:
            found.append(_examine(context, one, pair, shorter, goals))
        except (InputError, RunFailed) as error:
            found.append(Finding(one, refused=str(error).splitlines()[0]))
        ledger.add_hops(Stage.SENSITIVITY, found[-1].hops)
    return tuple(found)


def _examine(
    context: AdviceContext, one: Disturbance, pair: Sequence[Candidate], windows: Windows, goals: Sequence[Goal]
) -> Finding:
    lists: dict[str, Any] = {}
    if one.squeeze != 1.0:
        lists = {"lists": f"flows_{one.name}", "squeeze": one.squeeze}
        context.flows.write(context.request.out / lists["lists"], one.squeeze)
    if one.asked is not None:
        asked = one.asked
        lists = {"lists": f"flows_{one.name}", "flows": replace(context.flows, asked=asked)}
        lists["flows"].write(context.request.out / lists["lists"])
        lists["simple"] = folded(simplest(context.fabric), asked)
        pair = [folded(candidate, asked) for candidate in pair]
    experiment = context.experiment(
        f"sensitivity_{one.name}.toml",
        pair,
        windows,
        changes=one.changes,
        more_groups=() if one.group is None else (one.group,),
        **lists,
    )
    names = [candidate.name for candidate in pair]
    out = context.request.out / "runs" / one.name
    found = experiment.trials(out, names, context.request.how, goals)
    return Finding(one, outcomes(goals, values(found)), hops=hops(found), windows=windows.read)
