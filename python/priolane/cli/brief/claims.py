"""Claims on a screen: sign, verdict, sentence and flag, those that matter first."""

from collections.abc import Mapping

from priolane.cli.brief.screen import Screen
from priolane.report.leading import MOST_CLAIMS, by_weight
from priolane.report.sentences import finding, reason_text
from priolane.report.signs import STYLES
from priolane.results.report import LEVEL, Claim, Report, Source, tally_texts

_MOST_LINES = 2
_OWNERS = {Source.PAPER: "Paper", Source.OURS: "Ours"}

Recorded = Mapping[str, str]
"""Recorded verdicts in words. The key is the sentence of a claim."""


def claim_lines(screen: Screen, report: Report, room: int, recorded: Recorded) -> tuple[list[str], list[Claim]]:
    """At most six claims in at most `room` lines, the tally included; and the claims that are shown."""
    claims = by_weight(report)
    left = room - (1 if len(claims) > 1 else 0)
    shown: list[Claim] = []
    lines: list[str] = []
    candidates = claims[:MOST_CLAIMS]
    width = max((len(claim.word) for claim in candidates), default=0)
    for claim in candidates:
        if len(lines) >= left:
            break
        lines += _claim(screen, claim, (width, min(_MOST_LINES, left - len(lines))), recorded.get(claim.text, ""))
        shown.append(claim)
    tally = [_tally(screen, report, len(claims) - len(shown))] if len(claims) > 1 else []
    return [*lines, *tally], shown


def _claim(screen: Screen, claim: Claim, size: tuple[int, int], recorded: str) -> list[str]:
    """A claim in at most `size[1]` lines, its verdict in a column of `size[0]`."""
    width, most = size
    sign = screen.sign(STYLES[claim.standing])
    before = f"{sign} {claim.word.ljust(width)}  "
    flag = f"{screen.sign('flag')} {claim.flag_kinds}" if claim.flags else ""
    note = "  ".join(part for part in (f"recorded: {recorded}" if recorded else "", flag) if part)
    text = f"{finding(claim)} {reason_text(claim)}".rstrip()
    narrow = Screen(screen.columns - (len(note) + 2 if note else 0), screen.is_utf8)
    first, *rest = narrow.wrapped(text, most, before, " " * len(before))
    return [f"{first.ljust(screen.columns - len(note))}{note}".rstrip(), *rest]


def _tally(screen: Screen, report: Report, left_out: int) -> str:
    """The number of claims that are not shown, the number with each verdict, and their joint promise if there is
    room."""
    more = f"{left_out} more: -v. " if left_out else ""
    owners = ". ".join(f"{_OWNERS[source]}: {text}" for source, text in tally_texts(report))
    whole = f"{more}{owners}. Family-wise error at most {100 * LEVEL:g} %."
    return whole if len(whole) <= screen.columns else screen.cut(f"{more}{owners}.")
