"""Claims as sentences: what was measured, what was asked, and what came of it. One file for each kind of claim."""

import re
from collections.abc import Callable, Mapping

from priolane.report.sentences import agree, bound, equal, order, ratio, trend
from priolane.report.sentences.undecided import reason_text, seeds_text
from priolane.report.sentences.values import Detail
from priolane.report.sentences.words import sentence_case, statement
from priolane.results.report import Claim, Direction, Standing, Verdict

__all__ = ["finding", "headline", "is_measured", "reason_text", "seeds_text", "title_is_claim_alone", "verdict_text"]

_KINDS: Mapping[str, Callable[[Claim, Detail], str]] = {
    "agree": agree.sentence,
    "bound": bound.sentence,
    "equal": equal.sentence,
    "order": order.sentence,
    "ratio": ratio.sentence,
    "trend": trend.sentence,
}
# A title that is not shown to be so must not read as a result.
_PREFIXES = {
    Standing.CONTRADICTED: "Not so here: ",
    Standing.IMPOSSIBLE: "Impossible as printed: ",
    Standing.FITTED: "Fitted: ",
    Standing.UNDECIDED: "Open: ",
    Standing.INCOMPLETE: "Not finished: ",
}
# A title leaves out the numbers that we take for words of a claim, and brackets before the values.
_ASIDE = re.compile(r"\s*\((?:we take|ours)[^()]*\)|\s*\([^()]*\)(?= \([^()]*\)$)")
_COLON, _DASH = ": ", " \N{EN DASH} "
_LEANS = {Direction.AGREES: ", leans yes", Direction.OPPOSES: ", leans no"}


def headline(claim: Claim) -> str:
    """A claim as a title that says whether it is so: no intervals, places and asides, and one colon at most. A claim
    that is not shown to be so keeps its own words."""
    words = statement(claim.text) if title_is_claim_alone(claim) else finding(claim, Detail.BRIEF).rstrip(".")
    text = _prefix(claim) + _ASIDE.sub("", words)
    more = text.count(_COLON) - 1
    return text.replace(_COLON, _DASH, max(more, 0))


def finding(claim: Claim, detail: Detail = Detail.FULL) -> str:
    """The measurement and the criterion of a claim as one sentence, for a place that has the verdict beside it."""
    if not is_measured(claim):
        none = "not measured"
        return f"{statement(claim.text)} ({none})." if detail is Detail.BRIEF else f"{statement(claim.text)}: {none}."
    return f"{sentence_case(_KINDS[claim.test['kind']](claim, detail))}."


def title_is_claim_alone(claim: Claim) -> bool:
    """Whether the title of a claim is the claim without a number: `Not so here` before a measurement would deny it."""
    return bool(_prefix(claim)) and statement(claim.text) not in finding(claim, Detail.BRIEF)


def _prefix(claim: Claim) -> str:
    measured = claim.is_impossible or is_measured(claim)
    return _PREFIXES.get(claim.standing if measured else Standing.INCOMPLETE, "")


def is_measured(claim: Claim) -> bool:
    """Whether all values that the verdict depends on are there."""
    return bool(claim.contrasts) and all(item.estimate.mean is not None for item in claim.contrasts)


def verdict_text(claim: Claim) -> str:
    """The verdict in words, and what an undecided claim leans to."""
    if claim.standing is not Standing.UNDECIDED:
        return claim.word
    if claim.uncorrected_verdict not in (Verdict.UNDECIDED, Verdict.INCOMPLETE):
        return f"{claim.word} (alone: {claim.source.word(claim.uncorrected_verdict)})"
    return claim.word + _LEANS.get(claim.direction, "")
