"""Claims that metrics are in an order: each is above the next."""

from priolane.report.sentences.contrast import around_ratio
from priolane.report.sentences.rows import judged, values_text
from priolane.report.sentences.values import Detail, listed, short_text
from priolane.report.sentences.words import with_values
from priolane.results.report import Claim

_TIMES = " times"


def sentence(claim: Claim, detail: Detail = Detail.FULL) -> str:
    """`Small flows finish 2.9 times [1.9, 4.4] as fast with pias as with dctcp`; what is asked is meant: above 1."""
    pair = pair_text(claim, detail)
    if pair:
        return pair
    values = values_text(claim, lambda mean: -mean, detail=detail)
    if all(item.is_ratio for item in claim.contrasts):
        return with_values(claim.text, f"ratios of {values}", "above 1", detail)
    return with_values(claim.text, f"differences of {values}", "above 0", detail)


def pair_text(claim: Claim, detail: Detail = Detail.FULL) -> str:
    """The comparison of two metrics as a sentence of its own; empty where the claim has more, or differences."""
    around = {around_ratio(item) for item in claim.contrasts}
    words = around.pop() if len(around) == 1 else None
    if words is None:
        return ""
    before, behind = words
    rows, unit = judged(claim), claim.contrasts[0].unit
    if detail is Detail.BRIEF:
        return f"{before}{short_text([estimate for _, estimate in rows], unit, _TIMES)}{behind}"
    if len(rows) > 1 and any(place for place, _ in rows):
        first, *others = rows
        if len(rows) <= 3:
            text = f"{before}{listed([('', first[1])], unit, _TIMES)}{behind} at {first[0]}"
            more = [listed([row], unit, _TIMES) for row in others]
            return ", ".join([text, *more[:-1], f"and {more[-1]}"])
    return f"{before}{values_text(claim, lambda mean: -mean, _TIMES)}{behind}"
