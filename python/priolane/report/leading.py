"""What a reader is told first of a report, on the console and on the page: which claims, and which warning."""

from collections.abc import Iterator, Sequence

from priolane.report.model import Claim, Report, Verdict
from priolane.report.sentences.flagged import excess, flag_texts

MOST_CLAIMS = 6
"""Claims that are told before a reader asks for all of them."""

_ORDER = (Verdict.CONTRADICTED, Verdict.INCOMPLETE, Verdict.UNDECIDED, Verdict.REPRODUCED)
_FAILED, _FINE = "fail", ("ok", "open")


def by_weight(report: Report) -> list[Claim]:
    """The claims: the one that the figure is about, then the contradicted ones, those without a verdict, the others."""
    lead = report.lead
    return sorted(report.claims, key=lambda claim: (claim is not lead, _ORDER.index(claim.verdict)))


def told_first(report: Report) -> tuple[list[Claim], list[Claim]]:
    """The claims that are told at once, and the others, each with the contradicted ones first."""
    claims = by_weight(report)

    def by_verdict(some: Sequence[Claim]) -> list[Claim]:
        return sorted(some, key=lambda claim: _ORDER.index(claim.verdict))

    return by_verdict(claims[:MOST_CLAIMS]), by_verdict(claims[MOST_CLAIMS:])


def worst_first(report: Report, shown: Sequence[Claim]) -> list[str]:
    """Failed checks, warnings about the flags of the claims that are `shown`, other warnings, then other checks that
    need a look. No text is told twice."""
    return list(dict.fromkeys(_worst_first(report, shown)))


def _worst_first(report: Report, shown: Sequence[Claim]) -> Iterator[str]:
    yield from (f"{check.name}: {check.text}" for check in report.checks if check.state == _FAILED)
    flags = sorted((flag for claim in shown for flag in claim.flags), key=excess, reverse=True)
    about = [text for flag in flags for text in report.warnings if flag.is_about(text)]
    # A warning on the flows of a flag names the key that mends it.
    yield from about or flag_texts(shown)
    yield from report.warnings
    yield from (f"{check.name}: {check.text}" for check in report.checks if check.state not in (_FAILED, *_FINE))
