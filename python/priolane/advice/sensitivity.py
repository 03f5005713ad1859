"""The advice and today's scheme where things are not as recorded: more and less load, bursts, failures, noise.

Of failures the worst is told: each kind of link and switch whose loss leaves every two hosts a path fails in a run of
its own, from before the first window that is read, so that what is seen is the state with the failure.

Disturbances run on a beginning of the list, as long as a fifth of the grid has room for. The first ones matter most:
where the budget has no room for all, the last ones are left out.
"""

import re
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
# More load and bursts take more packet-hops than the same beginning of the list without them.
_PART_OF_ROOM = 0.85
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
    part: float = 0.0
    """The part of the list that was run."""


def disturbances(fabric: Fabric, windows: Windows) -> tuple[Disturbance, ...]:
    """All that are tried on this fabric, in the time of these windows."""
    disturbed = [
        Disturbance("load_up", "20 % more load", "20 % more load", squeeze=1.2),
        Disturbance(
            "burst",
            "bursts: up to 16 hosts send 64 kB each to one at once, in each window",
            "bursts",
            group=_burst(fabric, windows),
        ),
    ]
    disturbed += [_failure(what, windows) for what in fabric.derived.failures]
    disturbed.append(Disturbance("load_down", "20 % less load", "20 % less load", squeeze=0.8))
    noise = fabric.experiment.get("delay_noise", _NOISE)
    table = noise if isinstance(noise, Mapping) else {"trace": noise}
    twice = {**table, "scale": 2 * float(table.get("scale", 1))}
    disturbed.append(
        Disturbance(
            "noise", "twice the noise of measured delays", "twice the delay noise", changes={"delay_noise": twice}
        )
    )
    return tuple(disturbed)


def _failure(what: str, windows: Windows) -> Disturbance:
    event = {
        "at": f"{windows.length_ns // 2}ns",
        "fail": what,
        "reconvergence": f"{max(1, windows.length_ns // 50)}ns",
    }
    name = re.sub(r"[^A-Za-z0-9]", "_", what)
    return Disturbance(name, f"{what} has failed", FAILURES, changes={"event": [event]})


FAILURES = "failures"
"""The name of all disturbances by failures together."""


def _burst(fabric: Fabric, windows: Windows) -> dict[str, Any]:
    return {
        "name": "burst",
        "hosts": "*",
        "app": "incast",
        "period": f"{windows.length_ns}ns",
        "start": f"{windows.length_ns // 2}ns",
        "fan_in": max(1, min(_SENDERS, len(fabric.derived.racks) - 1)),
        "size": "64kB",
    }


# Senders of a burst, or fewer where there are fewer hosts.
_SENDERS = 16


def examine(
    context: AdviceContext, pair: Sequence[Candidate], windows: Windows, goals: Sequence[Goal], ledger: Ledger
) -> tuple[Finding, ...]:
    """Runs candidates under every disturbance that the budget has room for, on as many of the first `windows` as a
    fifth of the grid has."""
    begin(context, ledger, Stage.SENSITIVITY)
    kept = [
        Disturbance(memory.name, memory.says, memory.says, asked=memory.asked)
        for memory in remembered(context.flows, pair[0])
    ]
    lists = ledger.lists_left() / (len(pair) * len([*kept, *disturbances(context.fabric, windows)]))
    fitting = int(_PART_OF_ROOM * lists * (windows.all + 1)) - 1
    shorter = windows if context.needs_whole_list else windows.first(max(FEWEST, fitting))
    room = max(_RESERVE * ledger.budget, ledger.budget - ledger.total)
    findings: list[Finding] = []
    for disturbance in (*kept, *disturbances(context.fabric, shorter)):
        # The next takes about what the largest before it took.
        if sum(done.hops for done in findings) + max((done.hops for done in findings), default=0) > room:
            findings.append(Finding(disturbance, refused="the budget has no room for it: raise --budget or --minutes"))
            continue
        try:
            findings.append(_examine(context, disturbance, pair, shorter, goals))
        except (InputError, RunFailed) as error:
            findings.append(Finding(disturbance, refused=str(error).splitlines()[0]))
        ledger.add_hops(Stage.SENSITIVITY, findings[-1].hops)
    return tuple(findings)


def _examine(
    context: AdviceContext, disturbance: Disturbance, pair: Sequence[Candidate], windows: Windows, goals: Sequence[Goal]
) -> Finding:
    lists: dict[str, Any] = {}
    if disturbance.squeeze != 1.0:
        lists = {"lists": f"flows_{disturbance.name}", "squeeze": disturbance.squeeze}
        context.flows.write(context.request.out / lists["lists"], disturbance.squeeze)
    if disturbance.asked is not None:
        levels = disturbance.asked
        lists = {"lists": f"flows_{disturbance.name}", "flows": replace(context.flows, asked=levels)}
        lists["flows"].write(context.request.out / lists["lists"])
        lists["simple"] = folded(simplest(context.fabric), levels)
        pair = [folded(candidate, levels) for candidate in pair]
    experiment = context.experiment(
        f"sensitivity_{disturbance.name}.toml",
        pair,
        windows,
        changes=disturbance.changes,
        more_groups=() if disturbance.group is None else (disturbance.group,),
        **lists,
    )
    names = [candidate.name for candidate in pair]
    out = context.request.out / "runs" / disturbance.name
    trials = experiment.trials(out, names, context.request.how, goals)
    return Finding(disturbance, outcomes(goals, values(trials)), hops=hops(trials), part=windows.part)
