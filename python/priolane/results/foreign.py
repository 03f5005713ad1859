"""Results of other simulators as results of priolane: completion times of flows, one run for each file.

A directory of such runs has a note, and of each run the record and `flows.parquet`, so that `compare` reads it beside a
grid. Nothing is known but sizes, starts, completion times and those of idle networks: all other values are absent.
"""

import csv
import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from priolane._core import InputError
from priolane.storage.directory import GRID_FILE, RUN_FILE, exclusive_writer, read_json, write_json, write_note
from priolane.storage.files import write_whole
from priolane.storage.input_file import read_text_of_user

Times = npt.NDArray[np.float64]
Sizes = npt.NDArray[np.int64]

SIMULATOR = "another simulator"
"""The version in records of imported runs."""
_MOST_BYTES = 1 << 30
_PERCENTILES = {"p50": 500, "p95": 950, "p99": 990, "p999": 999}
# HPCC's address of node n: 11.(n / 256).(n % 256).1, in hexadecimal digits.
_ADDRESS = re.compile(r"0b[0-9a-f]{6}")
# Counters that such files do not have.
_UNKNOWN = ("packet_hops", "timeouts", "drops")
_NAMES = ("src", "dst", "bytes", "start_ns", "fct_ns", "ideal_ns")
_NEEDED = ("bytes", "start_ns", "fct_ns")
_FORM = (
    "rows of HPCC, `sip dip sport dport bytes start_ns fct_ns ideal_ns`, or a CSV with the columns bytes, start_ns and "
    "fct_ns, and perhaps ideal_ns, src and dst"
)


class End(Enum):
    """The event with which a flow ends in the file of another simulator."""

    ACKED = "acked"
    """The last ACK at the sender: HPCC and relatives print the time there (`qp_finish`)."""
    UNKNOWN = "unknown"
    """A CSV does not say."""


@dataclass(frozen=True)
class ForeignFlows:
    """Flows that another simulator finished: bytes, and times in ns. `ideal` is that of an idle network, if known."""

    source: Path
    sha256: str
    src: Sizes
    dst: Sizes
    sizes: Sizes
    starts: Sizes
    fcts: Sizes
    ideal: Sizes | None
    ends: End

    def __len__(self) -> int:
        """The number of flows."""
        return len(self.sizes)


def read_flows(path: Path) -> ForeignFlows:
    """Reads completion times; raises `InputError` for the first row that is none."""
    text = read_text_of_user(path, most_bytes=_MOST_BYTES)
    # Spreadsheets begin a file with a mark of the order of bytes.
    lines = [(nth, line.strip()) for nth, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1)]
    lines = [(nth, line) for nth, line in lines if line and not line.startswith("#")]
    if not lines:
        raise InputError(f"{path}: the file has no flows. Use {_FORM}.")
    columns: list[list[int]] = [[] for _ in _NAMES]
    places = _header(path, lines[0][1])
    for nth, line in lines[1:] if places is not None else lines:
        for column, value in zip(columns, _row(path, nth, line, places), strict=True):
            column.append(value)
    if not columns[0]:
        raise InputError(f"{path}: the file has no flows. Use {_FORM}.")
    src, dst, sizes, starts, fcts, ideal = (np.array(column, dtype=np.int64) for column in columns)
    known = places is None or "ideal_ns" in places
    digest = hashlib.sha256(text.encode()).hexdigest()
    ends = End.ACKED if places is None else End.UNKNOWN
    return ForeignFlows(path, digest, src, dst, sizes, starts, fcts, ideal if known else None, ends)


def _header(path: Path, line: str) -> dict[str, int] | None:
    """The places of columns that a CSV names; `None` for rows of HPCC."""
    cells = _cells(path, 1, line)
    if "fct_ns" not in cells:
        return None
    twice = [name for name in _NAMES if cells.count(name) > 1]
    if twice:
        raise InputError(f"{path}:1: {twice[0]}: the column is there {cells.count(twice[0])} times. Keep one.")
    missing = [name for name in _NEEDED if name not in cells]
    if missing:
        raise InputError(f"{path}:1: {missing[0]}: the column is missing. Use {_FORM}.")
    return {name: cells.index(name) for name in _NAMES if name in cells}


def _cells(path: Path, nth: int, line: str) -> list[str]:
    try:
        return [cell.strip() for row in csv.reader([line]) for cell in row]
    except csv.Error as error:
        raise InputError(f"{path}:{nth}: the row is not CSV: {error}. Use {_FORM}.") from None


def _row(path: Path, nth: int, line: str, places: dict[str, int] | None) -> list[int]:
    """The numbers of a row in the order of `_NAMES`; absent ones are 0."""
    cells = line.split() if places is None else _cells(path, nth, line)
    if places is None and len(cells) != 8:
        raise InputError(f"{path}:{nth}: the row has {len(cells)} cells. Use {_FORM}.")
    at = {"src": 0, "dst": 1, "bytes": 4, "start_ns": 5, "fct_ns": 6, "ideal_ns": 7} if places is None else places
    row = []
    for name in _NAMES:
        cell = cells[at[name]] if name in at and at[name] < len(cells) else "" if name in at else "0"
        number = _node(cell) if name in {"src", "dst"} else _whole(cell)
        if number is None or (name in {"bytes", "fct_ns"} and number == 0):
            raise InputError(f"{path}:{nth}: {name}: {cell[:40]!r} is not a whole number above zero. Use {_FORM}.")
        row.append(number)
    return row


def _whole(cell: str) -> int | None:
    number, _, zeros = cell.partition(".")
    is_whole = number.isascii() and number.isdigit() and not zeros.strip("0") and len(number) <= 18
    return int(number) if is_whole else None


def _node(cell: str) -> int | None:
    """A number of a node, or the one in HPCC's address of it."""
    return (int(cell, 16) >> 8) & 0xFFFF if _ADDRESS.fullmatch(cell) else _whole(cell)


def summaries(flows: ForeignFlows, classes: Mapping[str, npt.NDArray[np.bool_]]) -> dict[str, dict[str, Any]]:
    """The values that are known of each class, under the names of a run's summary; percentiles are those of ranks."""
    return {name: _summary(flows, mask) for name, mask in classes.items()}


def _summary(flows: ForeignFlows, mask: npt.NDArray[np.bool_]) -> dict[str, Any]:
    fcts = np.sort(flows.fcts[mask].astype(np.float64)) / 1e9
    values: dict[str, Any] = {"flows": len(fcts), "unfinished": 0}
    if not len(fcts):
        return values
    values |= {"mean_fct_s": float(fcts.mean()), "std_fct_s": float(fcts.std())}
    if flows.ends is End.ACKED:
        values["mean_fct_acked_s"] = values["mean_fct_s"]
    values["cv"] = values["std_fct_s"] / values["mean_fct_s"]
    values |= {f"{name}_fct_s": _percentile(fcts, mille) for name, mille in _PERCENTILES.items()}
    values["goodput_bps"] = float(8 * flows.sizes[mask].sum() / fcts.sum())
    if flows.ideal is not None and (flows.ideal[mask] > 0).all():
        slowdowns = np.sort(flows.fcts[mask] / flows.ideal[mask])
        values["mean_slowdown"] = float(slowdowns.mean())
        values |= {f"{name}_slowdown": _percentile(slowdowns, mille) for name, mille in _PERCENTILES.items()}
    return values


def _percentile(ordered: Times, mille: int) -> float:
    """The smallest value that at least `mille` thousandths of all values do not exceed."""
    return float(ordered[max(math.ceil(len(ordered) * mille / 1000), 1) - 1])


@dataclass(frozen=True)
class ForeignRun:
    """The run whose results a file has: its scheme, sweep point and seed, and the merged experiment if it is known."""

    scheme: str
    seed: int
    point: Mapping[str, Any]
    merged: Mapping[str, Any]


def write_run(directory: Path, flows: ForeignFlows, run: ForeignRun, summary: Mapping[str, Mapping[str, Any]]) -> str:
    """Writes a run into a directory of imported runs, which is made if it is missing; returns the run's id.

    Raises `InputError` for a directory of other results, if another file is there as the run of this scheme, point and
    seed, and if the same flows are there as another seed.
    """
    name = hashlib.sha256(json.dumps([run.scheme, run.point, run.seed], sort_keys=True).encode()).hexdigest()[:16]
    with exclusive_writer(directory):
        runs = [run for run in _imported(directory) if run["id"] != name]
        _refuse_another(directory / name, run, flows)
        _refuse_again(directory, runs, run, flows)
        table = _table(flows)
        (directory / name).mkdir(parents=True, exist_ok=True)
        write_whole(directory / name / "flows.parquet", table)
        record = {
            "run": name,
            "version": SIMULATOR,
            "title": f"Imported from {flows.source.name}",
            "scheme": run.scheme,
            "point": dict(run.point),
            "seed": run.seed,
            "merged": dict(run.merged),
            "digest": flows.sha256,
            "stopped_at_ps": int((flows.starts + flows.fcts).max()) * 1000,
            "counters": {"flows": len(flows), "completed": len(flows)} | dict.fromkeys(_UNKNOWN),
            "load": dict.fromkeys(("asked", "offered_host", "offered_core")),
            "warnings": [],
            "priorities": [],
            "ledger": [],
            "summary": dict(summary),
            "files": [
                {"name": "flows.parquet", "bytes": len(table), "sha256": hashlib.sha256(table).hexdigest()},
            ],
        }
        write_json(directory / name / RUN_FILE, record)
        note = {
            "source": str(flows.source.resolve()),
            "title": SIMULATOR,
            "options": {"sets": [], "seeds": None, "schemes": None, "size": "default"},
            "runs": [*runs, {"id": name, "scheme": run.scheme, "point": dict(run.point), "seed": run.seed}],
            "imported": True,
        }
        write_note(directory, note)
    return name


def _refuse_another(place: Path, run: ForeignRun, flows: ForeignFlows) -> None:
    """Raises `InputError` if the run is there from a file with other contents."""
    if not (place / RUN_FILE).exists():
        return
    record = read_json(place / RUN_FILE)
    if record.get("digest") != flows.sha256:
        raise InputError(
            f"{place.parent}: scheme {run.scheme}, seed {run.seed} is there already, {record.get('title')}, with other "
            "flows. Use --seed or --scheme to add these, or a new directory with -o."
        )


def _refuse_again(directory: Path, others: Sequence[Mapping[str, Any]], run: ForeignRun, flows: ForeignFlows) -> None:
    """Raises `InputError` if another run of the same scheme and point has the same flows: copies of one run look like
    seeds without any variance."""
    for other in others:
        same = (other["scheme"], other["point"]) == (run.scheme, dict(run.point))
        if same and read_json(directory / other["id"] / RUN_FILE).get("digest") == flows.sha256:
            raise InputError(
                f"--seed {run.seed}: {directory} has the same flows as seed {other['seed']} of scheme {run.scheme}. "
                "A seed is another run of the simulator: import the file of that run."
            )


def _imported(directory: Path) -> list[dict[str, Any]]:
    """The runs of a directory of imported runs; none if it is new."""
    if not (directory / GRID_FILE).exists():
        return []
    note = read_json(directory / GRID_FILE)
    if note.get("imported") is not True:
        raise InputError(f"{directory}: the results here are not imported. Use a new directory with -o.")
    runs: list[dict[str, Any]] = note["runs"]
    return runs


def _table(flows: ForeignFlows) -> bytes:
    """`flows.parquet` with the columns that are known, named as in the tables of runs."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    columns: dict[str, Sequence[int] | npt.NDArray[Any]] = {
        "flow": np.arange(len(flows), dtype=np.uint32),
        "src": flows.src.astype(np.uint32),
        "dst": flows.dst.astype(np.uint32),
        "bytes": flows.sizes.astype(np.uint64),
        "start_ps": (flows.starts * 1000).astype(np.uint64),
        "fct_ps": (flows.fcts * 1000).astype(np.uint64),
    }
    if flows.ideal is not None:
        columns["bare_fct_ps"] = (flows.ideal * 1000).astype(np.uint64)
        columns["slowdown"] = flows.fcts / np.maximum(flows.ideal, 1)
    stream = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), stream)
    content: bytes = stream.getvalue().to_pybytes()
    return content
