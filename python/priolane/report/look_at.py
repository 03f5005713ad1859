"""Checks and warnings that need a look: what differs between warnings of one kind is a table."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from priolane.report.templates import coded
from priolane.results.report import Check, Report

# Names in backticks, numbers with their unit, and the name that a warning is about.
_NUMBER = r"\d[\d.,]*\d|\d"
_SLOT = re.compile(
    rf"`[^`]*`|(?<![\w.])(?:{_NUMBER})(?: to (?:{_NUMBER}))?(?: ?%| ?(?:ms|us|ns|s|kB|MB|GB|B)\b)?(?!\w)|^[\w-]+(?=: )"
)
# More columns than a reader takes in.
_MOST_COLUMNS = 26
# Names that a sentence lists; more of them are a table.
_MOST_NAMED = 6
# What a part in backticks is, by the word before it.
_NAMED = re.compile(r"\b(class|flow|group|host|key|link|metric|port|queue|scheme)s? \Z")
_OF_UNIT = {"%": "share", "ms": "time", "us": "time", "ns": "time", "s": "time"} | dict.fromkeys(
    ("kB", "MB", "GB", "B"), "size"
)


@dataclass(frozen=True)
class Kind:
    """Warnings of one kind. `text` has the name of a column for each part that differs between them, and `rows` have
    the parts; a warning that is alone of its kind has no columns and no rows."""

    text: Markup
    columns: Sequence[str]
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
    for between, lists in groups.items():
        yield _kind(between, list(lists))


def _kind(parts: Sequence[str], lists: Sequence[Sequence[str]]) -> Kind:
    slots = range(len(lists[0]))
    differ = [nth for nth in slots if len({values[nth] for values in lists}) > 1]
    if len(differ) > _MOST_COLUMNS:
        # More than a table can name: one text below the other.
        return Kind(coded("".join(_filled(parts, lists[0]))), (), ())
    if len(differ) == 1 and len(lists) <= _MOST_NAMED and not lists[0][differ[0]][0].isdigit():
        # One column of names needs no table.
        (only,) = differ
        listed = [*lists[0]]
        listed[only] = ", ".join(values[only] for values in lists)
        return Kind(coded("".join(_filled(parts, listed))), (), ())
    columns = _columns({nth: _quantity(parts[nth], lists[0][nth]) for nth in differ})
    text = coded(parts[0])
    for nth, part in zip(slots, parts[1:], strict=True):
        text += Markup("<var>{}</var>").format(columns[nth]) if nth in columns else coded(lists[0][nth])
        text += coded(part)
    return Kind(text, list(columns.values()), [[coded(values[nth]) for nth in differ] for values in lists if differ])


def _quantity(before: str, value: str) -> str:
    """The meaning of a part of a warning by the text before it and its unit: `scheme`, `class`, `share`, `time`."""
    if not value[0].isdigit():
        named = _NAMED.search(before)
        return named[1] if named else "name" if before else "scheme"
    unit = re.search(r"[^\d.,\s]+\Z", value)
    return _OF_UNIT.get(unit[0], "number") if unit else "number"


def _columns(quantities: Mapping[int, str]) -> Mapping[int, str]:
    """The names of columns: a quantity that several have is numbered."""
    total, seen = Counter(quantities.values()), Counter[str]()
    columns = {}
    for nth, quantity in quantities.items():
        seen[quantity] += 1
        columns[nth] = f"{quantity} {seen[quantity]}" if total[quantity] > 1 else quantity
    return columns


def _filled(parts: Sequence[str], values: Sequence[str]) -> Iterator[str]:
    for nth, part in enumerate(parts):
        yield part
        if nth < len(values):
            yield values[nth]
