"""The content of a page of a recording: texts and the network as JSON, hops, packets, marks and state as columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from priolane.replay.columns import Clock, PackedColumns, pack
from priolane.replay.marks import ROWS, marks_of
from priolane.replay.places import places
from priolane.replay.recording import Column, Recording

_FATES = ("arrived", "dropped", "expired", "lost", "sent", "waiting")
SHADES = 8
"""Shades of classes in the style sheet, the first for the first class."""

_KINDS = ("data", "ack", "syn", "syn_ack", "credit", "probe", "signal")


@dataclass(frozen=True)
class Content:
    """The head of a page, as JSON holds it, and its columns."""

    head: dict[str, Any]
    packed: PackedColumns


def content(recording: Recording) -> Content:
    """The content of the page of a recording."""
    hops = recording.hops
    instants = [hops[name] for name in ("queued_ps", "end_ps", "arrived_ps", "removed_ps", "delivered_ps")]
    last = max(recording.ends_ps, *(int(column.max(initial=0)) for column in instants))
    clock = Clock.spanning(recording.part.from_ps, last)
    order = _by_start(recording)
    columns = {
        **_packet_columns(recording, clock),
        **_hop_columns(recording, clock, order),
        **_mark_columns(recording, clock, order),
    }
    series, readings = _series(recording, clock)
    packed = pack({**columns, **readings})
    return Content(head=_head(recording, clock, series) | {"columns": packed.columns}, packed=packed)


def _by_start(recording: Recording) -> Column:
    """The rows of hops in the order in which they were sent; those that were not stand last."""
    start = recording.hops["start_ps"]
    never = np.iinfo(np.int64).max
    order: Column = np.argsort(np.where(start < 0, never, start), kind="stable")
    return order


def _packet_columns(recording: Recording, clock: Clock) -> dict[str, Column]:
    """A row for each packet: those of first hops, in the order in which packets were made."""
    hops = recording.hops
    first = np.flatnonzero(hops["hop"] == 0)
    ids = np.array([flow["id"] for flow in recording.flows], dtype=np.int64)
    return {
        "packet_flow": np.searchsorted(ids, hops["flow"][first]),
        "packet_kind": _places_in(_KINDS, hops["kind"][first]),
        "packet_class": hops["class"][first],
        "packet_level": hops["host_level"][first],
        "packet_again": hops["again"][first].astype(np.int64),
        "packet_payload": hops["payload"][first],
        "packet_wire": hops["wire"][first],
        "packet_offset": hops["offset"][first].astype(np.float64),
        "packet_made": clock.ticks(hops["made_ps"][first]),
        "packet_delivered": clock.ticks(hops["delivered_ps"][first]),
    }


def _hop_columns(recording: Recording, clock: Clock, order: Column) -> dict[str, Column]:
    numbers = recording.hops["packet"][recording.hops["hop"] == 0]
    hops = {name: column[order] for name, column in recording.hops.items()}
    sent = hops["start_ps"] >= 0
    zero = np.zeros(len(order), dtype=np.int64)
    start, queued = clock.ticks(hops["start_ps"]), clock.ticks(hops["queued_ps"])
    # A packet that was lost, or is under way in the end, is on its link as long as any other.
    delay = np.array([link["delay_ps"] for link in recording.links], dtype=np.int64)[hops["link"]]
    reaches = np.where(hops["arrived_ps"] >= 0, hops["arrived_ps"], hops["end_ps"] + delay)
    # Of packets that are not sent, when they leave the port, or never.
    leaves = clock.ticks(np.where(sent, hops["start_ps"], hops["removed_ps"]))
    return {
        "hop_packet": np.searchsorted(numbers, hops["packet"]),
        "hop_link": hops["link"],
        "hop_queue": hops["queue"],
        "hop_fate": _places_in(_FATES, hops["fate"]),
        "hop_marked": hops["marked"].astype(np.int64),
        "hop_ahead": hops["ahead_packets"],
        "hop_queued": queued,
        "hop_leaves": leaves,
        "hop_sending": np.where(sent, clock.ticks(hops["end_ps"]) - start, zero),
        "hop_flying": np.where(sent, clock.ticks(reaches) - start, zero),
    }


def _mark_columns(recording: Recording, clock: Clock, order: Column) -> dict[str, Column]:
    marks = marks_of(recording)
    place = np.empty(len(order) + 1, dtype=np.int64)
    place[order] = np.arange(1, len(order) + 1)
    # 0 stands for no hop; so does the last place, which -1 finds.
    place[-1] = 0
    ids = np.array([flow["id"] for flow in recording.flows], dtype=np.int64)
    return {
        "mark_at": clock.ticks(marks.t_ps),
        "mark_row": marks.row,
        "mark_flow": np.searchsorted(ids, marks.flow),
        "mark_hop": place[marks.hop],
    }


def _series(recording: Recording, clock: Clock) -> tuple[list[dict[str, Any]], dict[str, Column]]:
    """Readings by flow and metric: which are where, and their columns."""
    state = recording.state
    series: list[dict[str, Any]] = []
    at: list[Column] = []
    values: list[Column] = []
    begin = 0
    for flow in recording.part.flows:
        of_flow = state["flow"] == flow
        for metric in dict.fromkeys(state["metric"][of_flow]):
            rows = np.flatnonzero(of_flow & (state["metric"] == metric))
            series.append({"flow": flow, "metric": metric, "begin": begin, "count": len(rows)})
            at.append(clock.ticks(state["t_ps"][rows]))
            values.append(state["value"][rows])
            begin += len(rows)
    none = np.zeros(0)
    return series, {
        "reading_at": np.concatenate([none.astype(np.int64), *at]),
        "reading_value": np.concatenate([none, *values]),
    }


def _head(recording: Recording, clock: Clock, series: list[dict[str, Any]]) -> dict[str, Any]:
    hops = recording.hops
    ends = {link[end] for link in (recording.links[n] for n in np.unique(hops["link"])) for end in ("from", "to")}
    place = places(recording.nodes, recording.links, ends)
    classes = sorted({int(number) for number in np.unique(hops["class"])})
    return {
        "run": recording.run,
        "scheme": recording.scheme,
        "seed": recording.seed,
        "from_ps": clock.from_ps,
        "tick_ps": clock.tick_ps,
        "ends": int(clock.ticks(np.array([recording.ends_ps]))[0]),
        "full": recording.full_ps is not None,
        "sent": int(np.count_nonzero(hops["start_ps"] >= 0)),
        "nodes": [{**node, "at": place.get(number)} for number, node in enumerate(recording.nodes)],
        "links": list(recording.links),
        "flows": list(recording.flows),
        "chosen": list(recording.part.flows),
        "classes": classes,
        "shades": shades(len(classes)),
        "kinds": _KINDS,
        "fates": _FATES,
        "rows": ROWS,
        "series": series,
    }


def shades(classes: int) -> list[int]:
    """The shade of each class in order, from 0: as far apart as the style sheet's shades allow."""
    return [round(nth * (SHADES - 1) / max(classes - 1, 1)) for nth in range(classes)]


def _places_in(words: Sequence[str], column: Column) -> Column:
    places = {word: place for place, word in enumerate(words)}
    return np.array([places[word] for word in column], dtype=np.int64)
