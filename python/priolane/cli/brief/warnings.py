"""The worst warning of a report, in plain words."""

from collections.abc import Iterator, Sequence

from priolane.cli.brief.screen import Screen
from priolane.report.model import Claim, Flag, Report
from priolane.report.sentences.flagged import excess, flag_texts

_LONGEST_WORD = 16
_FAILED, _FINE = "fail", ("ok", "open")


def warning_lines(screen: Screen, report: Report, shown: Sequence[Claim], most: int) -> list[str]:
    """The worst of failed checks, flags of the claims that are shown, and warnings, in at most `most` lines; the last
    one says how many more there are. Empty where there is nothing to warn of."""
    found = list(dict.fromkeys(_worst_first(report, shown)))
    if not found:
        return []
    rest = len(found) - 1
    more = f" {rest} more warning{'' if rest == 1 else 's'}: -v." if rest else ""
    sign = f"{screen.sign('flag')} "
    # Lines end where a word does.
    room = most * (screen.columns - len(sign)) - len(more) - (most - 1) * _LONGEST_WORD
    text = found[0].rstrip(".") + "."
    if len(text) > room:
        text = screen.cut(text, room)
    return screen.wrapped(text + more, most, sign, " " * len(sign))


def _worst_first(report: Report, shown: Sequence[Claim]) -> Iterator[str]:
    yield from (f"{check.name}: {check.text}" for check in report.checks if check.state == _FAILED)
    flags = sorted((flag for claim in shown for flag in claim.flags), key=excess, reverse=True)
    about = [text for flag in flags for text in report.warnings if _is_about(text, flag)]
    # A warning on the flows of a flag names the key that mends it.
    yield from about or flag_texts(shown)
    yield from report.warnings
    yield from (f"{check.name}: {check.text}" for check in report.checks if check.state not in (_FAILED, *_FINE))


def _is_about(warning: str, flag: Flag) -> bool:
    return bool(flag.scheme) and warning.startswith(f"`{flag.scheme}`, class `{flag.of_class}`:")
