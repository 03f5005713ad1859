"""Signs and colours of claims, so that none depends on a colour alone."""

from priolane.results.report import Claim, Standing

STYLES = {
    Standing.REPRODUCED: "reproduced",
    Standing.UNDECIDED: "undecided",
    Standing.CONTRADICTED: "contradicted",
    Standing.IMPOSSIBLE: "contradicted",
    Standing.FITTED: "fitted",
    Standing.INCOMPLETE: "incomplete",
}
"""The class of the style sheet by standing; a number that is impossible as printed looks like a contradicted one."""

SIGNS = {
    "reproduced": "\N{CHECK MARK}",
    "undecided": "\N{ALMOST EQUAL TO}",
    "contradicted": "\N{BALLOT X}",
    "fitted": "\N{WHITE CIRCLE}",
    "incomplete": "?",
}
"""The sign by class."""


def sign_of(claim: Claim) -> str:
    """The sign of a claim in front of its word."""
    return SIGNS[STYLES[claim.standing]]
