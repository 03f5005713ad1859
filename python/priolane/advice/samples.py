"""The flows of one run, read into windows of start times: what each metric of the goals is, with and without each.

Values are those of `priolane_results`' summary, taken again from the table of flows, as a summary has no windows.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from priolane.advice.fabric import Sizes, in_class
from priolane.advice.flow_list import Mask, Numbers, class_groups
from priolane.advice.goals import Goal, Quantity
from priolane.advice.windows import Jackknife, Windows

COLUMNS = (
    "group", "bytes", "start_ps", "fct_ps", "bare_fct_ps", "deadline_ps", "timeouts", "measured", "coflow",
)  # fmt: skip
_PS = 1e-12
# Of a share without any event, the upper end of its 95 % interval is 3.69 over the number of cases.
_NONE_SEEN = 3.69
# The slowest flows, of which it is told how many had a timeout.
_TAIL = 990
TIMED_OUT = 0.5
"""The part of the slowest flows that had a timeout from which on a tail is the timeout and not the scheme."""
_OTHER_LIST = math.sqrt(2)


@dataclass(frozen=True)
class Trial:
    """The results of one run.

    `values` has those of goals by name, and `None` where no flow gives one; `bare` has the same if each flow were alone
    in the network. `longest_s` is the longest completion time of a flow or coflow of each goal. `timed_out` is, by
    class, the part of the slowest flows that had a timeout.
    """

    values: Mapping[str, Jackknife | None]
    hops: int
    timed_out: Mapping[str, float]
    longest_s: Mapping[str, float]
    offered: float
    bare: Mapping[str, Jackknife | None]
    run: str = ""
    """The id of the run."""


@dataclass(frozen=True)
class Flows:
    """Flows of a run, or its coflows: what goals are read from.

    `fct_s` is infinite for those that did not finish. `late` and `has_deadline` are those of flows.
    """

    group: np.ndarray[tuple[int], np.dtype[np.object_]]
    window: Numbers
    bytes: Sizes
    fct_s: Sizes
    bare_s: Sizes
    timed_out: Mask
    has_deadline: Mask
    late: Mask
    bare_late: Mask

    def only(self, mask: Mask) -> "Flows":
        """Some of them."""
        return Flows(*(of[mask] for of in vars(self).values()))


def read_trial(
    table: pa.Table,
    record: Mapping[str, Any],
    goals: Sequence[Goal],
    classes: Mapping[str, Mapping[str, Any]],
    windows: Windows,
) -> Trial:
    """The results of one run, from its table of flows (`COLUMNS`) and its record; `classes` are those of the fabric."""
    # Flows that wait for others that did not end never start.
    table = table.filter(pc.is_valid(table["start_ps"]))
    flows = _flows(table, windows)
    coflows = _coflows(table, windows) if any(goal.quantity.is_of_coflows for goal in goals) else None
    values: dict[str, Jackknife | None] = {}
    bare: dict[str, Jackknife | None] = {}
    timed_out: dict[str, float] = {}
    longest: dict[str, float] = {}
    for goal in goals:
        of = coflows if goal.quantity.is_of_coflows and coflows is not None else flows
        own = _of_goal(of, goal, classes.get(goal.size_class, {}))
        values[goal.name] = _jackknife(goal.quantity, own, own.fct_s, own.late, windows.read)
        bare[goal.name] = _jackknife(goal.quantity, own, own.bare_s, own.bare_late, windows.read)
        timed_out[goal.size_class] = _tail_timed_out(own)
        longest[goal.name] = float(own.fct_s.max(initial=0.0))
    return Trial(
        values=values,
        hops=int(record["counters"]["packet_hops"]),
        timed_out=timed_out,
        longest_s=longest,
        offered=float(record["load"]["offered_host"] or 0.0),
        bare=bare,
    )


def _flows(table: pa.Table, windows: Windows) -> Flows:
    def numbers(name: str) -> Sizes:
        values: Sizes = table[name].cast(pa.float64()).to_numpy()
        return values

    start, fct, bare, deadline = (numbers(name) for name in ("start_ps", "fct_ps", "bare_fct_ps", "deadline_ps"))
    window = windows.of(start.astype(np.int64))
    flows = Flows(
        group=table["group"].to_numpy(),
        window=window,
        bytes=numbers("bytes"),
        fct_s=np.where(np.isnan(fct), np.inf, fct * _PS),
        bare_s=bare * _PS,
        timed_out=table["timeouts"].to_numpy() > 0,
        has_deadline=~np.isnan(deadline),
        late=~(start + fct <= deadline),
        bare_late=start + bare > deadline,
    )
    read = (window >= 1) & (window <= windows.read) & np.isfinite(flows.bytes)
    return flows.only(read & table["measured"].to_numpy().astype(bool))


def _coflows(table: pa.Table, windows: Windows) -> Flows:
    """Coflows in the place of flows: each ends with its last flow, and starts with its first."""
    known = table.filter(pc.is_valid(table["coflow"]))
    names, place = np.unique(
        np.char.add(
            np.asarray(known["group"].to_pylist(), dtype=str), np.char.add(" ", known["coflow"].to_numpy().astype(str))
        ),
        return_inverse=True,
    )
    start = known["start_ps"].to_numpy().astype(np.float64)
    fct = known["fct_ps"].cast(pa.float64()).to_numpy()
    ends = {"fct": start + np.where(np.isnan(fct), np.inf, fct), "bare": start + known["bare_fct_ps"].to_numpy()}
    count = len(names)
    first = np.full(count, np.inf)
    np.minimum.at(first, place, start)
    last = {name: np.full(count, -np.inf) for name in ends}
    for name, of in ends.items():
        np.maximum.at(last[name], place, of)
    timed_out = np.zeros(count, dtype=bool)
    np.logical_or.at(timed_out, place, known["timeouts"].to_numpy() > 0)
    window = windows.of(first.astype(np.int64))
    none = np.zeros(count, dtype=bool)
    coflows = Flows(
        group=np.asarray([name.split(" ")[0] for name in names], dtype=object),
        window=window,
        bytes=np.bincount(place, weights=known["bytes"].to_numpy().astype(np.float64), minlength=count).astype(float),
        fct_s=(last["fct"] - first) * _PS,
        bare_s=(last["bare"] - first) * _PS,
        timed_out=timed_out,
        has_deadline=none,
        late=none,
        bare_late=none,
    )
    return coflows.only((window >= 1) & (window <= windows.read))


def _of_goal(flows: Flows, goal: Goal, of: Mapping[str, Any]) -> Flows:
    mask = in_class(flows.bytes, of)
    named = class_groups(of)
    if named:
        mask &= np.isin(flows.group.astype(str), named)
    if goal.quantity.is_of_deadlines:
        mask &= flows.has_deadline
    return flows.only(mask)


def _jackknife(quantity: Quantity, flows: Flows, times: Sizes, late: Mask, count: int) -> Jackknife | None:
    """The values of a metric; `None` where there is no flow, or none outside some window."""
    cases = len(flows.bytes)
    kept = [np.ones(cases, dtype=bool), *(flows.window != number for number in range(1, count + 1))]
    if not all(keep.any() for keep in kept):
        return None
    if quantity.is_of_deadlines:
        parts = np.asarray([late[keep].mean() for keep in kept])
        return Jackknife(parts, _least_half(float(parts[0]), cases))
    if np.isinf(times).any():
        return Jackknife(np.full(count + 1, -np.inf if quantity.is_large_good else np.inf))
    values = [_value(quantity, times[keep], flows.bytes[keep], flows.bare_s[keep]) for keep in kept]
    return Jackknife(np.log(np.asarray(values)))


def _least_half(part: float, cases: int) -> float:
    """Half of the interval of a part of so many independent cases, of another list of as many."""
    if 0 < part < 1:
        return 1.96 * _OTHER_LIST * math.sqrt(part * (1 - part) / cases)
    return _NONE_SEEN * _OTHER_LIST / cases


def _value(quantity: Quantity, times: Sizes, sizes: Sizes, bare: Sizes) -> float:
    if quantity.metric == "goodput":
        return float(8 * quantity.factor * sizes.sum() / times.sum())
    read = times / bare if quantity.metric.startswith("slowdown") else times
    return float(read.mean() if quantity.per_mille is None else percentile(read, quantity.per_mille))


def percentile(values: Sizes, per_mille: int) -> float:
    """The smallest value that at least so many per mille of all do not exceed."""
    place = math.ceil(per_mille * len(values) / 1000) - 1
    return float(np.partition(values, place)[place])


def _tail_timed_out(flows: Flows) -> float:
    if not len(flows.bytes):
        return 0.0
    return float(flows.timed_out[flows.fct_s >= percentile(flows.fct_s, _TAIL)].mean())
