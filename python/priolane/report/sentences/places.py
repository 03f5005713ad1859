"""Sweep points in words: `load 0.8`, `theta 5Gbps, split active`."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from priolane.results.axes import key_label


def place_text(point: Mapping[str, Any], among: Sequence[Mapping[str, Any]] = ()) -> str:
    """A point in words. With the points `among` which it stands, only what differs between them is told; empty for the
    only point."""
    parts = dict(_parts(point))
    if among:
        same = [dict(_parts(other)) for other in among]
        parts = {key: value for key, value in parts.items() if any(other.get(key) != value for other in same)}
    return ", ".join(f"{key} {_value(value)}" for key, value in parts.items())


def _parts(point: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    """The swept keys in words and their values; a value that is a table is told key by key."""
    for key, value in point.items():
        if isinstance(value, Mapping):
            yield from _parts(value)
        else:
            yield key_label(key).partition(" (")[0], value


def _value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)
