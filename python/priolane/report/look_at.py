"""Checks and warnings that need a look: what differs between warnings of one kind is a table."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from priolane.report.model import Check, Report
from priolane.report.templates import coded

# Names in backticks, numbers with their unit, and the name that a warning is about.
_NUMBER = r"\d[\d.,]*\d|\d"
_SLOT = re.compile(
    rf"`[^`]*`|(?<![\w.])(?:{_NUMBER})(?: to (?:{_NUMBER}))?(?: ?%| ?(?:ms|us|ns|s|kB|MB|GB|B)\b)?(?!\w)|^[\w-]+(?=: )"
)
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Kind:
    """Warnings of one kind. `text` has a letter for each part that differs between them, and `rows` have the parts; a
    warning that is alone of its kind has no letters and no rows."""

    text: Markup
    letters: Sequence[str]
    rows: Sequence[Sequence[Markup]]


@dataclass(frozen=True)
class LookAt:
    """Checks that need a look, the others, and warnings by kind."""

    checks: Sequence[Check]
    fine: Sequence[Check]
    kinds: Sequence[Kind]


def look_at(report: Report) -> LookAt:
    """The checks that a reader should see before trusting a report."""
    return LookAt(
        checks=[check for check in report.checks if not check.is_fine],
        fine=[check for check in report.checks if check.is_fine],
        kinds=list(kinds(report.warnings)),
    )


def kinds(warnings: Sequence[str]) -> Iterator[Kind]:
    """Warnings by kind, in the order of their first ones: those that differ in names and numbers only are one kind."""
    groups: dict[tuple[str, ...], dict[tuple[str, ...], None]] = {}
    for warning in warnings:
        parts = _SLOT.split(warning)
        groups.setdefault(tuple(parts), {})[tuple(_SLOT.findall(warning))] = None
    for between, found in groups.items():
        yield _kind(between, list(found))


def _kind(parts: Sequence[str], found: Sequence[Sequence[str]]) -> Kind:
    slots = range(len(found[0]))
    differ = [nth for nth in slots if len({values[nth] for values in found}) > 1]
    if len(differ) > len(_LETTERS):
        # More than a table can name: one text below the other.
        return Kind(coded("".join(_filled(parts, found[0]))), (), ())
    letters = dict(zip(differ, _LETTERS, strict=False))
    text = coded(parts[0])
    for nth, part in zip(slots, parts[1:], strict=True):
        text += Markup("<var>{}</var>").format(letters[nth]) if nth in letters else coded(found[0][nth])
        text += coded(part)
    return Kind(text, list(letters.values()), [[coded(values[nth]) for nth in differ] for values in found if differ])


def _filled(parts: Sequence[str], values: Sequence[str]) -> Iterator[str]:
    for nth, part in enumerate(parts):
        yield part
        if nth < len(values):
            yield values[nth]
