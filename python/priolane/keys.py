"""The keys of every part: read from the reference page, which a test of the compiled code holds to what parts declare.

The page is part of the package (`reference.md`).
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path

from priolane import _core
from priolane._core import InputError

PAGE = Path(__file__).parent / "reference.md"

# The kinds of the catalogue.
_KIND_OF_ROW = {
    "transport": "transports",
    "assign": "assign",
    "admit": "admit",
    "host": "host",
    "nic": "nic",
    "port": "ports",
    "topology": "topologies",
    "app": "apps",
}
_HEAD = "| key | meaning | value | default | source |"
_RULE = "|---|---|---|---|---|"
_CELL = re.compile(r"(?<!\\)\|")
_SHARED = re.compile(r"It also has the \[keys of `([^`]+)`\]\(#keys-of-[^)]+\)\.")
_REQUIRED = "required"
_NONE = "–"


@dataclass(frozen=True)
class Value:
    """What a key takes.

    `type` is in words: `whole number`, `number`, `quantity`, `true or false`, `text`, `one of`, `table`, `list of ...`,
    `table by name of ...`, `any`. `range` and `unit` are empty where there is none. `words` are the values of `one of`,
    and words that are allowed beside the type, such as `off`. `sample` is the quantity that the page has as an example.
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
    """A part of a row, or a table of an experiment (`name` is then the table's, and `row` is `experiment`)."""

    row: str
    name: str
    summary: str
    source: str
    requires: tuple[str, ...]
    provides: tuple[str, ...]
    keys: tuple[Key, ...]

    @property
    def title(self) -> str:
        """`transport.dctcp`, or `[time]` for a table of experiments."""
        return self.name if self.row == EXPERIMENT else f"{self.row}.{self.name}"


EXPERIMENT = "experiment"
"""The row of tables of an experiment that choose no part."""


class PageFormatError(RuntimeError):
    """The page does not have the form that this version reads: line and text."""


@cache
def parts() -> tuple[Part, ...]:
    """All parts and tables, in the order of the page.

    The page says of which group a part has keys; which of the group they are, the catalogue says.
    """
    catalogue = json.loads(_core.catalogue())
    own = {
        (row, entry["name"]): {parameter.partition(" = ")[0] for parameter in entry["parameters"]}
        for row, kind in _KIND_OF_ROW.items()
        for entry in catalogue[kind]
    }
    return tuple(
        replace(part, keys=tuple(key for key in part.keys if _top(key) in own.get((part.row, part.name), {_top(key)})))
        for part in read(PAGE.read_text(encoding="utf-8"))
    )


def _top(key: Key) -> str:
    return key.name.partition(".")[0]


def find(wanted: str) -> list[Part]:
    """The parts that `wanted` names: `transport`, `transport.dctcp`, `dctcp`, `[time]` or `time`.

    Raises `InputError` if it names none.
    """
    known = parts()
    name = wanted.strip("[]")
    found = [part for part in known if wanted in (part.row, part.title) or name == part.name.strip("[]")]
    if not found:
        rows = ", ".join(dict.fromkeys(part.row for part in known))
        raise InputError(f"unknown part {wanted!r}; use a row ({rows}) or a part such as transport.dctcp")
    return found


def read(text: str) -> tuple[Part, ...]:
    """Reads the page. Raises `PageFormatError` where it is not what the code writes."""
    lines = text.splitlines()
    found: list[Part] = []
    for row, begin, end in _blocks(lines, "## ", 0, len(lines)):
        name = row.strip("`")
        if name.startswith("["):
            found.append(_experiment_table(name, _Section(lines, begin, end)))
        else:
            found += _row(name, lines, begin, end)
    if not found:
        raise PageFormatError("the page has no part")
    return tuple(found)


@dataclass(frozen=True)
class _Section:
    """Lines of the page from `begin` to `end`, without the heading."""

    lines: Sequence[str]
    begin: int
    end: int

    def __iter__(self) -> Iterator[tuple[int, str]]:
        for number in range(self.begin, self.end):
            if self.lines[number].strip():
                yield number + 1, self.lines[number].strip()


def _blocks(lines: Sequence[str], mark: str, begin: int, end: int) -> Iterator[tuple[str, int, int]]:
    """The title, first and last line of each section whose heading has `mark`."""
    heads = [number for number in range(begin, end) if lines[number].startswith(mark)]
    for number, following in pairwise([*heads, end]):
        yield lines[number].removeprefix(mark).strip(), number + 1, following


def _experiment_table(name: str, section: _Section) -> Part:
    return Part(EXPERIMENT, name, "", "", (), (), tuple(_table(section)))


def _row(row: str, lines: Sequence[str], begin: int, end: int) -> list[Part]:
    shared: dict[str, tuple[Key, ...]] = {}
    own: list[tuple[Part, tuple[str, ...]]] = []
    for title, first, last in _blocks(lines, "### ", begin, end):
        section = _Section(lines, first, last)
        if title.startswith("Keys of `"):
            group = title.removeprefix("Keys of ").strip("`")
            shared[group] = tuple(replace(key, group=group) for key in _table(section))
        else:
            own.append(_part(row, title.strip("`"), section))
    return [
        replace(part, keys=part.keys + tuple(key for group in groups for key in shared[group])) for part, groups in own
    ]


def _part(row: str, name: str, section: _Section) -> tuple[Part, tuple[str, ...]]:
    """A part with its own keys, and the names of the groups whose keys it has too."""
    requirements: dict[str, tuple[str, ...]] = {"requires": (), "provides": ()}
    summary = source = ""
    groups: list[str] = []
    for number, line in section:
        if line.startswith("|"):
            continue
        if (match := _SHARED.fullmatch(line)) is not None:
            groups.append(match[1])
        elif line.startswith(("Requires ", "Provides ")) and summary:
            word, _, clauses = line.removesuffix(".").partition(" ")
            requirements[word.lower()] = tuple(clauses.split(" and "))
        elif ". Source: " in line and not summary:
            summary, _, source = line.removesuffix(".").partition(". Source: ")
        else:
            raise PageFormatError(f"line {number}: {line}")
    keys = tuple(_table(section))
    return Part(row, name, summary, source, requirements["requires"], requirements["provides"], keys), tuple(groups)


def _table(section: _Section) -> Iterator[Key]:
    for number, line in section:
        if not line.startswith("|") or line in (_HEAD, _RULE):
            continue
        cells = [cell.strip().replace("\\|", "|") for cell in _CELL.split(line)[1:-1]]
        if len(cells) != 5:
            raise PageFormatError(f"line {number}: {line}")
        name, meaning, value, default, source = cells
        stated = "" if default in (_REQUIRED, _NONE) else default.strip("`")
        try:
            taken = _value(value)
        except KeyError as error:
            raise PageFormatError(f"line {number}: unknown value {error}") from error
        yield Key(name.strip("`"), meaning, taken, stated, default == _REQUIRED, source)


_KINDS: Mapping[str, str] = {
    "a whole number": "whole number",
    "a number": "number",
    "true or false": "true or false",
    "text": "text",
    "any value": "any",
    "a table": "table",
}
_WORDS = re.compile(r"`[^`\"]+`(?:, `[^`\"]+`)*")
_QUANTITY = re.compile(r'such as `"([^"]+)"`')
_BY_NAME = re.compile(r'a table with keys such as `"([^"]+)"`: (.+)')
_TAIL = re.compile(
    r"^(?P<kind>.*?)(?: in (?P<range>[\[(][^\])]*[\])]))?(?:, in (?P<unit>[^,`]+))?(?:, or `(?P<none>[^`]+)`)?$"
)


def _value(text: str) -> Value:
    """Reads a cell of the column `value`. Raises `KeyError` for a kind that is not known."""
    match = _TAIL.fullmatch(text)
    if match is None:
        raise KeyError(text)
    kind, words = _kind(match["kind"])
    beside = (match["none"],) if match["none"] else ()
    sample = _QUANTITY.search(match["kind"])
    return Value(kind, match["range"] or "", match["unit"] or "", (*words, *beside), sample[1] if sample else "")


def _kind(text: str) -> tuple[str, tuple[str, ...]]:
    """The type in words, and the words that are values."""
    if _WORDS.fullmatch(text):
        return "one of", tuple(word.strip("`") for word in text.split(", "))
    if _QUANTITY.fullmatch(text):
        return "quantity", ()
    if (match := _BY_NAME.fullmatch(text)) is not None:
        kind, words = _kind(match[2])
        return f"table by name of {kind}", words
    if text.startswith("a list: "):
        kind, words = _kind(text.removeprefix("a list: "))
        return f"list of {kind}", words
    for alternative, also in ((", or a table", "table"), (", or a list: text", "list of text")):
        if text.endswith(alternative):
            kind, words = _kind(text.removesuffix(alternative))
            return f"{kind} or {also}", words
    return _KINDS[text], ()
