"""Claims that a metric, or the ratio of two, is in a range."""

import math

from priolane.report.sentences.rows import values_text
from priolane.report.sentences.values import Detail, number_text
from priolane.report.sentences.words import with_values
from priolane.results.report import Claim


def sentence(claim: Claim, detail: Detail = Detail.FULL) -> str:
    """`Large flows lose at most 10 % with PIAS: 1.17 [1.03, 1.30]; asked: above 0.9`."""
    above, below = claim.test.get("above"), claim.test.get("below")

    def beyond(mean: float) -> float:
        # Below 0 within the band: the value that is nearest to an end is the furthest off.
        return max(above - mean if above is not None else -math.inf, mean - below if below is not None else -math.inf)

    unit = claim.contrasts[0].unit
    ends = [f"{name} {number_text(end, unit)}" for name, end in (("above", above), ("below", below)) if end is not None]
    return with_values(claim.text, values_text(claim, beyond, detail=detail), " and ".join(ends), detail)
