"""The flow list, cut into blocks of time.

    | block 1 | block 2 | block 3 | ...      each a list of its own, `block_1.csv` and so on
       train     train     judge   ...       every third is for judging
    |warm|measured|                           the flows before a block warm the network up; they count in no metric

A block is a run, as a seed is: `list = "block_{seed}.csv"`. Candidates are compared block by block.
"""

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from priolane._core import InputError
from priolane.advice.fabric import Sizes, in_class
from priolane.advice.recording import read_recording
from priolane.files import open_regular, write_whole
from priolane.frames import load_pandas

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("start_ns", "src", "dst", "bytes")
_IMPORT = "Import a log or a capture first: priolane import auto FILE -o flows.csv"
# The limit of flow lists in `priolane_source::disk`.
_MOST_BYTES = 256 << 20
WARM_UP = 0.25
"""The part of a block's length that is simulated before the block."""
_MOST, FEWEST = 48, 6
_JUDGED = 3
_NS = 1e-9
# Fewer different starts than this part of the flows: a clock that ticked coarsely.
_COARSE = 0.2
# A list with fewer flows says little.
_FEW_FLOWS = 1000
# What the answer decides: which class a flow has.
_DROPPED = "class"
EXPERIMENT = ".toml"
"""The suffix of files whose flows are drawn, not recorded."""
GROUP = "all"
"""The group of flows where none is named."""
_LABEL = re.compile(r"[A-Za-z0-9_-]{1,40}")
_MOST_GROUPS = 16


@dataclass(frozen=True)
class FlowTable:
    """A flow list. `at_ns` are starts in nanoseconds, those of waiting flows after what they wait for. `groups` are the
    names in the column `group`, such as tenants, or one name for all flows."""

    path: Path
    rows: "pd.DataFrame"
    at_ns: Sizes
    groups: tuple[str, ...] = (GROUP,)

    @property
    def sizes(self) -> Sizes:
        """Bytes of the flows."""
        return self.rows["bytes"].to_numpy(dtype=float)

    @property
    def span_s(self) -> float:
        """From the first to the last start, in seconds."""
        return float(self.at_ns.max() - self.at_ns.min()) * _NS

    def has(self, column: str) -> bool:
        """Whether any flow has a value in a column."""
        return column in self.rows and bool(self.rows[column].notna().any())

    def in_class(self, of: Mapping[str, Any]) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
        """The flows in a class, by its bounds of sizes and its groups."""
        chosen = in_class(self.sizes, of)
        if "group" in of and "group" in self.rows:
            chosen &= self.rows["group"].isin(class_groups(of)).to_numpy()
        return chosen


def class_groups(of: Mapping[str, Any]) -> list[str]:
    """The groups that a class names; empty for all."""
    stated = of.get("group", [])
    return [stated] if isinstance(stated, str) else list(stated)


def read_flows(path: Path) -> FlowTable:
    """Reads a flow list, without the classes that flows ask for: these are what an answer gives.

    Raises `InputError` if it cannot be read or lacks a column or rows.
    """
    try:
        with open_regular(path) as stream:
            if os.fstat(stream.fileno()).st_size > _MOST_BYTES:
                raise InputError(f"{path}: the file is larger than {_MOST_BYTES} bytes; use a shorter recording")
            return flow_table(path, stream)
    except OSError as error:
        raise InputError(f"{path}: cannot read this file: {error.strerror}") from None


def flow_table(path: Path, source: IO[bytes] | StringIO, names: Sequence[str] = ()) -> FlowTable:
    """The flow list in `source`, called `path` in messages: as `read_flows` has it. With `names`, the column `group`
    has numbers of them.

    Raises `InputError` if it is no flow list, and if pandas is not installed.
    """
    try:
        pd = load_pandas("advise")
    except ImportError as error:
        raise InputError(str(error)) from error
    try:
        rows = pd.read_csv(source, dtype={"after": "string", "group": "string"}, skipinitialspace=True)
    except (ValueError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: this is not a CSV file ({error}). {_IMPORT}") from None
    missing = [name for name in COLUMNS if name not in rows]
    if missing:
        raise InputError(f"{path}: no column {', '.join(missing)}; a flow list has {','.join(COLUMNS)}. {_IMPORT}")
    for name in COLUMNS:
        rows[name] = pd.to_numeric(rows[name], errors="coerce")
        wrong = rows.index[~np.isfinite(rows[name].to_numpy(dtype=float)) | (rows[name] < 0)]
        if len(wrong):
            raise InputError(f"{path}: line {wrong[0] + 2}: `{name}` is not a number from 0 on")
    for name in {"delay_ns", "deadline_ns"} & set(rows):
        given = rows[name].notna()
        rows[name] = pd.to_numeric(rows[name], errors="coerce")
        wrong = rows.index[given & ~np.isfinite(rows[name].to_numpy(dtype=float))]
        if len(wrong):
            raise InputError(f"{path}: line {wrong[0] + 2}: `{name}` is not a number from 0 on")
    if len(rows) < FEWEST * 10:
        raise InputError(f"{path}: {len(rows)} flows are too few to compare anything; at least {FEWEST * 10}")
    rows = rows.drop(columns=_DROPPED, errors="ignore")
    table = FlowTable(path, rows, _starts(path, rows), _name_groups(path, rows, names))
    if table.span_s <= 0:
        raise InputError(f"{path}: all flows start at one instant; `priolane import --spread 1s` spreads them")
    return table


def _name_groups(path: Path, rows: "pd.DataFrame", names: Sequence[str]) -> tuple[str, ...]:
    """The names of groups, in the order of `names` or of their first flow; puts them in the place of numbers."""
    if "group" not in rows:
        return (GROUP,)
    if names:
        rows["group"] = [names[int(number)] for number in rows["group"]]
        present = set(rows["group"])
        return tuple(name for name in names if name in present)
    wrong = [row for row, name in enumerate(rows["group"]) if not isinstance(name, str) or not _LABEL.fullmatch(name)]
    if wrong:
        raise InputError(f"{path}: line {wrong[0] + 2}: `group` is no name. Use letters, digits, _ and -, such as web")
    found = tuple(dict.fromkeys(rows["group"]))
    if len(found) > _MOST_GROUPS:
        raise InputError(f"{path}: {len(found)} names in the column `group`. Use at most {_MOST_GROUPS}")
    return found


def _starts(path: Path, rows: "pd.DataFrame") -> Sizes:
    at: Sizes = rows["start_ns"].to_numpy(dtype=float).copy()
    if "after" not in rows or not rows["after"].notna().any():
        return at
    delays = rows["delay_ns"].fillna(0).to_numpy(dtype=float) if "delay_ns" in rows else np.zeros(len(rows))
    waits = [
        (row, _numbers(path, row, text, len(rows))) for row, text in enumerate(rows["after"]) if isinstance(text, str)
    ]
    for _ in range(len(waits) + 1):
        moved = False
        for row, before in waits:
            earliest = max(at[other] for other in before) + delays[row]
            if earliest > at[row]:
                at[row], moved = earliest, True
        if not moved:
            return at
    raise InputError(f"{path}: flows wait for each other in a circle")


def _numbers(path: Path, row: int, text: str, count: int) -> list[int]:
    try:
        found = [int(part) for part in text.split("+")]
    except ValueError:
        found = []
    if not found or not all(0 <= number < count for number in found):
        raise InputError(f"{path}: row {row}: `after` = {text!r} must name rows of the list, such as 3+7")
    return found


@dataclass(frozen=True)
class Blocks:
    """Blocks of a list, one in each `period_ns`: `length_ns` from its beginning are measured, and `warm_ns` before are
    simulated too. Numbers count from 1."""

    table: FlowTable
    period_ns: int
    length_ns: int
    warm_ns: int

    def shortened(self, factor: float) -> "Blocks":
        """The same beginnings, and only a part of what is measured and warmed up."""
        length, warm = (max(1, int(ns * factor)) for ns in (self.length_ns, self.warm_ns))
        return Blocks(self.table, self.period_ns, length, warm)

    @property
    def part(self) -> float:
        """The part of the list's time that is measured in some block."""
        return self.length_ns / self.period_ns

    @cached_property
    def _places(self) -> tuple[Sizes, Sizes]:
        """The number of each flow's block, and how long after its beginning the flow starts."""
        since = self.table.at_ns - self.table.at_ns.min()
        return since // self.period_ns + 1, since % self.period_ns

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The blocks in which a flow starts."""
        number, after = self._places
        return tuple(int(found) for found in np.unique(number[after < self.length_ns]))

    @property
    def judged(self) -> tuple[int, ...]:
        """The blocks that are kept for judging: every third."""
        return self.numbers[_JUDGED - 1 :: _JUDGED]

    @property
    def training(self) -> tuple[int, ...]:
        """All others, in an order in which each beginning is spread over the whole list."""
        left = [number for place, number in enumerate(self.numbers, 1) if place % _JUDGED]
        # By the reversed bits of their places: the van der Corput sequence.
        bits = max(1, (len(left) - 1).bit_length())
        places = sorted(range(len(left)), key=lambda place: int(f"{place:0{bits}b}"[::-1], 2))
        return tuple(left[place] for place in places)

    def begins_ns(self, number: int) -> float:
        """The start of the measured part of a block, in the list's time."""
        return float(self.table.at_ns.min()) + (number - 1) * self.period_ns

    def measured(self, numbers: Sequence[int]) -> "pd.DataFrame":
        """The rows of the measured parts of blocks."""
        number, after = self._places
        return self.table.rows[np.isin(number, np.asarray(numbers)) & (after < self.length_ns)]

    def rows(self, number: int, squeeze: float = 1.0, group: str | None = None) -> "pd.DataFrame":
        """A block as a list that starts at 0, its warm-up before it; `squeeze` above 1 brings flows closer together.

        With `group`, only the flows of that group. Flows that wait for flows outside the list start by themselves.
        Deadlines stay as long after starts as they are.
        """
        begin = self.begins_ns(number)
        at = self.table.at_ns
        inside = (at >= begin - self.warm_ns) & (at < begin + self.length_ns)
        if group is not None and "group" in self.table.rows:
            inside &= (self.table.rows["group"] == group).to_numpy()
        chosen = np.flatnonzero(inside)
        rows = self.table.rows.iloc[chosen].drop(columns="group", errors="ignore").copy()
        offset = begin - self.warm_ns
        old = rows["start_ns"].to_numpy(dtype=float)
        if "after" in rows:
            rows["after"] = _renumbered(rows["after"], chosen)
            waiting = rows["after"].notna().to_numpy()
            starts = np.where(waiting, np.maximum(old, offset), at[chosen])
            if "delay_ns" in rows:
                rows.loc[~waiting, "delay_ns"] = np.nan
        else:
            starts = at[chosen]
        rows["start_ns"] = np.rint((starts - offset) / squeeze).astype("int64")
        if "deadline_ns" in rows:
            rows["deadline_ns"] += rows["start_ns"] - old
        return rows

    def groups(self, folder: str) -> list[dict[str, Any]]:
        """The groups of an experiment whose lists are in `folder`."""
        return [
            {"name": name, "hosts": "*", "app": "flows", "list": f"{folder}/{self._file('{seed}', name)}"}
            for name in self.table.groups
        ]

    def write(self, folder: Path, numbers: Sequence[int], squeeze: float = 1.0) -> None:
        """Writes blocks as `block_N.csv`, or `block_N_GROUP.csv` if there are several groups."""
        for number in numbers:
            for name in self.table.groups:
                text = self.rows(number, squeeze, name).to_csv(index=False, float_format="%.0f")
                write_whole(folder / self._file(str(number), name), text)

    def _file(self, number: str, group: str) -> str:
        return f"block_{number}.csv" if len(self.table.groups) == 1 else f"block_{number}_{group}.csv"


def _renumbered(after: "pd.Series[str]", chosen: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> "pd.Series[str]":
    place = {int(row): nth for nth, row in enumerate(chosen)}

    def of(text: object) -> str | None:
        if not isinstance(text, str):
            return None
        inside = [str(place[number]) for part in text.split("+") if (number := int(part)) in place]
        return "+".join(inside) or None

    return after.map(of).astype("string")


def cut(table: FlowTable, wanted: int) -> Blocks:
    """The list in `wanted` blocks, or the nearest number from 6 to 48."""
    count = min(_MOST, max(FEWEST, wanted))
    span_ns = float(table.at_ns.max() - table.at_ns.min()) + 1
    length = math.ceil(span_ns / count)
    return Blocks(table, length, length, math.ceil(length * WARM_UP))


def find_doubts(table: FlowTable, sampling: int | None) -> tuple[str, ...]:
    """The sources of uncertainty in this list: sampling, starts that are not known, few flows."""
    found = []
    recording = read_recording(table.path)
    sampled = sampling if sampling is not None else recording.sampling
    if sampled is not None and sampled > 1:
        found.append(
            f"the flows were sampled, 1 packet in {sampled}: most small flows were not seen, and sizes are estimates; "
            "tails of small flows and thresholds may be off by far"
        )
    instants, flows = len(np.unique(table.at_ns)), len(table.rows)
    is_drawn = table.path.suffix.lower() == EXPERIMENT
    if instants < _COARSE * flows and not is_drawn:
        found.append(
            f"starts are known at {instants} instants for {flows} flows: bursts within them are made by the clock; "
            "`priolane import --spread` spreads them"
        )
    elif recording.clock is not None:
        found.append(recording.clock)
    found.extend(recording.doubts)
    if flows < _FEW_FLOWS:
        found.append(f"the list has {flows} flows: tails rest on few of them")
    return tuple(found)
