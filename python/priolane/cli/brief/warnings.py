"""The worst warning of a report, in plain words."""

from priolane.cli.brief.screen import Screen
from priolane.report.leading import worst_first
from priolane.results.report import Report

_LONGEST_WORD = 16


def warning_lines(screen: Screen, report: Report, most: int, *, of_study: bool = False) -> list[str]:
    """The worst of failed checks, flags of the claims that are shown, and warnings, in at most `most` lines; the last
    one says how many more there are. Empty where there is nothing to warn of. `of_study` is as in `worst_first`."""
    warnings = worst_first(report, of_study=of_study)
    if not warnings:
        return []
    rest = len(warnings) - 1
    more = f" {rest} more warning{'' if rest == 1 else 's'}: -v." if rest else ""
    sign = f"{screen.sign('flag')} "
    # Lines end where a word does.
    room = most * (screen.columns - len(sign)) - len(more) - (most - 1) * _LONGEST_WORD
    text = warnings[0].rstrip(".") + "."
    if len(text) > room:
        text = screen.cut(text, room)
    return screen.wrapped(text + more, most, sign, " " * len(sign))
