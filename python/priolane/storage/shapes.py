"""The required form of JSON that somebody else may have written, checked before it is used.

A checksum protects a file against damage only: whoever writes a file can write its checksum. A shape is a function of
a value and its place that raises `ValueError`, which names the place, if the value does not have the shape:

    require = members({"title": text, "seeds": many(whole)}, {"paper": optional(text)})
    require({"title": "x", "seeds": [1, "2"]}, "")    # ValueError: seeds[1] is not a whole number
"""

from collections.abc import Callable, Mapping
from typing import Any

Shape = Callable[[Any, str], None]

# Sums, products and differences of some of these stay numbers.
_LARGEST = 1e150
_LARGEST_WHOLE = 2**64


def text(value: Any, place: str) -> None:
    """A text."""
    _require(isinstance(value, str), place, "a text")


def flag(value: Any, place: str) -> None:
    """True or false."""
    _require(isinstance(value, bool), place, "true or false")


def number(value: Any, place: str) -> None:
    """A number from -1e150 to 1e150."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    # No comparison with a number that is not one is true.
    _require(is_number and abs(value) <= _LARGEST, place, "a number")


def whole(value: Any, place: str) -> None:
    """A whole number from 0 to 2^64."""
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    _require(is_whole and 0 <= value <= _LARGEST_WHOLE, place, "a whole number")


def value(value: Any, place: str) -> None:
    """Any value; a number is one from -1e150 to 1e150."""
    if isinstance(value, int | float):
        number(float(value) if isinstance(value, bool) else value, place)


def optional(shape: Shape) -> Shape:
    """`shape` or null."""
    return lambda value, place: None if value is None else shape(value, place)


def many(shape: Shape) -> Shape:
    """A list of values of `shape`."""

    def require(value: Any, place: str) -> None:
        _require(isinstance(value, list), place, "a list")
        for nth, item in enumerate(value):
            shape(item, f"{place}[{nth}]")

    return require


def one_of(*values: str) -> Shape:
    """One of these texts."""

    def require(value: Any, place: str) -> None:
        _require(isinstance(value, str) and value in values, place, f"one of {', '.join(values)}")

    return require


def by_name(shape: Shape) -> Shape:
    """An object whose values have `shape`."""

    def require(value: Any, place: str) -> None:
        _require(isinstance(value, dict), place, "an object")
        for name, item in value.items():
            shape(item, _member(place, name))

    return require


def members(required: Mapping[str, Shape], also: Mapping[str, Shape] | None = None) -> Shape:
    """An object with the members `required`, and any others, of which those in `also` have a shape."""
    known = {**(also or {}), **required}

    def require(value: Any, place: str) -> None:
        _require(isinstance(value, dict), place, "an object")
        for name in required:
            _require(name in value, _member(place, name), "there")
        for name, shape in known.items():
            if name in value:
                shape(value[name], _member(place, name))

    return require


def both(first: Shape, second: Shape) -> Shape:
    """A value of both shapes."""

    def require(value: Any, place: str) -> None:
        first(value, place)
        second(value, place)

    return require


def _member(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _require(holds: bool, place: str, what: str) -> None:  # noqa: FBT001 - a condition
    if not holds:
        raise ValueError(f"{place or 'the whole'} is not {what}")
