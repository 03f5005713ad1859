"""The reason of a verdict in a sentence: what an undecided claim lacks, what was fitted, the cause of a contradicted
claim."""

from priolane.report.sentences.words import sentence_case
from priolane.results.report import Claim, Verdict, fitting

# Reasons that have a sentence here; the lab's text stands for all others.
_ONE_SEED, _INTERVAL, _AMONG = "one_seed", "interval", "claims"


def reason_text(claim: Claim) -> str:
    """The text after the sentence of a claim that is undecided, fitted, or contradicted for a stated cause; else
    empty."""
    if claim.fitted:
        return f"{sentence_case(fitting(claim.fitted))}."
    if claim.verdict is Verdict.CONTRADICTED and claim.cause is not None:
        return f"{sentence_case(str(claim.cause))}."
    return _lacks(claim) if claim.verdict is Verdict.UNDECIDED else ""


def _lacks(claim: Claim) -> str:
    """The reason why a claim is undecided, in a sentence."""
    if claim.reason_code == _ONE_SEED:
        return "One seed has no interval: run at least 3 seeds."
    seeds = seeds_text(claim)
    if claim.reason_code == _INTERVAL and seeds:
        return seeds
    if claim.reason_code == _AMONG and claim.uncorrected_verdict is not Verdict.UNDECIDED:
        alone = f"Alone it {_is(claim)}; among all claims it is open."
        return f"{alone} {seeds}".rstrip()
    return f"{sentence_case(claim.reason)}." if claim.reason else ""


def _is(claim: Claim) -> str:
    word = claim.source.word(claim.uncorrected_verdict)
    return word if word.startswith(("holds", "does")) else f"is {word}"


def seeds_text(claim: Claim) -> str:
    """The number of seeds that would decide the claim, with even odds; empty where nobody estimates that."""
    if claim.seeds_needed is None:
        return ""
    low, high = claim.seeds_needed
    if high is None:
        return f"{low} seeds or many more would decide it."
    return f"About {low} seeds would decide it." if low == high else f"{low} to {high} seeds would decide it."
