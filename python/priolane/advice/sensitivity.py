"""The advice and today's scheme where things are not as recorded: more and less load, bursts, failures, noise.

Of failures the worst is told: each kind of link and switch whose loss leaves every two hosts a path fails in a run of
its own, from before the first window that is read, so that what is seen is the state with the failure.

Disturbances run on a beginning of the list, as long as a fifth of the grid has room for. The first ones matter most:
where the budget has no room for all, the last ones are left out. What a stated budget has beyond the fifth goes to
disturbances whose intervals are on both sides of a bound: each runs again on as much of the list as decides it, if
values stay as they are and intervals become as those of the whole list without a disturbance. Where the budget ends
before, the answer says which would do.
"""

import math
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
from priolane.advice.outcomes import Outcome, Verdict, outcomes
from priolane.advice.request import AdviceContext
from priolane.advice.spending import Ledger, Stage, begin
from priolane.advice.trials import hops, values
from priolane.advice.windows import FEWEST, Jackknife, Windows

# Of the budget, what disturbances may take in any case.
_RESERVE = 0.1
# How much narrower than the distance to a bound intervals have to be expected.
_MORE = 1.1
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
    read: int = 0
    """The windows that were read."""
    of: int = 0
    """The windows of the whole list."""
    needed: float = 0.0
    """The part of the list that would decide it for the first candidate; 0 where it is decided, and infinite where not
    even the whole list would if values stay as they are."""

    @property
    def is_open(self) -> bool:
        """Whether more of the list may decide it."""
        return self.refused is None and self.needed > 0 and self.part < 1


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


@dataclass(frozen=True)
class Undisturbed:
    """The candidates that are disturbed, the advice first, and the outcomes of that on `windows`, the whole list."""

    pair: Sequence[Candidate]
    whole: Sequence[Outcome]
    windows: Windows


def examine(
    context: AdviceContext, asked: Undisturbed, windows: Windows, goals: Sequence[Goal], ledger: Ledger
) -> tuple[Finding, ...]:
    """Runs candidates under every disturbance that the budget has room for, on as many of the first half of `windows`
    as a fifth of the grid has, and again on more where a stated budget has room for what decides."""
    begin(context, ledger, Stage.SENSITIVITY)
    kept = [
        Disturbance(memory.name, memory.says, memory.says, asked=memory.asked)
        for memory in remembered(context.flows, asked.pair[0])
    ]
    lists = ledger.lists_left() / (len(asked.pair) * len([*kept, *disturbances(context.fabric, windows)]))
    fitting = int(_PART_OF_ROOM * lists * (windows.all + 1)) - 1
    half = max(FEWEST, windows.count // 2)
    shorter = windows if context.needs_whole_list else windows.first(max(FEWEST, min(half, fitting)))
    room = max(_RESERVE * ledger.budget, ledger.budget - ledger.total)
    findings: list[Finding] = []
    for disturbance in (*kept, *disturbances(context.fabric, shorter)):
        # The next takes about what the largest before it took.
        if sum(done.hops for done in findings) + max((done.hops for done in findings), default=0) > room:
            findings.append(Finding(disturbance, refused="the budget has no room for it: raise --budget or --minutes"))
            continue
        findings.append(_tried(context, disturbance, asked, shorter, goals))
        ledger.add_hops(Stage.SENSITIVITY, findings[-1].hops)
    return tuple(_decided(context, finding, asked, goals, ledger) for finding in findings)


def budget_to_decide(findings: Sequence[Finding], ledger: Ledger) -> float:
    """The budget that has room for as much of the list as would decide what is open, besides all that was done, in
    packet-hops to two digits."""
    more = sum(_hops_to_decide(finding) for finding in findings if finding.is_open)
    # A smaller one would shorten the race.
    enough = max(ledger.total + more, ledger.as_a_limit)
    digit = 10.0 ** (math.floor(math.log10(enough)) - 1)
    return math.ceil(enough / digit) * digit


def _hops_to_decide(finding: Finding) -> float:
    """The packet-hops of a run of the disturbance on as much of the list as it needs."""
    return finding.hops * min(1.0, finding.needed) / finding.part


def _decided(
    context: AdviceContext, finding: Finding, asked: Undisturbed, goals: Sequence[Goal], ledger: Ledger
) -> Finding:
    """The finding on as much of the list as decides it, if the stated budget has that, and on all of it if that does
    not decide either."""
    all_of = asked.windows
    for least in (FEWEST, all_of.count):
        if context.request.budget is None or not finding.is_open:
            break
        if ledger.total + _hops_to_decide(finding) > ledger.budget:
            break
        begin(context, ledger, Stage.DECIDING)
        windows = all_of.first(max(least, math.ceil(min(1.0, finding.needed) * (all_of.all + 1)) - 1))
        by_name = {made.name: made for made in disturbances(context.fabric, windows)}
        # Memories of connections do not depend on windows.
        disturbance = by_name.get(finding.disturbance.name, finding.disturbance)
        again = _tried(context, disturbance, asked, windows, goals)
        ledger.add_hops(Stage.DECIDING, again.hops)
        if again.refused is not None:
            break
        finding = again
    return finding


def _tried(
    context: AdviceContext, disturbance: Disturbance, asked: Undisturbed, windows: Windows, goals: Sequence[Goal]
) -> Finding:
    try:
        return _examine(context, disturbance, asked, windows, goals)
    except (InputError, RunFailed) as error:
        return Finding(disturbance, refused=str(error).splitlines()[0])


def _examine(
    context: AdviceContext, disturbance: Disturbance, asked: Undisturbed, windows: Windows, goals: Sequence[Goal]
) -> Finding:
    lists: dict[str, Any] = {}
    pair = asked.pair
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
    found = outcomes(goals, values(trials))
    return Finding(
        disturbance,
        found,
        hops=hops(trials),
        part=windows.part,
        read=windows.count,
        of=windows.all,
        needed=_needed(found[names[0]], asked, windows.part),
    )


def _needed(found: Sequence[Outcome], asked: Undisturbed, part: float) -> float:
    """The least part of the list on which all goals would be surely met, or one surely missed; 0 where that is so
    already. `found` ran on a part of the list.

    Intervals are taken to be as wide as those of the whole list without a disturbance, over the root of the part.
    """
    verdicts = [outcome.verdict for outcome in found]
    if Verdict.MISSED in verdicts or set(verdicts) == {Verdict.MET}:
        return 0.0
    # One goal that is surely missed decides, else each has to be surely met.
    decides = all if all(outcome.met for outcome in found) else any
    sides = [(own, beside) for own, beside in zip(found, asked.whole, strict=True) if decides is all or not own.met]
    for count in range(FEWEST, asked.windows.count + 1):
        of_list = asked.windows.first(count).part
        if of_list > part and decides(
            abs(own.miss) >= _MORE * _half_width(((beside.margin, 1.0), (own.margin, part)), count, of_list)
            for own, beside in sides
        ):
            return of_list
    return math.inf


def _half_width(margins: Sequence[tuple[Jackknife | None, float]], count: int, of_list: float) -> float:
    """Half of the interval that `count` windows on the part `of_list` of the list would give.

    It is scaled from the first of the margins that has a width; each margin stands beside the part of the list that it
    was read on. The best of candidates has no width beside itself.
    """
    for margin, part in margins:
        half = 0.0 if margin is None else margin.half_width()
        if margin is not None and half > 0:
            return half * math.sqrt(part / of_list) * _student(count - 1) / _student(margin.windows - 1)
    return 0.0


def _student(freedom: int) -> float:
    """The 97.5 % quantile of Student's t, by the expansion of Cornish and Fisher: 1 % off at 4 degrees of freedom."""
    z = 1.959964
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
