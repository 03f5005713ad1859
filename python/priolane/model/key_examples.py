"""An example of each key: a value from a shipped scheme or experiment, else one that follows from its type."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from priolane.model import folders
from priolane.model.keys import EXPERIMENT, Key, Part, Value, parts
from priolane.model.toml import inline

_HERE = Path(__file__).parent.parent
_LONGEST = 100
"""Characters of an example; longer ones are not shown."""


@dataclass(frozen=True)
class Example:
    """A value as in a file; `file` is where it was found, empty if it follows from the type."""

    value: str
    file: str = ""


def find_example(part: Part, key: Key) -> Example | None:
    """An example of `key` of `part`; `None` for tables that no shipped file has."""
    alike = (other for other in parts() if other.row == part.row and key in other.keys)
    for owner in (part, *alike):
        if key.name in _first_use(owner):
            return _first_use(owner)[key.name]
    value = by_type(key.value, key.default)
    return Example(value) if value else None


@cache
def _first_use(part: Part) -> Mapping[str, Example]:
    """The values in shipped files for the keys of a part: the first value of each that is not too long."""
    first_uses: dict[str, Example] = {}
    for file, table in _tables(part):
        for key in part.keys:
            if key.name in first_uses:
                continue
            value = _value_at(table, key.name.split("."))
            text = "" if value is None else inline(value)
            if text and len(text) <= _LONGEST:
                first_uses[key.name] = Example(text, file)
    return first_uses


def _tables(part: Part) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The tables of shipped files that choose this part."""
    for file, read in _files():
        if part.row == EXPERIMENT:
            places = _places(read, part)
        elif part.row == "topology":
            places = _chosen(read.get("topology"), part.name)
        elif part.row == "app":
            places = [group for group in read.get("group", []) if group.get("app") == part.name]
        else:
            places = [table for scheme in _schemes(read) for table in _chosen(scheme.get(part.row), part.name)]
        for table in places if isinstance(places, list) else [places]:
            yield file, table


def _places(read: Mapping[str, Any], part: Part) -> list[Mapping[str, Any]]:
    """The tables of an experiment file with the keys of a table of experiments."""
    if part.table == part.name:
        return [read]
    tables = read.get(part.table, [])
    if part.name.endswith(".NAME]"):
        return list(tables.values()) if isinstance(tables, Mapping) else []
    return list(tables) if isinstance(tables, list) else [tables]


def _schemes(read: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The schemes of a file: itself, or those of an experiment."""
    return list(read["scheme"].values()) if "scheme" in read else [read]


def _chosen(table: Any, name: str) -> list[Mapping[str, Any]]:
    """The table of a row in a list, if it chooses the part of this name."""
    if not isinstance(table, Mapping):
        return []
    return [table] if name in (table.get("kind"), table.get("queue")) or name in table else []


def _value_at(table: Any, names: list[str]) -> Any:
    """The value at a dotted key; `NAME` stands for any key."""
    for name in names:
        if not isinstance(table, Mapping):
            return None
        table = next(iter(table.values()), None) if name == "NAME" else table.get(name)
    return table


@cache
def _files() -> tuple[tuple[str, Mapping[str, Any]], ...]:
    """Shipped schemes, then experiments, simple ones first."""
    patterns = {
        "schemes": "*.toml",
        "experiments/recipes": "*.toml",
        "study/files/papers": folders.EXPERIMENT,
        "study/files/ours": folders.EXPERIMENT,
        "experiments/validation": "*.toml",
    }
    paths = [path for folder, files in patterns.items() for path in sorted((_HERE / folder).rglob(files))]
    return tuple((path.relative_to(_HERE).as_posix(), tomllib.loads(path.read_text("utf-8"))) for path in paths)


_PLAIN = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_LITERAL = re.compile(r"[0-9.]+[a-zA-Z%]+|[0-9]+/[0-9]+")


def by_type(value: Value, default: str = "") -> str:
    """A value of this type as in a file, the default if it is one; empty for tables and names."""
    if default in ("true", "false") or _PLAIN.fullmatch(default):
        return default
    if _LITERAL.fullmatch(default) or default in value.words:
        return f'"{default}"'
    kind = value.type.removeprefix("list of ")
    example = {
        "one of": f'"{value.words[0]}"' if value.words else "",
        "quantity": f'"{value.sample}"',
        "true or false": "true",
        "whole number": _within(value.range, whole=True),
        "number": _within(value.range, whole=False),
    }.get(kind, "")
    return f"[{example}]" if example and kind != value.type else example


def _within(interval: str, *, whole: bool) -> str:
    """A number of an interval such as `(0, 1]`; any where it is empty."""
    low, _, high = interval[1:-1].partition(",") if interval else ("", "", "")
    least, most = (float(end) if end.strip() else None for end in (low, high))
    if interval.startswith("[") and least is not None and (least >= 1 or not whole):
        return f"{least:g}"
    if interval.endswith("]") and most is not None and most <= 1:
        return f"{most:g}"
    if least is not None and most is not None:
        return f"{(least + most) / 2:g}" if not whole else f"{max(least, 1):g}"
    return f"{(least or 0) + 1:g}"
