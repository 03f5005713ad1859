"""The slowest flows of each scheme, with the commands that show why: `priolane trace` plays what happened to them."""

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from priolane.figure.numbers import plain, value_text
from priolane.model.experiment import PlannedRun
from priolane.model.toml import inline
from priolane.report.flow_table import FLOWS, flow_columns, positive
from priolane.report.sentences.places import place_text
from priolane.results.results import Results
from priolane.text.command_line import command_line, option, path_word

MOST_FLOWS = 5
_RANKS = 1000
_PS_PER_S = 1e12
_COLUMNS = ("flow", "src", "dst", "bytes", "fct_ps", "slowdown", "timeouts")


@dataclass(frozen=True)
class SlowFlow:
    """A measured flow that finished. `fct_s` is in seconds, `size` in bytes."""

    seed: int
    flow: int
    src: int
    dst: int
    size: int
    fct_s: float
    slowdown: float
    timeouts: int


@dataclass(frozen=True)
class SlowFlowRow:
    """A slow flow in words, and the command that plays it."""

    flow: str
    slowdown: str
    fct: str
    timeouts: str
    command: str


@dataclass(frozen=True)
class Slowest:
    """The slowest flows by scheme, in the order of the grid, and the sweep point of all of them in words."""

    place: str
    by_scheme: Mapping[str, Sequence[SlowFlowRow]]


def slowest(results: Results) -> Slowest:
    """The slowest flows of each scheme at the last sweep point, the one with the largest slowdown first.

    Raises `InputError` if a table of flows is damaged.
    """
    point: Mapping[str, Any] = results.runs[-1].point if results.runs else {}
    runs = [run for run in results.runs if run.point == point]
    largest = {run.id: _largest_slowdown(results, run) for run in runs}
    slowest_of: dict[str, list[SlowFlow]] = {run.scheme: [] for run in runs}
    for run in sorted(runs, key=lambda run: largest[run.id], reverse=True):
        before = slowest_of[run.scheme]
        least = before[-1].slowdown if len(before) == MOST_FLOWS else 0.0
        if largest[run.id] >= least:
            slowest_of[run.scheme] = _slowest_of([*before, *slow_flows(results, run, least)])
    rows = {scheme: [_row(results, scheme, point, flow) for flow in flows] for scheme, flows in slowest_of.items()}
    return Slowest(place_text(point), {scheme: slow_flows for scheme, slow_flows in rows.items() if slow_flows})


def _largest_slowdown(results: Results, run: PlannedRun) -> float:
    """The largest slowdown of a run by its record, infinite if the record does not say.

    Percentiles are nearest ranks, so that the 99.9th one of fewer than 1,000 flows is the largest value.
    """
    summary = results.records.get(run.id, {}).get("summary", {}).get("all", {})
    flows, largest = summary.get("flows"), summary.get("p999_slowdown")
    if flows == 0:
        return 0.0
    is_known = isinstance(flows, int) and flows < _RANKS and isinstance(largest, int | float)
    return float(largest) if is_known else math.inf


def slow_flows(results: Results, run: PlannedRun, least: float = 0.0) -> list[SlowFlow]:
    """The slowest flows of one run; none where no slowdown reaches `least`."""
    import pyarrow.compute as pc  # noqa: PLC0415 - slow to load

    table = flow_columns(results, run, (*_COLUMNS, "measured"))
    if table is None or (pc.max(table.column("slowdown")).as_py() or 0.0) < least:
        return []
    done = pc.and_(pc.is_valid(table.column("fct_ps")), pc.is_valid(table.column("slowdown")))
    table = table.filter(pc.and_(pc.and_(table.column("measured"), pc.is_valid(table.column("bytes"))), done))
    for name in ("bytes", "fct_ps", "slowdown"):
        positive(table, name, results.place(run.id).file(FLOWS))
    order = [("slowdown", "descending"), ("flow", "ascending")]
    kept = table.take(pc.select_k_unstable(table, k=min(MOST_FLOWS, table.num_rows), sort_keys=order))
    return [
        SlowFlow(
            seed=run.seed,
            flow=row["flow"],
            src=row["src"],
            dst=row["dst"],
            size=row["bytes"],
            fct_s=row["fct_ps"] / _PS_PER_S,
            slowdown=row["slowdown"],
            timeouts=row["timeouts"],
        )
        for row in kept.to_pylist()
    ]


def _slowest_of(flows: Sequence[SlowFlow]) -> list[SlowFlow]:
    return heapq.nsmallest(MOST_FLOWS, flows, key=lambda flow: (-flow.slowdown, flow.seed, flow.flow))


def _row(results: Results, scheme: str, point: Mapping[str, Any], flow: SlowFlow) -> SlowFlowRow:
    return SlowFlowRow(
        flow=f"{value_text(flow.size, 'B')}, h{flow.src} to h{flow.dst}",
        slowdown=plain(flow.slowdown),
        fct=value_text(flow.fct_s, "s"),
        timeouts=str(flow.timeouts),
        command=trace_command(results, scheme, point, flow),
    )


def trace_command(results: Results, scheme: str, point: Mapping[str, Any], flow: SlowFlow) -> str:
    """The command that traces a flow and makes a page that plays it."""
    options = results.options
    changes = [word for key, value in options.sets for word in option("--set", f"{key}={value}")]
    changes += option("--reading", options.reading) if options.reading is not None else []
    changes += [f"--{options.size}"] if options.size != "default" else []
    places = [word for key, value in point.items() for word in option("--point", f"{key}={inline(value)}")]
    return command_line(
        "priolane",
        "trace",
        path_word(results.source),
        *changes,
        *option("--scheme", scheme),
        "--seed",
        str(flow.seed),
        *places,
        "--flow",
        str(flow.flow),
        "--page",
        f"flow-{flow.flow}.html",
    )
