"""How far measurements on a testbed are from simulations of the same flows, by tolerances that are fixed here.

a flow alone                within 3 % and 100 us of the machine's time
median completion time      within 15 % and 100 us
99th percentile             within 30 % and 100 us
flows that complete         as many
packets that switches drop  none where the simulation has none
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from priolane._core import InputError
from priolane.directory import RUN_FILE, read_json
from priolane.experiment import PlannedRun
from priolane.results import Results

ALONE, MEDIAN, TAIL = 0.03, 0.15, 0.30
# What a machine may be late by, in its own time.
LATE_S = 100e-6
_PS = 1e-12


@dataclass(frozen=True)
class Row:
    """A quantity of a run, simulated and measured, and whether they agree."""

    run: PlannedRun
    quantity: str
    simulated: float
    measured: float
    tolerance: str
    agrees: bool

    @property
    def ratio(self) -> float | None:
        """Measured over simulated; `None` for none of nothing."""
        return self.measured / self.simulated if self.simulated else None


def compare(simulated: Results, measured: Results) -> list[Row]:
    """A row for each quantity of each run that was measured.

    Raises `InputError` if the two have other runs.
    """
    if [run.id for run in simulated.runs] != [run.id for run in measured.runs]:
        raise InputError(f"{simulated.directory} and {measured.directory} have other runs: simulate what was measured")
    return [
        row for run in measured.runs for row in _rows(run, simulated.directory / run.id, measured.directory / run.id)
    ]


def _rows(run: PlannedRun, simulated: Path, measured: Path) -> Iterator[Row]:
    records = [read_json(where / RUN_FILE) for where in (simulated, measured)]
    scale = records[1]["measured"]["scale"]
    tables = [_flows(where) for where in (simulated, measured)]
    late = LATE_S / scale
    done, ended = (float(np.isfinite(fct).sum()) for _, fct in tables)
    yield Row(run, "flows that complete", done, ended, "as many", done == ended)
    drops, dropped = (float(record["counters"]["drops"]) for record in records)
    fits = drops > 0 or dropped == 0
    yield Row(run, "packets dropped", drops, dropped, "none where none are simulated", fits)
    (start, expected), (_, seen) = tables
    both = np.isfinite(expected) & np.isfinite(seen)
    yield from _alone(run, (start, expected, seen), both, late)
    if both.any():
        for name, part, share in (("median FCT (s)", 50, MEDIAN), ("p99 FCT (s)", 99, TAIL)):
            one, other = (float(np.percentile(fct[both], part)) for fct in (expected, seen))
            yield Row(run, name, one, other, _tolerance(share, late), abs(other - one) <= share * one + late)


def _alone(run: PlannedRun, flows: Sequence[Any], both: Any, late: float) -> Iterator[Row]:
    """The flow farthest off of those that no other flow meets in the simulation."""
    start, expected, seen = flows
    alone = both & _meets_nobody(start, expected)
    if not alone.any():
        return
    off = np.where(alone, np.abs(seen - expected) / (ALONE * expected + late), -1.0)
    worst = int(np.argmax(off))
    name = f"farthest of {int(alone.sum())} flows alone (s)"
    yield Row(run, name, float(expected[worst]), float(seen[worst]), _tolerance(ALONE, late), bool(off[worst] <= 1.0))


def _meets_nobody(start: Any, fct: Any) -> Any:
    """By flow, whether no other one is under way from its start to its end."""
    end = np.where(np.isfinite(fct), start + fct, np.inf)
    order = np.argsort(start, kind="stable")
    before = np.concatenate(([-np.inf], np.maximum.accumulate(end[order])[:-1]))
    after = np.concatenate((start[order][1:], [np.inf]))
    meets = np.empty(len(start), dtype=bool)
    meets[order] = (before > start[order]) | (after < end[order])
    return ~meets


def _tolerance(share: float, late: float) -> str:
    return f"{share * 100:.0f} % + {late * 1e6:.3g} us"


def _flows(run: Path) -> tuple[Any, Any]:
    """Starts and completion times of measured flows in seconds; not a number where a flow did not end."""
    table = pq.read_table(run / "flows.parquet", columns=["start_ps", "fct_ps", "measured"]).to_pydict()
    kept = [place for place, inside in enumerate(table["measured"]) if inside]
    times = [
        np.array([np.nan if table[name][place] is None else table[name][place] * _PS for place in kept], dtype=float)
        for name in ("start_ps", "fct_ps")
    ]
    return times[0], times[1]


def as_json(rows: Sequence[Row]) -> str:
    """The rows as a JSON array."""
    return json.dumps(
        [
            {
                "run": row.run.id,
                "scheme": row.run.scheme,
                "point": dict(row.run.point),
                "seed": row.run.seed,
                "quantity": row.quantity,
                "simulated": row.simulated,
                "measured": row.measured,
                "ratio": row.ratio,
                "tolerance": row.tolerance,
                "agrees": row.agrees,
            }
            for row in rows
        ],
        indent=1,
    )
