"""The budget of an answer, and whether it has room for one: found by runs that take a small part of it.

    least = sum over flows of packets x links of the path       data alone, each packet sent once
    whole = what today's scheme takes, by a run on the beginning of the list, ACKs included

A budget that has no room for `least` is refused before any run. One in minutes is converted by a run on so few flows
that it takes seconds. No run of this module takes more than a part of the budget.
"""

import math
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from priolane._core import InputError
from priolane.advice.choice import CHEAPEST, FINALISTS
from priolane.advice.flow_list import FlowList
from priolane.advice.goals import Goal
from priolane.advice.request import MINUTES, AdviceContext
from priolane.advice.spending import SENSITIVITY, TUNING
from priolane.advice.sufficiency import MARGIN, least_span_s
from priolane.advice.trials import FLOWS, Experiment, RunOptions, Trials, hops, longest_s
from priolane.advice.windows import FEWEST, MOST, Windows
from priolane.model.experiment import plan
from priolane.model.quantity import size
from priolane.results.numbers import format_value

JUDGED = FINALISTS + CHEAPEST + 3
"""Whole lists that judging takes at least: finalists, the cheapest, tuned thresholds, the reference."""
# The length of a drawn list, in lengths that flows at its beginning ask for: later ones may take longer.
_DRAWN = 1.5
# Packet-hops of a list over `least`: an ACK for each packet, and some that are sent again.
_TIMES_LEAST = 3.0
# Of the budget, what the run on the beginning of the list may take.
_CALIBRATION = 0.25
# Packet-hops of the run that converts minutes, and how many times as many a list has where one is needed.
_PROBE, _WORTH_PROBE = 8e6, 20
# How much faster than in that short run a machine may turn out.
_FASTER = 2.0


@dataclass(frozen=True)
class Pace:
    """The budget, packet-hops of today's scheme on the whole list, and the trials on its beginning that showed them."""

    budget: float
    whole: float
    trials: Mapping[str, Trials]

    def longest_s(self, goals: tuple[Goal, ...]) -> float:
        """The longest completion time of a flow of the goals on the beginning of the list: others may take longer."""
        return max(longest_s(of, goals) for of in self.trials.values())


def least_hops(context: AdviceContext, flows: FlowList) -> float:
    """The packet-hops that the data of `flows` takes at least: two links in a rack, three or more between racks."""
    payload = size(context.fabric.frame["mtu"]) - size(context.fabric.frame["header"])
    rack = np.asarray(context.fabric.derived.racks)
    ends = (flows.columns[name].astype(np.int64) for name in ("src", "dst"))
    same = np.equal(*(rack[np.minimum(of, len(rack) - 1)] for of in ends))
    return float((np.ceil(flows.sizes / payload) * np.where(same, 2, 3)).sum())


def measure_pace(context: AdviceContext, count: int) -> Pace:
    """Runs today's scheme on the beginning of the list; raises `InputError` for a mistake of the user's files, and for
    a budget that surely has no room for the first round of `count` candidates and for judging."""
    first = Windows.over(context.flows, MOST)
    whole_list = _Beginning(context.flows, first if context.needs_whole_list else first.first(1))
    _experiment(context, "calibration", whole_list)
    limit = context.request.budget
    least = least_hops(context, context.flows)
    probed: Mapping[str, Trials] = {}
    if limit is not None:
        most = limit.amount
        _refuse_too_little(context, most, least, count)
    elif _TIMES_LEAST * least > _WORTH_PROBE * _PROBE:
        probed, per_s = _run(context, "probe", _beginning(context, _PROBE / (_TIMES_LEAST * least)))
        most = _of_minutes(context, per_s)
        _refuse_too_little(context, most, least, count, slack=_FASTER)
    else:
        most = math.inf
    part = _CALIBRATION * most / (_TIMES_LEAST * least)
    if part >= 1 or context.needs_whole_list:
        trials, per_s = _run(context, "calibration", whole_list)
        whole = hops(trials) * (MOST + 1) / (whole_list.windows.count + 1)
    else:
        beginning = _beginning(context, part)
        trials, per_s = _run(context, "calibration", beginning)
        whole = hops(trials) * least / least_hops(context, beginning.flows)
    if limit is not None:
        return Pace(limit.amount, whole, trials)
    budget = _of_minutes(context, per_s)
    context.tell(
        f"{_minutes(context):g} minutes of this machine: the same answer elsewhere by --budget {budget:.3g}hops"
    )
    return Pace(budget, whole, {**{f"probe_{name}": of for name, of in probed.items()}, **trials})


@dataclass(frozen=True)
class _Beginning:
    """The flows of a run on the beginning of the list, and its windows."""

    flows: FlowList
    windows: Windows


def _beginning(context: AdviceContext, part: float) -> _Beginning:
    """A part of the list, whose second half is read."""
    flows = context.flows.beginning(part)
    return _Beginning(flows, Windows.over(flows, 1))


def _experiment(context: AdviceContext, name: str, beginning: _Beginning) -> Experiment:
    """The experiment of today's scheme; raises `InputError` for a mistake of the user's files."""
    is_cut = beginning.flows is not context.flows
    lists = f"{FLOWS}_{name}" if is_cut else FLOWS
    if is_cut:
        beginning.flows.write(context.request.out / lists)
    now = context.today.candidate
    experiment = context.experiment(f"{name}.toml", [now], beginning.windows, flows=beginning.flows, lists=lists)
    try:
        plan(experiment.path)
    except InputError as error:
        raise InputError(_about_fabric(error, experiment.path, context)) from None
    return experiment


def _run(context: AdviceContext, name: str, beginning: _Beginning) -> tuple[Mapping[str, Trials], float]:
    """Runs today's scheme; returns its trials and the packet-hops in a second."""
    experiment, now = _experiment(context, name, beginning), context.today.candidate
    directory = context.request.out / "runs" / name
    is_new = not directory.exists()
    if context.request.budget is None:
        # Runs that are there already have no pace.
        shutil.rmtree(directory, ignore_errors=True)
    one_job = RunOptions(replace(context.request.settings, jobs=1), context.request.watcher)
    began = time.perf_counter()
    trials = experiment.trials(directory, [now.name], one_job, context.read)
    per_s = hops(trials) / (time.perf_counter() - began)
    if is_new or context.request.budget is None:
        context.speed.hops_per_s = per_s * max(1, context.request.settings.jobs)
    return trials, per_s


def lengthen(context: AdviceContext, pace: Pace) -> tuple[AdviceContext, Pace]:
    """The context with a longer list where the list is drawn, and too short for flows as they run at its beginning."""
    traffic, span = context.request.traffic, context.flows.span_s
    least = MARGIN * least_span_s(pace.longest_s(context.goals))
    if not traffic.is_drawn or span >= least or not math.isfinite(least):
        return context, pace
    flows = traffic.longer(context.flows, context.fabric, _DRAWN * least)
    context.tell(f"flows are drawn for {format_value(flows.span_s, 's')}: those of goals take long under load")
    flows.write(context.request.out / FLOWS)
    return replace(context, flows=flows), replace(pace, whole=pace.whole * flows.span_s / span)


def _about_fabric(error: InputError, path: Path, context: AdviceContext) -> str:
    """Mistakes of the experiment that was made of the user's files, as mistakes of these."""
    lines = []
    for mistake in error.mistakes:
        own = mistake.file == str(path) or mistake.file.startswith("schemes/")
        key = mistake.key.replace("scheme.today", "today", 1)
        place = f"{context.request.fabric}: {key}: "
        lines.append(f"{place}{mistake.what}. {mistake.advice}" if own else str(mistake))
    return "\n".join(lines) or str(error)


def _minutes(context: AdviceContext) -> float:
    """The minutes that an answer may take: those of the request, or the default."""
    return MINUTES if context.request.minutes is None else context.request.minutes


def _of_minutes(context: AdviceContext, hops_per_s: float) -> float:
    """The budget in packet-hops that the minutes of the request give at this pace."""
    return float(f"{hops_per_s * 60 * _minutes(context) * max(1, context.request.settings.jobs):.2g}")


def _needed(context: AdviceContext, whole: float, count: int) -> float:
    """The packet-hops of the race's first round of `count` candidates, and of judging on the whole list."""
    first = 1.0 if context.needs_whole_list else (FEWEST + 1) / (MOST + 1)
    return whole * (2 + count * first + JUDGED)


def _least_part(context: AdviceContext) -> float:
    """The least part of the list that has enough flows for each goal."""
    if context.needs_whole_list:
        return 1.0
    counts = context.counts()
    return min((FEWEST + 1) * goal.quantity.least / max(1, counts[goal.name]) for goal in context.goals)


def _room(budget: float) -> float:
    return (1 - TUNING - SENSITIVITY) * budget


def _refuse_too_little(context: AdviceContext, budget: float, least: float, count: int, slack: float = 1.0) -> None:
    """Raises `InputError` for a budget without room for the data of the flows alone, even if `slack` times as large."""
    if slack * _room(budget) < _needed(context, least, count) * _least_part(context):
        needed = _needed(context, _TIMES_LEAST * least, count) * _least_part(context)
        raise _too_little(budget, count, 1.1 * needed / _room(1.0))


def _too_little(budget: float, count: int, enough: float) -> InputError:
    return InputError(
        f"--budget {budget:.3g}hops: {count} candidates and judging leave too few flows to read; at least "
        f"--budget {float(f'{enough:.2g}'):.3g}hops, or --minutes"
    )


def fit(context: AdviceContext, pace: Pace, count: int) -> tuple[AdviceContext, Pace]:
    """The context with as much of the list as the budget has room for; raises `InputError` if that is too little.

    The race needs its first round of `count` candidates, and judging the whole list.
    """
    needed, room = _needed(context, pace.whole, count), _room(pace.budget)
    if needed <= room:
        return context, pace
    part, least = room / needed, _least_part(context)
    if context.needs_whole_list or part < least:
        raise _too_little(pace.budget, count, 1.1 * pace.budget * least / part)
    enough = float(f"{1.05 * pace.budget / part:.2g}")
    shorter = replace(context, flows=context.flows.beginning(part), part=part, enough=enough)
    context.tell(str(shorter.cut))
    shorter.flows.write(context.request.out / FLOWS)
    return shorter, replace(pace, whole=pace.whole * part)
