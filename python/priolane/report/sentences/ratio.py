"""Claims that a metric, or the ratio of two, is a number that a paper prints."""

from priolane.report.sentences.rows import log_distance, values_text
from priolane.report.sentences.values import NO_BREAK, Detail, number_text
from priolane.report.sentences.words import with_values
from priolane.results.report import Claim


def sentence(claim: Claim, detail: Detail = Detail.FULL) -> str:
    """`A flow of DS gets 6.21 Gbps: 6.04 [5.87, 6.22] Gbit/s here, 6.21 Gbit/s in the paper; asked: within 15 %`."""
    stated = claim.test["paper"]
    here = values_text(claim, lambda mean: log_distance(mean, stated), detail=detail)
    number = number_text(stated, claim.contrasts[0].unit)
    within = f"{100 * claim.test['within']:g}{NO_BREAK}%"
    return with_values(claim.text, f"{here} here, {number} in the paper", f"within {within}", detail)
