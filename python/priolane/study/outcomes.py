"""Outcomes of claims: verdict and cause together.

A verdict says whether a claim is reproduced under the leading reading of its paper. A contradicted claim may be
reproduced under another reading that the paper allows, or may be impossible in any reading. A number to which a
parameter was fitted is counted apart, whatever its verdict.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any

from priolane.results.cause import Cause, CauseKind
from priolane.results.report import Standing, Verdict, fitting


class Outcome(Enum):
    """The outcome of a claim, in the order of the ledger's columns."""

    REPRODUCED = "reproduced"
    UNDER_A_READING = "reproduced under a stated reading"
    IMPOSSIBLE = Standing.IMPOSSIBLE.value
    FAILS = "does not hold"
    UNDECIDED = "undecided"
    FITTED = Standing.FITTED.value


# Outcomes that reports count apart from the verdict.
_APART = (Outcome.IMPOSSIBLE, Outcome.FITTED)


def outcome(claim: Mapping[str, Any]) -> Outcome:
    """The outcome of a claim of a record.

    A claim that is contradicted does not hold, unless its cause is a reading that reproduces it, or a proof that the
    paper's number is impossible. Raises `KeyError` or `ValueError` if the claim is of no version.
    """
    if claim.get("fitted"):
        return Outcome.FITTED
    verdict = Verdict(claim["verdict"])
    if verdict is Verdict.REPRODUCED:
        return Outcome.REPRODUCED
    if verdict is not Verdict.CONTRADICTED:
        return Outcome.UNDECIDED
    cause = Cause.of(claim.get("cause"))
    if cause is not None and cause.reading:
        return Outcome.UNDER_A_READING
    if cause is not None and cause.proves_impossible:
        return Outcome.IMPOSSIBLE
    return Outcome.FAILS


def standing(claim: Mapping[str, Any]) -> Standing:
    """The standing of a claim of a record, as reports count it. Raises as `outcome` does."""
    of_claim = outcome(claim)
    return Standing(of_claim.value if of_claim in _APART else claim["verdict"])


def why(claim: Mapping[str, Any]) -> str:
    """The reason of the verdict of a claim of a record, in plain words; empty for a claim that is reproduced.

    That is the cause of a contradicted claim, and what an undecided one lacks. A number to which a parameter was fitted
    names the parameter.
    """
    if claim.get("fitted"):
        return fitting(claim["fitted"])
    verdict = Verdict(claim["verdict"])
    if verdict is Verdict.REPRODUCED:
        return ""
    if verdict is not Verdict.CONTRADICTED:
        return str(claim["reason"])
    cause = Cause.of(claim.get("cause"))
    return "no cause is known" if cause is None else str(cause)


def tally(claims: Iterable[Mapping[str, Any]]) -> Counter[Outcome]:
    """The number of claims with each outcome."""
    return Counter(outcome(claim) for claim in claims)


def causes_of_failures(claims: Iterable[Mapping[str, Any]]) -> Counter[CauseKind | None]:
    """The number of claims that do not hold by the kind of their cause, `None` for those without one."""
    failed = (claim for claim in claims if outcome(claim) is Outcome.FAILS)
    causes = (Cause.of(claim.get("cause")) for claim in failed)
    return Counter(None if cause is None else cause.kind for cause in causes)


class Asks(Enum):
    """The question of a claim: the headline of the figure, an order of schemes or points, or a number."""

    HEADLINE = "headline"
    ORDER = "order"
    MAGNITUDE = "magnitude"


_ORDERS = {"order", "trend"}


def by_question(claims: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Asks, Mapping[str, Any]]]:
    """The claims of a record, each with what it asks. The first one is the headline if no claim leads."""
    headline = next((place for place, claim in enumerate(claims) if claim["lead"]), 0)
    for place, claim in enumerate(claims):
        if place == headline:
            yield Asks.HEADLINE, claim
        else:
            yield (Asks.ORDER if claim["test"]["kind"] in _ORDERS else Asks.MAGNITUDE), claim
