"""The claims of a figure below its finding: what the paper has, what was measured, the verdict, and its cause."""

import html
from collections.abc import Mapping
from typing import Any

import ledger_pages
from markdown_text import table

from priolane.results.report import Source, Standing
from priolane.study.outcomes import standing, why
from priolane.study.record import Record

# Contradicted claims are what a reader asks about.
_ORDER = (
    Standing.CONTRADICTED,
    Standing.IMPOSSIBLE,
    Standing.UNDECIDED,
    Standing.INCOMPLETE,
    Standing.REPRODUCED,
    Standing.FITTED,
)
_COLUMNS = ("claim", "asks", "here", "verdict", "cause")


def of_record(record: Record) -> str:
    """A section with the claims of the leading reading, contradicted ones first."""
    claims = sorted(record.claims, key=lambda claim: _ORDER.index(standing(claim)))
    return f"## Every claim\n\n{table(_COLUMNS, [_row(claim) for claim in claims])}"


def _row(claim: Mapping[str, Any]) -> tuple[str, ...]:
    own = " (ours)" if claim["source"] == Source.OURS.value else ""
    return (
        html.escape(f"{claim['section']}{own}: {claim['says']}"),
        html.escape(claim["asked"]),
        ledger_pages.measured(claim["compared"] or claim["measured"]),
        ledger_pages.pill(standing(claim)),
        html.escape(why(claim)) or "–",
    )
