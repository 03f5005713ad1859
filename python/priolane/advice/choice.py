"""The candidates that are judged, their trials on the whole list, and the candidate that leads."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from priolane.advice.answer import JudgedCandidate
from priolane.advice.candidate import Candidate
from priolane.advice.candidates import PUBLISHED
from priolane.advice.outcomes import Values, estimates, is_surely_better, meeting, outcomes, surely_meeting
from priolane.advice.racing import Race, Why
from priolane.advice.request import AdviceContext
from priolane.advice.trials import Trials, timed_out_parts, values

FINALISTS = 4
"""The best of the race that are judged."""
CHEAPEST = 3
"""The candidates that met all goals in the race and cost least, which are judged, too."""
_LEAST = 2
"""The candidates that are judged whatever that takes: the best one, and the cheapest that surely met all goals."""


@dataclass(frozen=True)
class Judged:
    """The trials on the whole list: those by candidate, the same on the second half of the windows, and those of
    references."""

    trials: Mapping[str, Trials]
    second_half: Mapping[str, Trials]
    references: Mapping[str, Trials]


def choose_finalists(
    context: AdviceContext, raced: Race, by_name: Mapping[str, Candidate], tuned: Candidate, room: float
) -> list[Candidate]:
    """The candidates that are judged beside today's scheme, as many as `room` has whole lists for, and at least two.

    They are the best of the race, the cheapest ones that met all goals in it (surely before in the mean), thresholds
    that tuning found with those that it began with, and published ones. Candidates that were eliminated last follow
    where these are few. Where the race ran on the whole list, the best candidate of each relative goal is judged, too.
    """
    best = raced.left[:FINALISTS]
    cheapest = _cheapest(context, raced, by_name)
    late = [name for name, how in raced.ended.items() if how.why in (Why.EXCLUDED, Why.BUDGET)]
    late.sort(key=lambda name: (-raced.ended[name].windows, raced.scores[name]))
    origin = [] if tuned.tuned_from is None else [tuned.tuned_from]
    published = [PUBLISHED] if PUBLISHED in by_name else []
    cost = {name: context.today.cost(by_name[name]) for name in cheapest}
    cheaper = [name for name in cheapest[1:2] if cost[name] < cost[cheapest[0]]]
    names = [*best[:1], *cheapest[:1], *cheaper, *origin, *published, tuned.name, *best[1:2], *cheapest[1:], *best[2:]]
    names += late[: FINALISTS - len(best)]
    known = list(dict.fromkeys(name for name in names if name in by_name))[
        : max(_LEAST, math.floor(min(room, len(names))))
    ]
    # Tuned thresholds lead only where they are better than those that they began with, and than published ones.
    is_fair = not origin or {*origin, *published} <= {*known}
    if context.needs_whole_list:
        # Their runs are there already. A bound of those that are left alone would be too loose.
        known = list(dict.fromkeys([*known, *_best_of_goals(context, raced)]))
    return [by_name[name] for name in known if name != tuned.name or is_fair]


def _best_of_goals(context: AdviceContext, raced: Race) -> Iterator[str]:
    """The candidate with the best value of each goal that refers to the best."""
    for goal in (goal for goal in context.goals if goal.against == "best"):
        read = {name: own for name in raced.order if (own := raced.values[name][goal.name]) is not None}
        known = {name: own.all for name, own in read.items() if own.is_finite}
        if known:
            yield (max if goal.quantity.is_large_good else min)(known, key=lambda name: known[name])


def _cheapest(context: AdviceContext, raced: Race, by_name: Mapping[str, Candidate]) -> list[str]:
    left_out = {name for name, how in raced.ended.items() if how.why in (Why.SAME, Why.STUCK)}
    names = [name for name in meeting(context.goals, raced.values) if name not in left_out]
    names.sort(key=lambda name: context.today.cost(by_name[name]))
    # The cheapest in the mean alone may miss on the whole list, where the cheapest that is sure would lead.
    sure = {*surely_meeting(context.goals, raced.values)}
    first = [name for name in names if name in sure][:1]
    return [*first, *(name for name in names if name not in first)][:CHEAPEST]


def judge(
    context: AdviceContext,
    trials: Mapping[str, Trials],
    by_name: Mapping[str, Candidate],
    beside: Mapping[str, Trials] | None = None,
) -> dict[str, JudgedCandidate]:
    """The results of each candidate from its trials. Relative goals refer to all of them and to those `beside` them."""
    own = values(trials)
    results = outcomes(context.goals, own, {**values(beside or {}), **own})
    return {
        name: JudgedCandidate(
            candidate=by_name[name],
            estimates=estimates(context.read, own[name]),
            outcomes=results[name],
            timed_out=timed_out_parts(of),
        )
        for name, of in trials.items()
    }


def choose(context: AdviceContext, known: Mapping[str, JudgedCandidate], judged: Judged) -> JudgedCandidate:
    """The advice: today's scheme if it surely meets all goals, else the cheapest candidate that surely does; the
    nearest to the goals if none does.

    Of candidates that cost the same, the one with the best objective leads. Thresholds that tuning found do not lead
    those that it began with, nor published ones, unless they are surely better on windows that tuning did not see.
    """
    now = known[context.today.candidate.name]
    own, second_half = values(judged.trials), values(judged.second_half)
    if now.surely_meets:
        return now
    allowed = [
        contender
        for contender in known.values()
        if contender is not now and not _is_overfitted(context, contender, second_half)
    ]
    meeting = sorted(
        (contender for contender in allowed if contender.surely_meets),
        key=lambda contender: (context.today.cost(contender.candidate), contender.outcomes[0].miss),
    )
    if not meeting:
        return min(
            (now, *allowed), key=lambda contender: (contender.surely_misses, contender.miss, contender.outcomes[0].miss)
        )
    best = meeting[0]
    gain = context.request.preferences.least_gain
    if gain is None:
        return best
    for contender in meeting[1:]:
        better = is_surely_better(context.goals, own, contender.candidate.name, best.candidate.name)
        if better and contender.outcomes[0].miss <= best.outcomes[0].miss + math.log(1 - gain):
            best = contender
    return best


def _is_overfitted(context: AdviceContext, judged: JudgedCandidate, second_half: Mapping[str, Values]) -> bool:
    origin = judged.candidate.tuned_from
    if origin is None:
        return False
    names = [name for name in (origin, PUBLISHED) if name in second_half]
    return not all(is_surely_better(context.goals, second_half, judged.candidate.name, name) for name in names)


def judge_references(
    context: AdviceContext, judged: Judged, candidates: Sequence[Candidate]
) -> tuple[JudgedCandidate, ...]:
    """The results of references."""
    by_name = {candidate.name: candidate for candidate in candidates if candidate.name in judged.references}
    return tuple(judge(context, judged.references, by_name, judged.trials).values()) if by_name else ()
