"""Claims that no two of some metrics differ by more than a part."""

from priolane.report.sentences.order import pair_text
from priolane.report.sentences.rows import log_distance, values_text
from priolane.report.sentences.values import NO_BREAK, Detail
from priolane.report.sentences.words import with_values
from priolane.results.report import Claim


def sentence(claim: Claim, detail: Detail = Detail.FULL) -> str:
    """`All flows take 1.105 times [1.102, 1.108] as long with top as with ideal_tokens; asked: equal within 10 %`."""
    question = f"equal within {100 * claim.test['within']:g}{NO_BREAK}%"
    pair = pair_text(claim, detail)
    if pair:
        return f"{pair}, where {question} is asked" if detail is Detail.BRIEF else f"{pair}; asked: {question}"
    ratios = all(item.is_ratio for item in claim.contrasts)
    what = "ratios" if ratios else "differences"
    values = values_text(claim, lambda mean: log_distance(mean, 1.0) if ratios else abs(mean), detail=detail)
    return with_values(claim.text, f"{what} of {values}", question, detail)
