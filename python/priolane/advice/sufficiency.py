"""The questions that a list cannot answer, and the cures: found before any run where possible.

no flow of a class     the goal has nothing to be judged by
sampled                most small flows were not seen
too few flows          a window has too few flows of a goal's class
too short              windows are not longer than flows take, and depend on each other
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from priolane.advice.flow_list import FlowList
from priolane.advice.goals import Goal
from priolane.advice.recording import sampling_of
from priolane.advice.request import AdviceContext
from priolane.advice.windows import FEWEST, MOST, TIMES_LONGEST, Windows
from priolane.results.numbers import format_value


@dataclass(frozen=True)
class Insufficient:
    """The lack of a list: the reason in a sentence, and the cure in another."""

    reason: str
    cure: str

    def __str__(self) -> str:
        """Both."""
        return f"{self.reason}. {self.cure}"


def before_runs(context: AdviceContext) -> Insufficient | None:
    """The lack of the list that is known before any run; `None` if nothing is known against it."""
    flows = context.flows
    counts = context.counts()
    for goal in context.goals:
        found = _too_few(goal, counts[goal.name], flows)
        if found is not None:
            return found
    sampled = sampling_of(flows.path, context.request.sampling)
    if sampled is not None and sampled > 1:
        return Insufficient(
            f"1 packet in {sampled} of {flows.path} was seen: most small flows are missing, and sizes are estimates",
            "Record some minutes without sampling, or state sizes and a load: --sizes NAME --load PART",
        )
    rate = context.fabric.host_rate
    if rate is None:
        return None
    alone_s = max(_largest_of(context, goal) for goal in context.goals) * 8 / rate
    return too_short(context, alone_s, f"the largest flow of a goal takes {format_value(alone_s, 's')} alone")


def too_short(context: AdviceContext, longest_s: float, what: str) -> Insufficient | None:
    """Whether the list has too few windows for flows that take so long; `what` says which do."""
    if not math.isfinite(longest_s):
        return None
    least_s = TIMES_LONGEST * longest_s * (FEWEST + 1)
    span = context.flows.span_s
    if span >= least_s:
        return None
    needed = format_value(least_s, "s")
    if context.part < 1 and span / context.part >= least_s:
        return Insufficient(
            f"the budget has room for {format_value(span, 's')} of {context.flows.path}, and {what}",
            f"Use {least_s / span:.2g} times the budget at least (--budget or --minutes)",
        )
    cure = f"Use a list of {needed} at least"
    if context.request.traffic.is_drawn:
        cure += ", or goals of a class whose flows are shorter" if context.request.traffic.file is None else ""
    return Insufficient(
        f"{context.flows.path} spans {format_value(span, 's')}, and {what}: its parts depend on each other",
        cure,
    )


def windows(context: AdviceContext, longest_s: float, times: float = TIMES_LONGEST) -> Windows:
    """The windows of a list that is long enough: as many as flows and their completion times allow, each at least
    `times` the longest of these."""
    counts = context.counts()
    by_flows = min(counts[goal.name] // goal.quantity.least for goal in context.goals) - 1
    by_time = MOST if longest_s <= 0 else int(context.flows.span_s / (times * longest_s)) - 1
    return Windows.over(context.flows, max(FEWEST, min(MOST, by_flows, by_time)))


def _largest_of(context: AdviceContext, goal: Goal) -> float:
    of: Mapping[str, object] = context.fabric.classes.get(goal.size_class, {})
    if goal.quantity.is_of_coflows:
        return 0.0
    return float(context.flows.sizes[context.flows.in_class(of)].max(initial=0.0))


def _too_few(goal: Goal, count: int, flows: FlowList) -> Insufficient | None:
    one = "coflow" if goal.quantity.is_of_coflows else "flow"
    deadline = " with a deadline" if goal.quantity.is_of_deadlines else ""
    if count == 0:
        return Insufficient(
            f"no {one}{deadline} of {flows.path} is in the class {goal.size_class}",
            "Use a list with such flows, or a goal of another class",
        )
    least = goal.quantity.least * (FEWEST + 1)
    if count >= least:
        return None
    longer = format_value(flows.span_s * least / count, "s")
    counted = f"{count} {one}{'' if count == 1 else 's'}{deadline}"
    return Insufficient(
        f"{goal.name} rests on {counted} of {flows.path}, where {least} are needed",
        f"Use a list of {longer} at least, or a goal that fewer flows decide, such as mean.{goal.size_class}",
    )
