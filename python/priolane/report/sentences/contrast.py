"""The two sides of a comparison, as the words around its value."""

import re
from collections.abc import Mapping
from typing import Any

from priolane.report.sentences.places import place_text
from priolane.report.sentences.quantities import quantity_words
from priolane.report.sentences.words import sentence_case
from priolane.results.report import MeasuredQuantity, Side

_ALL = "all"
_ADJECTIVES = ("small", "medium", "large", "short", "long")
_NOUNS = ("mice", "elephants")
_FLOW = re.compile(r"flow(\d+)")

Around = tuple[str, str]
"""The words before the value and those behind it."""


def around_ratio(item: MeasuredQuantity) -> Around | None:
    """The words around the value of a comparison that is the ratio of two metrics; `None` for any other value."""
    if len(item.sides) != 2 or not item.is_ratio:
        return None
    first, second = item.sides
    if (first.quantity, first.of_class) != (second.quantity, second.of_class) or first.scheme == second.scheme:
        return _of_metrics(first, second, item.at)
    if first.at == second.at and first.quantity == "gain":
        return f"{sentence_case(flows(first.of_class))} finish ", f" as fast{_with_each(first, second)}"
    if first.at == second.at and first.quantity == "fct":
        return f"{sentence_case(flows(first.of_class))} take ", f" as long{_with_each(first, second)}"
    return _of_metrics(first, second, item.at)


def _with_each(first: Side, second: Side) -> str:
    return f" with {first.scheme} as with {second.scheme}"


def _of_metrics(first: Side, second: Side, at: Mapping[str, Any]) -> Around:
    """`p99 FCT of small flows with pias is ` and ` that with dctcp`: the second side has what differs."""
    same = first.scheme == second.scheme and first.at == second.at
    left = f"{quantity_words(first.quantity)}{_of(first)}"
    before = f"With {first.scheme}, {left} is " if same else f"{sentence_case(left)}{_under(first, second, at)} is "
    if first.quantity != second.quantity:
        other = f"{quantity_words(second.quantity)}{_of(second)}"
    elif first.of_class != second.of_class:
        other = f"that of {_class_words(second.of_class)}"
    else:
        other = "that"
    return before, f" {other}" + ("" if same else _under(second, first, at))


def _under(side: Side, other: Side, at: Mapping[str, Any]) -> str:
    """The scheme of a side, and its point where that is another one than the other side's."""
    points = [{**at, **each.at} for each in (side, other)]
    place = place_text(points[0], points) if side.at != other.at else ""
    return f" with {side.scheme}" + (f" at {place}" if place else "")


def _of(side: Side) -> str:
    """` of small flows`; empty for all flows."""
    if side.of_class == _ALL:
        return ""
    if side.quantity.startswith("port_"):
        return f" at ports of {side.of_class}"
    if side.of_class.isdecimal():
        return f" {side.of_class}"
    return f" of {_class_words(side.of_class)}"


def _class_words(of_class: str) -> str:
    """A class behind a quantity: `small flows`, `class BE`."""
    return flows(of_class).removeprefix("flows of ")


def flows(of_class: str) -> str:
    """The flows of a class: `small flows`, `mice`, `flows of class BE`."""
    match = _FLOW.fullmatch(of_class)
    if match is not None:
        return f"flow {match[1]}"
    if of_class == _ALL or of_class in _ADJECTIVES:
        return f"{of_class} flows"
    return of_class if of_class in _NOUNS else f"flows of class {of_class}"
