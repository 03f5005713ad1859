"""The keys of every part, as the compiled code declares them."""

import json
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from priolane import _core
from priolane._core import InputError


@dataclass(frozen=True)
class Value:
    """The values that a key takes.

    `type` is in words: `whole number`, `number`, `quantity`, `true or false`, `text`, `one of`, `table`, `list of ...`,
    `table by name of ...`, `any`. `range` and `unit` are empty where there is none. `words` are the values of `one of`,
    and words that are allowed beside the type, such as `off`. `sample` is an example of a quantity.
    """

    type: str
    range: str
    unit: str
    words: tuple[str, ...]
    sample: str


@dataclass(frozen=True)
class Key:
    """A key: `default` is as in a file, or in words; empty if there is none. `name` has dots for keys of its table."""

    name: str
    meaning: str
    value: Value
    default: str
    required: bool
    source: str
    group: str = ""


@dataclass(frozen=True)
class Part:
    """A part of a row, or a table of an experiment (`name` is then the table's, and `row` is `experiment`).

    `needs` is what switches, hosts and applications of a real network must have, as fabric files name it. `linux` is
    Linux's name of a congestion control, `serves` what switch ports do, and `lacks` what ports that can be bought lack.
    `example` is the part as a file has it, `beside` the rows that usually stand beside a transport, and `variant` keys
    with which the part goes with other parts than without, all in TOML.
    """

    row: str
    name: str
    summary: str
    source: str
    requires: tuple[str, ...]
    provides: tuple[str, ...]
    needs: tuple[str, ...]
    linux: str | None
    serves: str
    lacks: str
    example: str
    beside: str
    variant: str
    keys: tuple[Key, ...]

    @property
    def title(self) -> str:
        """`transport.dctcp`, or `[time]` for a table of experiments."""
        return self.name if self.row == EXPERIMENT else f"{self.row}.{self.name}"

    @property
    def table(self) -> str:
        """`claim` for `[[claim]]`, `reading` for `[reading.NAME]`; the name of a part."""
        return self.name.strip("[]").removesuffix(".NAME")


EXPERIMENT = "experiment"
"""The row of tables of an experiment that choose no part."""


@cache
def parts() -> tuple[Part, ...]:
    """All parts in the order of the rows, then the tables of experiments."""
    return tuple(_part(entry) for entry in json.loads(_core.parts()))


def _part(entry: dict[str, Any]) -> Part:
    lists = {name: tuple(entry[name]) for name in ("requires", "provides", "needs")}
    return Part(**(entry | lists | {"keys": tuple(_key(key) for key in entry["keys"])}))


@cache
def part(row: str, name: str) -> Part:
    """The part of this name in a row; raises `KeyError` if there is none."""
    for known in parts():
        if (known.row, known.name) == (row, name):
            return known
    raise KeyError(f"{row}.{name}")


def _key(entry: dict[str, Any]) -> Key:
    value = entry["value"]
    return Key(**(entry | {"value": Value(**(value | {"words": tuple(value["words"])}))}))


def find(wanted: str) -> list[Part]:
    """The parts that `wanted` names: `transport`, `transport.dctcp`, `dctcp`, `[time]` or `time`.

    If it names none, but is a key such as `min_rto` or `load.value`: all parts with that key, with it and the keys of
    its table alone. Raises `InputError` if it is neither.
    """
    known = parts()
    name = wanted.strip("[]")
    matching = [part for part in known if wanted in (part.row, part.title) or name in (part.name, part.table)]
    matching = matching or [narrowed for part in known if (narrowed := _only(part, wanted)).keys]
    if not matching:
        rows = ", ".join(dict.fromkeys(part.row for part in known))
        raise InputError(f"unknown part or key {wanted!r}. Use a row ({rows}), a part such as dctcp, or a key")
    return matching


def _only(part: Part, name: str) -> Part:
    """The part with the key `name` and the keys of its table alone."""
    return replace(part, keys=tuple(key for key in part.keys if f"{key.name}.".startswith(f"{name}.")))
