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
from priolane.model.quantity import size_text
from priolane.model.toml import toml_text
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
        shortage = _too_few(goal, counts[goal.name], flows)
        if shortage is not None:
            return shortage
    sampled = sampling_of(flows.path, context.request.sampling)
    if sampled is not None and sampled > 1:
        return Insufficient(
            f"1 packet in {sampled} of {flows.path} was seen: most small flows are missing, and sizes are estimates",
            "Record some minutes without sampling, or state sizes and a load: --sizes NAME --load PART",
        )
    rate = context.fabric.fastest_host
    if rate is None:
        return None
    alone_s = max(_largest_of(context, goal) for goal in context.goals) * 8 / rate
    if context.flows.span_s >= least_span_s(alone_s):
        return None
    what = f"the largest flow of a goal takes {format_value(alone_s, 's')} alone"
    return Insufficient(
        f"{_spans(context)}, and {what}: its parts depend on each other",
        f"Use a list of {format_value(least_span_s(alone_s), 's')} at least",
    )


MARGIN = 1.3
"""The length of a list that cures, in least lengths: the longest flow of a longer list takes longer."""


def least_span_s(longest_s: float) -> float:
    """The shortest list for flows that take so long, in seconds."""
    return TIMES_LONGEST * longest_s * (FEWEST + 1)


def too_short(context: AdviceContext, longest_s: float) -> Insufficient | None:
    """Whether the list has too few windows for flows of goals that take so long under what runs today.

    The cure has a margin: on a longer list some flows take longer than the longest that was seen.
    """
    if not math.isfinite(longest_s) or context.flows.span_s >= least_span_s(longest_s):
        return None
    takes = f"flows of goals take up to {format_value(longest_s, 's')} today"
    needed = MARGIN * least_span_s(longest_s)
    narrower = _narrower(context, needed)
    alternative = f"; or narrow the class in the fabric file: {narrower}" if narrower else ""
    whole = context.flows.span_s / context.part
    if context.part < 1 and whole >= needed:
        enough = float(f"{context.enough * needed / whole:.2g}")
        per_s = context.speed.hops_per_s
        time = "" if per_s is None else f", about {math.ceil(enough / per_s / 60)} minutes here"
        return Insufficient(
            f"the budget has room for {format_value(context.flows.span_s, 's')} of {context.flows.path}, and {takes}",
            f"Use --budget {enough:.3g}hops{time}{alternative}",
        )
    return Insufficient(
        f"{_spans(context)}, and {takes}: its parts depend on each other",
        f"Use a list of {format_value(needed, 's')} at least{alternative}",
    )


def _spans(context: AdviceContext) -> str:
    whole = f", of {format_value(context.flows.span_s / context.part, 's')} in all" if context.part < 1 else ""
    return f"{context.flows.path} spans {format_value(context.flows.span_s, 's')}{whole}"


def _narrower(context: AdviceContext, needed_s: float) -> str | None:
    """The class with the largest flows without those that take too long, as the fabric file states it.

    `None` where nothing would be left. Completion times are taken to grow with sizes.
    """
    goal = max(context.goals, key=lambda goal: _largest_of(context, goal))
    of = context.fabric.classes.get(goal.size_class)
    if of is None:
        return None
    largest = _largest_of(context, goal) * context.flows.span_s / needed_s
    if largest < 1:
        return None
    power = 10 ** math.floor(math.log10(largest))
    below = max(step * power for step in (1, 2, 5) if step * power <= largest)
    kept = {**of, "below": size_text(below)}
    narrowed = context.flows.in_class(kept)
    if narrowed.sum() < goal.quantity.least * (FEWEST + 1):
        return None
    inside = ", ".join(f"{key} = {toml_text(value)}" for key, value in kept.items())
    return f"{goal.size_class} = {{ {inside} }}"


# Of as many windows as there may be, those that a guess must have: the list runs again with others.
_ENOUGH_OF_GUESS = 0.75


def guess_windows(context: AdviceContext, longest_s: float) -> Windows:
    """The windows for flows that take a little longer than those at the beginning of the list."""
    return windows(context, MARGIN * longest_s) if math.isfinite(longest_s) else Windows.over(context.flows, MOST)


def windows(
    context: AdviceContext, longest_s: float, times: float = TIMES_LONGEST, guess: Windows | None = None
) -> Windows:
    """The windows of a list that is long enough: as many as flows and their completion times allow, each at least
    `times` the longest of these. They are those of a `guess` if these are as long and nearly as many."""
    counts = context.counts()
    by_flows = min(counts[goal.name] // goal.quantity.least for goal in context.goals) - 1
    by_time = MOST if longest_s <= 0 else int(context.flows.span_s / (times * longest_s)) - 1
    count = max(FEWEST, min(MOST, by_flows, by_time))
    if guess is not None and _ENOUGH_OF_GUESS * count <= guess.count <= count:
        return guess
    return Windows.over(context.flows, count)


def _largest_of(context: AdviceContext, goal: Goal) -> float:
    of: Mapping[str, object] = context.fabric.classes.get(goal.size_class, {})
    if goal.quantity.is_of_coflows:
        return 0.0
    return float(context.flows.sizes[context.flows.in_class(of)].max(initial=0.0))


def _too_few(goal: Goal, count: int, flows: FlowList) -> Insufficient | None:
    noun = "coflow" if goal.quantity.is_of_coflows else "flow"
    deadline = " with a deadline" if goal.quantity.is_of_deadlines else ""
    if count == 0:
        return Insufficient(
            f"no {noun}{deadline} of {flows.path} is in the class {goal.size_class}",
            "Use a list with such flows, or a goal of another class",
        )
    least = goal.quantity.least * (FEWEST + 1)
    if count >= least:
        return None
    longer = format_value(flows.span_s * least / count, "s")
    counted = f"{count} {noun}{'' if count == 1 else 's'}{deadline}"
    return Insufficient(
        f"{goal.asked} rests on {counted} of {flows.path}, where {least} are needed",
        f"Use a list of {longer} at least, or a goal that fewer flows decide, such as mean.{goal.size_class}",
    )
