"""The flows of an answer: a list with its starts, sizes, groups, coflows and deadlines.

The simulated lists are written from it, one for each group, whole or with starts closer together.
"""

import difflib
import io
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from priolane._core import InputError
from priolane.advice.fabric import Sizes, in_class
from priolane.advice.raw_file import how_to_import
from priolane.results.numbers import format_value
from priolane.storage.files import open_regular, write_whole

REQUIRED = ("start_ns", "src", "dst", "bytes")
_NUMBERS = (*REQUIRED, "delay_ns", "deadline_ns", "coflow")
_TEXTS = ("after", "group", "connection")
# Columns of flow lists that an answer does not use, and why.
_UNUSED = {
    "class": "the classes that flows ask for are not used, as classes are what is looked for",
    "path": "pinned paths are not used: candidates choose paths themselves",
}
# The limit of flow lists in `priolane_source::disk`.
_MOST_BYTES = 256 << 20
EXPERIMENT = ".toml"
"""The suffix of files whose flows are drawn, not recorded."""
GROUP = "all"
"""The group of flows where none is named."""
_LABEL = re.compile(r"[A-Za-z0-9_-]{1,40}")
_MOST_GROUPS = 16
_LONGEST_SHOWN = 40
_FEWEST = 60
_NS = 1e-9

Mask = np.ndarray[tuple[int], np.dtype[np.bool_]]
Numbers = np.ndarray[tuple[int], np.dtype[np.int64]]


@dataclass(frozen=True)
class FlowList:
    """A flow list by column. A missing number is NaN.

    `at_ns` has the start of each flow in nanoseconds; a flow that waits for others starts no earlier than these may
    end. `group_of` has the place of its group in `groups`, which are names such as tenants, or one name for all flows.
    `after` has the rows that a flow waits for, as the list names them, and "" for none. `unused` has a sentence for
    each column of the file that the answer does not use.
    """

    path: Path
    columns: Mapping[str, Sizes]
    at_ns: Sizes
    group_of: Numbers
    groups: tuple[str, ...] = (GROUP,)
    after: tuple[str, ...] = ()
    unused: tuple[str, ...] = field(default=())
    connections: Numbers | None = None
    """The connection of each flow, if the list names them; a flow without a name has one of its own."""
    asked: Numbers | None = None
    """The class that each flow asks for, if the lists are to have it."""

    def __len__(self) -> int:
        """The number of flows."""
        return len(self.at_ns)

    @property
    def sizes(self) -> Sizes:
        """The payload of each flow in bytes."""
        return self.columns["bytes"]

    @property
    def begins_ns(self) -> float:
        """The first start, in nanoseconds."""
        return float(self.at_ns.min())

    @property
    def span_ns(self) -> float:
        """The time from the first to just after the last start, in nanoseconds."""
        return float(self.at_ns.max()) - self.begins_ns + 1

    @property
    def span_s(self) -> float:
        """The time from the first to just after the last start, in seconds."""
        return self.span_ns * _NS

    @property
    def waits(self) -> bool:
        """Whether any flow waits for others."""
        return any(self.after)

    @property
    def waiting(self) -> Mask:
        """The flows that wait for others."""
        return np.asarray([bool(text) for text in self.after] or np.zeros(len(self)), dtype=bool)

    def has(self, column: str) -> bool:
        """Whether any flow has a value in a column."""
        return column in self.columns and bool(np.isfinite(self.columns[column]).any())

    @property
    def in_words(self) -> str:
        """The length of the list, such as `16,000 flows in 62.0 ms`."""
        return f"{len(self):,} flows in {format_value(self.span_s, 's')}"

    def in_class(self, of: Mapping[str, Any]) -> Mask:
        """The flows in a class, by its bounds of sizes and its groups."""
        return in_class(self.sizes, of) & self.in_groups(of)

    def in_groups(self, of: Mapping[str, Any]) -> Mask:
        """The flows in the groups that a class names; all if it names none."""
        named = class_groups(of)
        if not named:
            return np.ones(len(self), dtype=bool)
        places = [place for place, name in enumerate(self.groups) if name in named]
        return np.isin(self.group_of, np.asarray(places))

    @cached_property
    def coflow_bytes(self) -> Sizes:
        """The payload of each coflow in bytes, in ascending order; empty without coflows."""
        if not self.has("coflow"):
            return np.empty(0)
        known = np.isfinite(self.columns["coflow"])
        keys = np.stack([self.group_of[known], self.columns["coflow"][known].astype(np.int64)])
        _, place = np.unique(keys, axis=1, return_inverse=True)
        return np.sort(np.bincount(place.ravel(), weights=self.sizes[known]))

    def beginning(self, part: float) -> "FlowList":
        """The flows that start within the first part of the list's time; for lists of which no flow waits."""
        mask = self.at_ns < self.begins_ns + part * self.span_ns
        columns = {name: of[mask] for name, of in self.columns.items()}
        connections = None if self.connections is None else self.connections[mask]
        return replace(
            self,
            columns=columns,
            at_ns=self.at_ns[mask],
            group_of=self.group_of[mask],
            connections=connections,
        )

    def starting(self, until_ns: float) -> Mask:
        """The flows that start within so many nanoseconds of the first start."""
        return self.at_ns - self.begins_ns < until_ns

    def entries(self, folder: str) -> list[dict[str, Any]]:
        """The groups of an experiment file whose lists are in `folder`, as `write` made them."""
        return [{"name": name, "hosts": "*", "app": "flows", "list": f"{folder}/{name}.csv"} for name in self.groups]

    def write(self, folder: Path, squeeze: float = 1.0, classes: Mapping[str, int] | None = None) -> None:
        """Writes a list for each group, `GROUP.csv`, whose first flow starts at 0.

        `squeeze` above 1 brings starts closer together. Deadlines stay as long after starts as they are. Flows of a
        group in `classes` ask for its class.
        """
        for place, name in enumerate(self.groups):
            text = self._text(self.group_of == place, squeeze, (classes or {}).get(name))
            write_whole(folder / f"{name}.csv", text)

    def _text(self, mask: Mask, squeeze: float, priority: int | None) -> str:
        rows = np.flatnonzero(mask)
        begin = self.begins_ns
        own = self.columns["start_ns"][rows] if self.waits else self.at_ns[rows]
        starts = np.rint(np.maximum(0.0, own - begin) / squeeze)
        made: dict[str, pa.Array] = {"start_ns": pa.array(starts.astype(np.int64))}
        for name in ("src", "dst", "bytes"):
            made[name] = pa.array(self.columns[name][rows].astype(np.int64))
        if "deadline_ns" in self.columns:
            made["deadline_ns"] = _whole(starts + self.columns["deadline_ns"][rows] - own)
        for name in ("coflow", "delay_ns"):
            if name in self.columns:
                made[name] = _whole(self.columns[name][rows])
        if self.waits:
            made["after"] = pa.array(self._renumbered(rows), pa.string())
        if priority is not None:
            made["class"] = pa.array(np.full(len(rows), priority))
        elif self.asked is not None:
            made["class"] = pa.array(self.asked[rows])
        text = io.BytesIO()
        text.write((",".join(made) + "\n").encode())
        csv.write_csv(pa.table(made), text, csv.WriteOptions(include_header=False, quoting_style="none"))
        return text.getvalue().decode()

    def _renumbered(self, rows: Numbers) -> list[str | None]:
        place = {int(row): nth for nth, row in enumerate(rows)}
        renumbered: list[str | None] = []
        for row in rows:
            inside = [str(place[int(part)]) for part in self.after[row].split("+") if part and int(part) in place]
            renumbered.append("+".join(inside) or None)
        return renumbered


def _whole(values: Sizes) -> pa.Array:
    """Whole numbers, with a gap for each NaN."""
    missing = np.isnan(values)
    return pa.array(np.where(missing, 0, np.rint(values)).astype(np.int64), mask=missing)


def class_groups(of: Mapping[str, Any]) -> list[str]:
    """The groups that a class names; empty for all."""
    stated = of.get("group", [])
    return [stated] if isinstance(stated, str) else list(stated)


def read_flows(path: Path) -> FlowList:
    """Reads a flow list. Raises `InputError` if it cannot be read or lacks a column or rows."""
    try:
        with open_regular(path) as stream:
            if os.fstat(stream.fileno()).st_size > _MOST_BYTES:
                raise InputError(f"{path}: the file is larger than {_MOST_BYTES} bytes; use a shorter recording")
            return flow_list(path, stream)
    except OSError as error:
        raise InputError(f"{path}: cannot read this file: {error.strerror}") from None


def flow_list(path: Path, source: IO[bytes], names: Sequence[str] = ()) -> FlowList:
    """The flow list in `source`, called `path` in messages. With `names`, the column `group` has numbers of them.

    Raises `InputError` if it is no flow list.
    """
    table = _table(path, source)
    missing = [name for name in REQUIRED if name not in table]
    if missing and (separator := _separator(table)) is not None:
        shown, command = separator
        raise InputError(
            f"{path}: columns are separated by {shown}; a flow list has commas: {command} < "
            f"{shlex.quote(str(path))} > flows.csv, then give flows.csv"
        )
    if missing:
        lacking = f"no column {', '.join(missing)}; a flow list has {','.join(REQUIRED)}"
        raise InputError(f"{path}: {lacking}. {how_to_import(path)}")
    columns = {name: _numbers(path, name, table[name]) for name in _NUMBERS if name in table}
    count = len(columns["bytes"])
    if count < _FEWEST:
        raise InputError(f"{path}: {count} flows are too few to compare anything; at least {_FEWEST}")
    steps = np.flatnonzero(columns["bytes"] == 0)
    if len(steps):
        raise InputError(f"{path}: line {steps[0] + 2}: a step, a row without bytes. Use a list of flows only")
    groups, group_of = _groups(path, table.get("group"), names, count)
    after = tuple(text or "" for text in table["after"].to_pylist()) if "after" in table else ()
    at_ns = _starts(path, columns, after)
    unused = [f"{path}: column `{name}`: {why}" for name, why in _UNUSED.items() if _states(table.get(name))]
    unused += [f"{path}: {text}" for text in _unknown(table)]
    crossing = _crossing(after, group_of)
    if crossing:
        unused.append(f"{path}: {crossing} flows that wait for flows of another group start by themselves")
    connections = _connections(table.get("connection"))
    flows = FlowList(path, columns, at_ns, group_of, groups, after, tuple(unused), connections)
    if flows.span_ns <= 1:
        raise InputError(f"{path}: all flows start at one instant; `priolane import --spread 1s` spreads them")
    return flows


# Separators of other dialects, what they are called, and the command that makes commas of them.
_SEPARATORS = {";": ("`;`", "tr ';' ','"), "\t": ("tabs", "tr '\\t' ','"), "|": ("`|`", "tr '|' ','")}


def _separator(table: Mapping[str, pa.ChunkedArray]) -> tuple[str, str] | None:
    """The separator of a list that has all columns, but no commas; `None` for any other list."""
    if len(table) != 1:
        return None
    (head,) = table
    for separator, says in _SEPARATORS.items():
        if set(REQUIRED) <= {name.strip().strip('"') for name in head.split(separator)}:
            return says
    return None


def _table(path: Path, source: IO[bytes]) -> dict[str, pa.ChunkedArray]:
    known = dict.fromkeys((*_NUMBERS, *_TEXTS, *_UNUSED), pa.string())
    options = csv.ConvertOptions(column_types=known, strings_can_be_null=True)
    try:
        read = csv.read_csv(source, convert_options=options)
    except (pa.ArrowInvalid, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{path}: this is not a CSV file ({reason}). {how_to_import(path)}") from None
    return {str(name).strip(): read.column(place) for place, name in enumerate(read.column_names)}


def _unknown(table: Mapping[str, pa.ChunkedArray]) -> Iterator[str]:
    """A sentence for each column that no flow list has."""
    known = (*_NUMBERS, *_TEXTS, *_UNUSED)
    for name in table:
        if name in known:
            continue
        near = difflib.get_close_matches(name, [name for name in known if name not in table], 1)
        hint = f"; did you mean `{near[0]}`?" if near else ""
        yield f"column {name[:_LONGEST_SHOWN]!r} is not used, as no flow list has it{hint}"


def _states(column: pa.ChunkedArray | None) -> bool:
    """Whether a column has any value but 0."""
    if column is None:
        return False
    return any(text is not None and text.strip() not in ("", "0") for text in column.unique().to_pylist())


def _numbers(path: Path, name: str, column: pa.ChunkedArray) -> Sizes:
    """The numbers of a column, NaN where an optional one has none."""
    if not pa.types.is_string(column.type):
        raise InputError(f"{path}: column {name}: this is not text. {how_to_import(path)}")
    trimmed = pc.utf8_trim_whitespace(column)
    filled = pc.if_else(pc.equal(trimmed, ""), None, trimmed)
    try:
        values: Sizes = pc.cast(filled, pa.float64()).to_numpy()
    except pa.ArrowInvalid:
        values = np.asarray([_number(text) for text in filled.to_pylist()])
    absent = filled.is_null().to_numpy() & (name not in REQUIRED)
    wrong = np.flatnonzero(~absent & ~(np.isfinite(values) & (values >= 0)))
    if len(wrong):
        raise InputError(f"{path}: line {wrong[0] + 2}: `{name}` is not a number from 0 on")
    return values


def _number(text: str | None) -> float:
    try:
        return float("nan" if text is None else text)
    except ValueError:
        return float("inf")


def _groups(
    path: Path, column: pa.ChunkedArray | None, names: Sequence[str], count: int
) -> tuple[tuple[str, ...], Numbers]:
    """The names of groups, in the order of `names` or of their first flow, and the group of each flow."""
    if column is None:
        return (GROUP,), np.zeros(count, dtype=np.int64)
    texts = [str(text or "").strip() for text in column.to_pylist()]
    if names:
        texts = [names[int(text)] for text in texts]
        groups = [name for name in names if name in set(texts)]
    else:
        wrong = next((row for row, text in enumerate(texts) if not _LABEL.fullmatch(text)), None)
        if wrong is not None:
            raise InputError(f"{path}: line {wrong + 2}: `group` is no name. Use letters, digits, _ and -, such as web")
        groups = list(dict.fromkeys(texts))
    if len(groups) > _MOST_GROUPS:
        raise InputError(f"{path}: {len(groups)} names in the column `group`. Use at most {_MOST_GROUPS}")
    place = {name: nth for nth, name in enumerate(groups)}
    return tuple(groups), np.asarray([place[text] for text in texts], dtype=np.int64)


def _connections(column: pa.ChunkedArray | None) -> Numbers | None:
    """A number for the connection of each flow; `None` if no flow names one."""
    if column is None:
        return None
    texts = [str(text or "").strip() for text in column.to_pylist()]
    if not any(texts):
        return None
    names = [text or f" {row}" for row, text in enumerate(texts)]
    return np.unique(names, return_inverse=True)[1].astype(np.int64)


def _starts(path: Path, columns: Mapping[str, Sizes], after: Sequence[str]) -> Sizes:
    """Starts, those of waiting flows at least their delay after those of the flows that they wait for."""
    at = columns["start_ns"].copy()
    if not any(after):
        return at
    delays = np.nan_to_num(columns["delay_ns"]) if "delay_ns" in columns else np.zeros(len(at))
    waits = [(row, _rows(path, row, text, len(at))) for row, text in enumerate(after) if text]
    for _ in range(len(waits) + 1):
        moved = False
        for row, before in waits:
            earliest = max(at[other] for other in before) + delays[row]
            if earliest > at[row]:
                at[row], moved = earliest, True
        if not moved:
            return at
    raise InputError(f"{path}: flows wait for each other in a circle")


def _rows(path: Path, row: int, text: str, count: int) -> list[int]:
    try:
        numbers = [int(part) for part in text.split("+")]
    except ValueError:
        numbers = []
    if not numbers or not all(0 <= number < count for number in numbers):
        raise InputError(
            f"{path}: row {row}: `after` = {text!r} must name rows of the list, such as 3+7, without delays"
        )
    return numbers


def _crossing(after: Sequence[str], group_of: Numbers) -> int:
    """The number of flows that wait for a flow of another group."""
    return sum(
        any(group_of[int(other)] != group_of[row] for other in text.split("+"))
        for row, text in enumerate(after)
        if text
    )
