"""Claims that a metric rises or falls along a swept key."""

from itertools import groupby, pairwise

from priolane.report.sentences.places import place_text
from priolane.report.sentences.values import Detail, estimate_text, listed, short_text
from priolane.report.sentences.words import with_values
from priolane.results.report import Claim, MeasuredQuantity

_UP = "up"


def sentence(claim: Claim, detail: Detail = Detail.FULL) -> str:
    """`FCT grows with load: it rises in 5 of 6 steps, 2.3 times [2.1, 2.5] from 0.1 to 0.7; asked: in all`."""
    verb = "rises" if claim.test["goes"] == _UP else "falls"
    good, steps = steps_as_claimed(claim)
    plural = "" if steps == 1 else "s"
    measured = f"it {verb} in {good} of {steps} step{plural}, {_fitted(claim, detail)}"
    return with_values(claim.text, measured, "in all", detail)


def steps_as_claimed(claim: Claim) -> tuple[int, int]:
    """The number of steps from one mean to the next that go as claimed, and the number of all, over all lines."""
    up = claim.test["goes"] == _UP
    good = steps = 0
    for _, line in groupby(claim.measured, key=lambda item: dict(item.at)):
        for first, second in pairwise(item.estimate.mean for item in line):
            steps += 1
            good += first is not None and second is not None and (second > first if up else second < first)
    return good, steps


def _fitted(claim: Claim, detail: Detail) -> str:
    """The fitted change of each line, which is the first comparison of its point."""
    changes = [next(items) for _, items in groupby(claim.contrasts, key=lambda item: dict(item.at))]
    first = changes[0]
    word = " times" if first.is_ratio else ""
    if detail is Detail.BRIEF:
        return f"{'' if word else 'by '}{short_text([item.estimate for item in changes], first.unit, word)}"
    if len(changes) == 1:
        return f"{'' if word else 'by '}{estimate_text(first.estimate, first.unit, word)}{_ends(first)}"
    points = [item.at for item in changes]
    rows = [(place_text(item.at, points), item.estimate) for item in changes]
    return f"{'' if word else 'by '}{listed(rows, first.unit, word)}"


def _ends(change: MeasuredQuantity) -> str:
    """` from 0.1 to 0.9`: the values of the swept key; empty where nobody tells them."""
    if len(change.sides) != 2:
        return ""
    last, first = (place_text(side.at).rpartition(" ")[2] for side in change.sides)
    return f" from {first} to {last}"
