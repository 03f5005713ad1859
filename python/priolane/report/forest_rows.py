"""Claims as rows of a forest plot: each value over what its claim asks, and the band that the claim allows.

The bands are those of the verdicts (`priolane_lab::verdict::rules`). What cannot be told as a ratio, such as a
difference or a bound of 0, has no row.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from priolane.figure.forest import ForestRow
from priolane.report.sentences.rows import furthest, judged
from priolane.report.sentences.values import rounded
from priolane.report.sentences.words import statement
from priolane.report.templates import badge_of
from priolane.results.estimate import Estimate
from priolane.results.report import Claim

# Of a claim with more values, the one that is furthest off has a row.
_MOST_ROWS = 2


@dataclass(frozen=True)
class AllowedBand:
    """The criterion of a claim: the number that values are divided by, and the band of the quotient."""

    of: float
    low: float
    high: float

    def distance(self, mean: float) -> float:
        """The distance of a mean from the band, as a logarithm; below 0 inside."""
        value = mean / self.of
        if value <= 0:
            return math.inf
        below = math.log(self.low / value) if self.low > 0 else -math.inf
        above = math.log(value / self.high) if self.high < math.inf else -math.inf
        return max(below, above)


def forest_rows(claims: Sequence[Claim]) -> list[ForestRow]:
    """The rows of claims, in their order."""
    return [row for claim in claims for row in _rows(claim)]


def allowed_band(claim: Claim) -> AllowedBand | None:
    """The criterion of a claim; `None` where that is no ratio."""
    test = claim.test
    match test["kind"]:
        case "ratio":
            within = test["within"]
            return AllowedBand(test["paper"], 1 - within, 1 + within) if test["paper"] > 0 else None
        case "equal" | "agree":
            return AllowedBand(1.0, 1 / (1 + test["within"]), 1 + test["within"])
        case "order":
            return AllowedBand(1.0, 1.0, math.inf)
        case "trend":
            return AllowedBand(1.0, 1.0, math.inf) if test["goes"] == "up" else AllowedBand(1.0, 0.0, 1.0)
        case "bound":
            return _bound(test.get("above"), test.get("below"))
        case kind:
            raise KeyError(kind)


def _bound(above: float | None, below: float | None) -> AllowedBand | None:
    of = next((end for end in (above, below) if end is not None and end > 0), None)
    if of is None or (above is not None and above < 0 and below is None):
        return None
    return AllowedBand(of, max(above or 0.0, 0.0) / of, math.inf if below is None else below / of)


def _rows(claim: Claim) -> list[ForestRow]:
    band = allowed_band(claim)
    if band is None or not claim.contrasts:
        return []
    compares = claim.test["kind"] in ("order", "equal", "trend")
    kept = _decisive(claim, band)
    rows = [(nth, claim.contrasts[nth]) for nth in kept if not compares or claim.contrasts[nth].is_ratio]
    places = [place for place, _ in judged(claim)]
    more = "" if len(kept) == len(claim.contrasts) else f"furthest of {len(claim.contrasts)}"
    return [
        _row(claim, band, item.estimate, ", ".join(part for part in (places[nth], more) if part))
        for nth, item in rows
        if item.estimate.mean is not None and item.estimate.mean / band.of > 0
    ]


def _decisive(claim: Claim, band: AllowedBand) -> list[int]:
    """The places of the values that have a row: all of a few, or the one that is furthest off."""
    places = range(len(claim.contrasts))
    if claim.test["kind"] == "trend":
        # The fitted change of each line is the first comparison of its point.
        firsts = [next(nths) for _, nths in groupby(places, key=lambda nth: dict(claim.contrasts[nth].at))]
        return firsts[:_MOST_ROWS]
    return list(places) if len(places) <= _MOST_ROWS else [furthest(claim, band.distance)]


def _row(claim: Claim, band: AllowedBand, estimate: Estimate, place: str) -> ForestRow:
    over = estimate.scaled(1 / band.of)
    sign = badge_of(claim)
    interval = None if over.low is None or over.high is None else (over.low, over.high)
    says = statement(claim.text)
    where = f" at {place}" if place else ""
    return ForestRow(
        style=sign["class"],
        sign=sign["sign"],
        text=says,
        place=place,
        mean=over.mean or 0.0,
        interval=interval,
        band=(band.low, band.high),
        description=f"{sign['word']}: {says}{where}: {_text(over)} of what is claimed; allowed: {_band(band)}",
    )


def _text(over: Estimate) -> str:
    mean, *ends = rounded(over, 1.0)
    return f"{mean} [{', '.join(ends)}]" if ends and ends[0] != ends[1] else mean


def _band(band: AllowedBand) -> str:
    if band.high == math.inf:
        return f"above {band.low:.3g}"
    return f"{band.low:.3g} to {band.high:.3g}" if band.low else f"below {band.high:.3g}"
