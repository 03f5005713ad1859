"""The time axis: losses, marks, retransmissions, demotions, timeouts, each with its instant."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from priolane.replay.recording import Column, Recording

# Rows of the axis, in their order; a mark names its row by its place here.
ROWS = (
    "dropped in a port",
    "expired in a port",
    "lost on a link",
    "timeout of a sender",
    "demoted",
    "sent again",
    "marked (CE)",
)
DROPPED, EXPIRED, LOST, TIMEOUT, DEMOTED, AGAIN, MARKED = range(len(ROWS))


@dataclass(frozen=True)
class Marks:
    """Marks in order of time: instant, row, flow, and the row of the hop in the table (-1: none)."""

    t_ps: Column
    row: Column
    flow: Column
    hop: Column


def marks_of(recording: Recording) -> Marks:
    """All marks of a recording."""
    hops = recording.hops
    parts = [_of_hops(hops["flow"], rows, at, row) for row, rows, at in _hop_marks(recording)]
    parts.append(_timeouts(recording))
    t_ps, row, flow, hop = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(t_ps, kind="stable")
    return Marks(t_ps[order], row[order], flow[order], hop[order])


_Part = tuple[Column, Column, Column, Column]


def _hop_marks(recording: Recording) -> Iterator[tuple[int, Column, Column]]:
    """For each row the rows of hops in the table, and the column of their instants."""
    hops = recording.hops
    fate, first = hops["fate"], hops["hop"] == 0
    yield DROPPED, fate == "dropped", hops["removed_ps"]
    yield EXPIRED, fate == "expired", hops["removed_ps"]
    yield LOST, fate == "lost", hops["start_ps"]
    yield DEMOTED, _demoted(recording), hops["made_ps"]
    yield AGAIN, first & hops["again"], hops["made_ps"]
    yield MARKED, hops["marked"], hops["queued_ps"]


def _of_hops(flows: Column, mask: Column, at: Column, row: int) -> _Part:
    places = np.flatnonzero(mask)
    return at[places], np.full(len(places), row), flows[places], places


def _demoted(recording: Recording) -> Column:
    """The first hops of data packets in a lower class, or host level, than all data of their flow before."""
    hops = recording.hops
    places = np.flatnonzero((hops["kind"] == "data") & (hops["hop"] == 0))
    demoted = np.zeros(len(hops["flow"]), dtype=bool)
    lowest: dict[int, tuple[int, int]] = {}
    # The table is in the order in which packets were made.
    for place in places:
        flow, now = int(hops["flow"][place]), (int(hops["class"][place]), int(hops["host_level"][place]))
        before = lowest.get(flow, now)
        demoted[place] = now[0] > before[0] or now[1] > before[1]
        lowest[flow] = (max(now[0], before[0]), max(now[1], before[1]))
    return demoted


def _timeouts(recording: Recording) -> _Part:
    """The places where a chosen sender's count of timeouts rises."""
    state = recording.state
    at: list[int] = []
    flows: list[int] = []
    counts: dict[int, float] = {}
    for place in np.flatnonzero(state["metric"] == "timeouts"):
        flow, count = int(state["flow"][place]), float(state["value"][place])
        if count > counts.get(flow, count):
            at.append(int(state["t_ps"][place]))
            flows.append(flow)
        counts[flow] = count
    whole = np.int64
    return (
        np.array(at, dtype=whole),
        np.full(len(at), TIMEOUT),
        np.array(flows, dtype=whole),
        np.full(len(at), -1, dtype=whole),
    )
