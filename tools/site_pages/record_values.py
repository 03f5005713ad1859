"""Numbers of findings, which the site takes from the record of the figure.

A finding has placeholders in place of them:

    {{ seeds }} seeds ({{ runs }} runs)                            the size of the recorded run
    {{ value("fct.all.top / fct.all.ndp") }}                       1.16 [1.15, 1.17]
    {{ value("fct_p99.H.firapam", unit="ms", digits=1) }}          6.7 ms [6.4, 7.0]
    {{ value("gain.all.nos2", at="0.8") }}                         the value at the sweep point that has 0.8

The first argument of `value` is the quantity as records and the ledger name it, with its 95 % interval. `at` has
values of the sweep point, separated by commas, and is needed where the record has the quantity at several points.
`digits` are those after the decimal point (2). `to` converts as `unit` does, and does not print the unit.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import jinja2

from priolane.study.record import Record

# Shown units by the unit of a record, with their number in one of those.
_SHOWN: Mapping[str, Mapping[str, float]] = {
    "1": {"": 1.0, "times": 1.0, "%": 100.0},
    "part": {"": 1.0, "%": 100.0},
    "s": {"ms": 1e3, "us": 1e6},
    "B": {"kB": 1e-3, "MB": 1e-6},
    "Gbit/s": {"": 1.0, "Gbps": 1.0},
}
_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


class NoSuchValue(ValueError):
    """A placeholder that stands for nothing, or for several values."""


def filled(text: str, record: Record) -> str:
    """The text of a finding with the numbers of its record. Raises `NoSuchValue` for a placeholder without one."""
    grid = record.grids[0]
    items = list(_items(grid))

    def value(what: str, at: str = "", digits: int = 2, unit: str = "", to: str = "") -> str:
        item = _only(record, items, what, at)
        return _text(item, _factor(what, item["unit"], unit or to), digits, unit)

    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True, autoescape=False)  # noqa: S701 - Markdown
    try:
        page = environment.from_string(text)
        return page.render(seeds=_number(len(grid["seeds"])), runs=f"{grid['runs']:,}", value=value)
    except (jinja2.TemplateError, TypeError) as error:
        raise NoSuchValue(f"the finding of {record.figure}: {error}") from error


def _items(grid: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for claim in grid["claims"]:
        yield from claim["compared"]
        yield from claim["measured"]


def _only(record: Record, items: list[Mapping[str, Any]], what: str, at: str) -> Mapping[str, Any]:
    named = [item for item in items if item["what"] == what]
    words = {word.strip() for word in at.split(",")} if at else set()
    matching = [item for item in named if words <= set(_words(item["at"]))]
    values = {(item["mean"], item["low"], item["high"], item["unit"]) for item in matching}
    if len(values) == 1:
        return matching[0]
    points = "; ".join(dict.fromkeys(", ".join(_words(item["at"])) for item in named)) or "no point"
    place = f"value({what!r}, at={at!r})"
    raise NoSuchValue(
        f"the finding of {record.figure}: {place} is {len(values)} values of the record, which has {points}"
    )


def _words(at: Mapping[str, Any]) -> Iterator[str]:
    """The values of a sweep point, those inside tables, too."""
    for value in at.values():
        if isinstance(value, Mapping):
            yield from _words(value)
        else:
            yield str(value)


def _factor(what: str, unit: str, shown: str) -> float:
    factors = _SHOWN.get(unit, {})
    if shown not in factors:
        raise NoSuchValue(
            f"value({what!r}): {unit} is not shown in {shown or 'no unit'!r}; write one of {list(factors)}"
        )
    return factors[shown]


def _text(item: Mapping[str, Any], factor: float, digits: int, unit: str) -> str:
    mean, low, high = (f"{factor * item[key]:,.{digits}f}" for key in ("mean", "low", "high"))
    return f"{mean}{f' {unit}' if unit else ''} [{low}, {high}]"


def _number(count: int) -> str:
    """A number in letters up to ten, else in digits."""
    return _WORDS[count - 1] if 1 <= count <= len(_WORDS) else f"{count:,}"
