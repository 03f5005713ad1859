"""The parts of two rows that go together, found by asking the checker of schemes.

Two parts go together if there is a scheme with both that is accepted. Rows that the pair leaves open are tried as
`_OTHER_ROWS` lists them. If none is accepted, the reason is what the checker says of the first one tried.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any

from priolane._core import InputError, Mistake
from priolane.model.definition import Experiment
from priolane.model.experiment import plan
from priolane.model.keys import part, parts
from priolane.model.toml import inline

ROWS = ("transport", "assign", "admit", "host", "nic", "port", "pricing")
"""The rows of a scheme, and how it reads what flows pay for."""

_USUAL = MappingProxyType({"host": "round_robin", "nic": "pull", "port": "fifo"})
"""The rows that stand beside a transport, unless its file states others."""

_OTHER_ROWS: tuple[Mapping[str, str], ...] = (
    {"port": "strict"},
    {"port": "wfq"},
    {"port": "trimming"},
    {"port": "tokens"},
    {"port": "ranked"},
    {"host": "round_robin", "nic": "pull"},
    {"host": "fifo", "nic": "fifo"},
    {"host": "fifo", "nic": "fifo", "port": "strict"},
    {"host": "fifo", "nic": "ports", "port": "strict"},
    {"host": "mlfq", "nic": "host", "port": "strict"},
    {"host": "mlfq", "nic": "pull"},
    {"host": "srpt", "nic": "pull"},
    {"host": "own", "nic": "pull"},
    {"host": "fifo", "nic": "tokens", "port": "tokens"},
)
"""The rows that are tried in place of those, one after the other."""

_TRANSPORTS = ("dctcp", "paccp", "ndp", "homa", "top")
"""The transports that are tried where neither part of a pair is one."""

_PRICING: Mapping[str, Mapping[str, Any]] = {
    "share": {},
    "class": {"assign": {"kind": "paid_weight", "weights": [2]}},
    "ignored": {"pay": "ignored"},
}
"""The ways in which a scheme reads what flows pay for (docs/pricing.md)."""

_MARKING = {"ecn": {"per": "port", "at": {"10Gbps": "65pkt"}}}
"""The marking that any kind of port may have besides, for transports that go by it."""

_CLASSES = {"transport": "Constant", "assign": "Level", "admit": "Admitted"}
"""The classes of parts that are classes of Python, in matrix_class.py."""

_NO_ROWS = ("pricing", "variant")
_SCHEMES = 18
"""Schemes of one question: an answer has the first 20 mistakes."""

_GROUP = {
    "name": "all",
    "hosts": "*",
    "app": "poisson",
    "sizes": "web_search",
    "load": {"of": "host", "counts": "payload", "value": 0.5},
    "deadline": "10ms",
}
_EXPERIMENT = {
    "title": "matrix",
    "seeds": 1,
    "time": {"flows": 4},
    "topology": {"kind": "single_switch", "hosts": 4, "host_link": {"rate": "10Gbps", "delay": "1us"}},
}
_KEY = re.compile(r"scheme\.s(\d+)(?:\.(\w+))?.*")


@dataclass(frozen=True)
class Cell:
    """A pair of parts. `rows` is a whole scheme with both, if there is one; else `reason` says why not.

    `beside` has those rows that the pair leaves open and that are not as usual.
    """

    first: str
    second: str
    rows: Mapping[str, str]
    beside: Mapping[str, str]
    reason: str

    @property
    def fits(self) -> bool:
        """Whether a scheme may have both."""
        return bool(self.rows)


@dataclass(frozen=True)
class _Mistake:
    """The objection of the checker to a scheme, and the row whose key it names."""

    row: str
    reason: str


@dataclass(frozen=True)
class Matrix:
    """The parts of two rows: `cells` has one for each pair, row by row of the first."""

    row: str
    column: str
    firsts: tuple[str, ...]
    seconds: tuple[str, ...]
    cells: tuple[Cell, ...]

    def cell(self, first: str, second: str) -> Cell:
        """The cell of a pair."""
        return self.cells[self.firsts.index(first) * len(self.seconds) + self.seconds.index(second)]

    def reasons(self) -> dict[str, dict[str, list[str]]]:
        """The reasons against pairs, each with the second parts of its pairs by the first."""
        reasons_of: dict[str, dict[str, list[str]]] = {}
        for cell in self.cells:
            if not cell.fits:
                reasons_of.setdefault(cell.reason, {}).setdefault(cell.first, []).append(cell.second)
        return reasons_of


def matrix(row: str, column: str) -> Matrix:
    """Asks about every pair of parts of two rows.

    Raises `InputError` where a row is not one of `ROWS`, or both are the same.
    """
    for name in (row, column):
        if name not in ROWS:
            raise InputError(f"unknown row {name!r}; use one of {', '.join(ROWS)}")
    if row == column:
        raise InputError(f"the two rows are both {row!r}; use two rows, such as transport port")
    firsts, seconds = choices(row), choices(column)
    pairs = list(product(firsts, seconds))
    tried = [list(_candidates({row: first, column: second})) for first, second in pairs]
    # Most pairs fit the first scheme tried: those of many pairs are one question.
    mistakes = _check([schemes[0] for schemes in tried])
    cells = [
        Cell(*pair, schemes[0], {}, "")
        if mistake is None
        else _cell(dict(zip((row, column), pair, strict=True)), schemes)
        for pair, schemes, mistake in zip(pairs, tried, mistakes, strict=True)
    ]
    return Matrix(row, column, firsts, seconds, tuple(cells))


def choices(row: str) -> tuple[str, ...]:
    """The parts of a row, or the ways of pricing."""
    return tuple(_PRICING) if row == "pricing" else tuple(known.name for known in parts() if known.row == row)


def _cell(of: Mapping[str, str], schemes: Sequence[Mapping[str, str]]) -> Cell:
    """The cell of the pair `of`, whose first scheme was refused."""
    first, second = of.values()
    against: list[_Mistake] = []
    for begin in range(0, len(schemes), _SCHEMES):
        some = schemes[begin : begin + _SCHEMES]
        for scheme, mistake in zip(some, _check(some), strict=True):
            if mistake is None:
                beside = {row: part for row, part in scheme.items() if schemes[0].get(row) != part}
                return Cell(first, second, _named(scheme), _named(beside), "")
            against.append(mistake)
    # What is said of another row may be the fault of what was tried there.
    cause = next((mistake for mistake in against if mistake.row in of), against[0])
    return Cell(first, second, {}, {}, cause.reason)


def _named(rows: Mapping[str, str]) -> dict[str, str]:
    """Rows with a variant of a transport in place of its name here."""
    return {
        ("transport" if row == "variant" else row): (inline(_variant(name)) if row == "variant" else name)
        for row, name in rows.items()
    }


def _candidates(fixed: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Schemes with the `fixed` parts, the usual ones first, each once."""
    seen: set[tuple[tuple[str, str], ...]] = set()
    for transport in [fixed["transport"]] if "transport" in fixed else _TRANSPORTS:
        beside = {**_USUAL, **_keys(part("transport", transport).beside)}
        variants = ({}, {"variant": transport}) if _variant(transport) else ({},)
        for variant, other in product(variants, ({}, *_OTHER_ROWS)):
            scheme = {"transport": transport, "assign": "none", "admit": "none", **beside, **other, **fixed, **variant}
            if (place := tuple(sorted(scheme.items()))) not in seen:
                seen.add(place)
                yield scheme


def _is_priced(scheme: Mapping[str, str]) -> bool:
    return "pricing" in scheme or scheme["assign"] == "paid_weight"


def _check(schemes: Sequence[Mapping[str, str]]) -> list[_Mistake | None]:
    """The objection of the checker to each scheme; `None` for a scheme that it accepts."""
    answers: list[_Mistake | None] = [None] * len(schemes)
    for paying in (False, True):
        some = [nth for nth, scheme in enumerate(schemes) if _is_priced(scheme) == paying]
        for begin in range(0, len(some), _SCHEMES):
            places = some[begin : begin + _SCHEMES]
            for place, mistake in _mistakes([schemes[place] for place in places], paying=paying):
                answers[places[place]] = mistake
    return answers


def _mistakes(schemes: Sequence[Mapping[str, str]], *, paying: bool) -> Iterator[tuple[int, _Mistake]]:
    """The number of each scheme that is refused, with what is said against it."""
    tables = {f"s{nth}": _table(scheme) for nth, scheme in enumerate(schemes)}
    pays = {"mix": [{"share": 0.5}, {"share": 0.5, "w": 2}]} if paying else {}
    price = {"price": {"p0": 1}} if paying else {}
    try:
        question = _EXPERIMENT | price | {"schemes": list(tables), "group": [_GROUP | pays], "scheme": tables}
        plan(Experiment(question, folder=Path(__file__).parent))
    except InputError as error:
        yield from _read(error.mistakes)


def _read(mistakes: Iterable[Mistake]) -> Iterator[tuple[int, _Mistake]]:
    for mistake in mistakes:
        match = _KEY.fullmatch(mistake.key)
        if match is None:
            raise RuntimeError(f"the checker refuses what the matrix asks: {mistake}")
        row = match[2] or ""
        yield int(match[1]), _Mistake("port" if row == "map" else row, f"{mistake.what}. {mistake.advice}")


def _table(scheme: Mapping[str, str]) -> dict[str, Any]:
    """A scheme as a table of an experiment."""
    rows = {row: _written(row, name) for row, name in scheme.items() if row not in _NO_ROWS}
    if "variant" in scheme:
        rows["transport"] = {**rows["transport"], **_variant(scheme["variant"])}
    pricing = _PRICING.get(scheme.get("pricing", ""), {})
    return {**rows, **pricing, "map": {"class": "queue"}}


@cache
def _variant(transport: str) -> dict[str, Any]:
    """The keys with which a transport goes with other parts than without; empty if there are none."""
    return _keys(part("transport", transport).variant)


@cache
def _written(row: str, name: str) -> Any:
    """A part as a scheme has it; ports mark packets, for transports that use marks."""
    written = _toml(part(row, name).example)
    if name == "python":
        written |= {"class": f"matrix_class:{_CLASSES[row]}"}
    return written | _MARKING if row == "port" else written


def _keys(text: str) -> dict[str, Any]:
    """Keys and values that commas separate."""
    keys: dict[str, Any] = _toml(f"{{ {text} }}")
    return keys


def _toml(value: str) -> Any:
    return tomllib.loads(f"value = {value}")["value"]
