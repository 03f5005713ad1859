"""The part of a report that a reader sees first, on the console and on the page: which claims, and which warning."""

import re
from collections.abc import Iterator, Sequence

from priolane.report.sentences.flagged import excess, flag_texts
from priolane.results.report import Claim, Report, Standing

MOST_CLAIMS = 6
"""Claims that are told before a reader asks for all of them."""

# The earlier, the more a reader asks about it.
_WEIGHTS = {
    Standing.CONTRADICTED: 0,
    Standing.IMPOSSIBLE: 0,
    Standing.INCOMPLETE: 1,
    Standing.UNDECIDED: 2,
    Standing.REPRODUCED: 3,
    Standing.FITTED: 4,
}
_FAILED = "fail"
# The end of a warning of runs; those of settings have none.
_OF_RUNS = re.compile(r" \(\d+ of (?:its )?\d+ runs?\)\Z")


def by_weight(report: Report) -> list[Claim]:
    """The claims: the one that the figure is about, then the contradicted ones, those without a verdict, the others."""
    lead = report.lead
    return sorted(report.claims, key=lambda claim: (claim is not lead, _WEIGHTS[claim.standing]))


def shown_first(report: Report) -> tuple[list[Claim], list[Claim]]:
    """The claims that are told at once, and the others, each with the contradicted ones first."""
    claims = by_weight(report)

    def by_verdict(some: Sequence[Claim]) -> list[Claim]:
        return sorted(some, key=lambda claim: _WEIGHTS[claim.standing])

    return by_verdict(claims[:MOST_CLAIMS]), by_verdict(claims[MOST_CLAIMS:])


def lead_class(report: Report) -> str | None:
    """The class of flows that the figure is about; `None` without a claim that compares metrics."""
    sides = [side for item in report.lead.contrasts for side in item.sides] if report.lead is not None else []
    return sides[0].of_class if sides else None


def worst_first(report: Report, *, of_study: bool = False) -> list[str]:
    """Failed checks, warnings about the flags of the claims that are told first, other checks that need a look, then
    other warnings. No text is printed twice.

    `of_study`: the report is of a figure of the study, whose settings are stated and explained. Warnings about settings
    then stay with the checks.
    """
    found = dict.fromkeys(_worst_first(report))
    settings = {text for text in report.warnings if not _OF_RUNS.search(text)} if of_study else set()
    return [text for text in found if text not in settings]


def _worst_first(report: Report) -> Iterator[str]:
    shown = by_weight(report)[:MOST_CLAIMS]
    yield from (f"{check.name}: {check.text}" for check in report.checks if check.state == _FAILED)
    flags = sorted((flag for claim in shown for flag in claim.flags), key=excess, reverse=True)
    about = [text for flag in flags for text in report.warnings if flag.is_about(text)]
    # A warning on the flows of a flag names the key that mends it.
    yield from about or flag_texts(shown)
    yield from (
        f"{check.name}: {check.text}" for check in report.checks if check.state != _FAILED and not check.is_fine
    )
    yield from report.warnings
