"""Claims that a metric is a stated number, seed by seed."""

from priolane.report.sentences.rows import log_distance, values_text
from priolane.report.sentences.values import NO_BREAK, Detail
from priolane.report.sentences.words import with_values
from priolane.results.report import Claim


def sentence(claim: Claim, detail: Detail = Detail.FULL) -> str:
    """`A run ends as the other simulator's: measured over stated is 1.002 [0.999, 1.005]; asked: 1 within 1 %`."""
    over = values_text(claim, lambda mean: log_distance(mean, 1.0), detail=detail)
    within = f"{100 * claim.test['within']:g}{NO_BREAK}%"
    return with_values(claim.text, f"measured over stated is {over}", f"1 within {within}", detail)
