"""The values that a claim was judged by, with the places where they were measured."""

import math
from collections.abc import Callable, Sequence

from priolane.report.sentences.places import place_text
from priolane.report.sentences.values import Detail, Place, estimate_text, listed, short_text
from priolane.results.report import Claim, MeasuredQuantity, Verdict

_MOST_LISTED = 3


def judged(claim: Claim) -> list[Place]:
    """Each value that the verdict depends on; its place is what tells it from the others."""
    points = [item.at for item in claim.contrasts]
    several = len({_pair(item) for item in claim.contrasts}) > 1
    return [(_label(item, place_text(item.at, points), several=several), item.estimate) for item in claim.contrasts]


def values_text(claim: Claim, distance: Callable[[float], float], word: str = "", detail: Detail = Detail.FULL) -> str:
    """The values; of many that are not all as claimed, the one that is furthest from it too. `distance` is how far a
    mean is from what the claim asks: more is worse."""
    rows, unit = judged(claim), claim.contrasts[0].unit
    if detail is Detail.BRIEF:
        return short_text([estimate for _, estimate in rows], unit, word)
    text = listed(rows, unit, word)
    if len(rows) <= _MOST_LISTED or claim.verdict is Verdict.REPRODUCED:
        return text
    place, estimate = rows[furthest(claim, distance)]
    return f"{text}, furthest off {estimate_text(estimate, unit, word)}" + (f" at {place}" if place else "")


def furthest(claim: Claim, distance: Callable[[float], float]) -> int:
    """The place of the value that is furthest from what a claim asks, among those with the verdict of the claim."""
    decisive = [nth for nth, item in enumerate(claim.contrasts) if item.verdict is claim.verdict]

    def how_far(nth: int) -> float:
        mean = claim.contrasts[nth].estimate.mean
        return -math.inf if mean is None else distance(mean)

    return max(decisive or range(len(claim.contrasts)), key=how_far)


def log_distance(value: float, of: float) -> float:
    """The distance of two values above 0, in factors; of others, their difference."""
    return abs(math.log(value / of)) if value > 0 and of > 0 else abs(value - of)


def _pair(item: MeasuredQuantity) -> Sequence[object]:
    return tuple((side.quantity, side.of_class, side.scheme, str(side.at)) for side in item.sides) or (item.what,)


def _label(item: MeasuredQuantity, place: str, *, several: bool) -> str:
    """The place where a value was measured and, where pairs differ, its quantity."""
    return ", ".join(part for part in (_difference(item) if several else "", place) if part)


def _difference(item: MeasuredQuantity) -> str:
    """The sides of a comparison by what differs between them: `pias over dctcp`."""
    parts = [(side.scheme, side.of_class, side.quantity, place_text(side.at)) for side in item.sides]
    if len(parts) == 1:
        return parts[0][0]
    shown = [nth for nth in range(4) if len({part[nth] for part in parts}) > 1]
    return " over ".join(" ".join(part[nth] for nth in shown if part[nth]) for part in parts)
