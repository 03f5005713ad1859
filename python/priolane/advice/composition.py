"""Candidates that are composed once the race has a leader: its ladder with other transports and other parameters.

NAME_on_BASE    the ladder that leads, with one of the next best transports
NAME_iwN        the leader with a first window of N packets
NAME_kF         the leader with marking thresholds times F
NAME_iwN_kF     both at once: the better of its windows with the better of its thresholds, once these have run
NAME_rto_T      the leader with T as its smallest retransmission timeout, where its tail is the timeout; `today_rto_T`
                is what runs today, which races from the beginning
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from priolane.advice.candidate import Candidate
from priolane.advice.candidates import FIRST_WINDOWS, MARKING, marked, with_window
from priolane.advice.changes import PLAIN_HOSTS, merged
from priolane.advice.fabric import Fabric
from priolane.advice.feasible import Feasibility, requires, shipped
from priolane.advice.goals import Goal
from priolane.advice.samples import TIMED_OUT
from priolane.model.quantity import picoseconds

# Timers of Linux count ticks, of which there are 250 or 1000 a second.
_TIMEOUTS = ("4ms", "1ms")
# Transports besides that of the leading ladder.
_TRANSPORTS = 2
# Rows of a ladder; the others are those of its transport.
_LADDER = ("assign", "port", "host", "map")


def compose(
    order: Sequence[Candidate], fabric: Fabric, schemes: Sequence[Feasibility], timed_out: Collection[str]
) -> tuple[Candidate, ...]:
    """The candidates that are made of the race's, the best of which is first in `order`.

    `timed_out` names those whose tail is their retransmission timeout.
    """
    leader = leading(order)
    if leader is None:
        return ()
    made = [*islice(_on_others(leader, order, fabric, schemes), _TRANSPORTS)] if is_ladder(leader) else []
    if "init_window" not in leader.rows.get("transport", {}):
        made += [with_window(leader, packets) for packets in FIRST_WINDOWS if _has(leader, "init_window")]
    if fabric.marking and "ecn" in requires(merged(leader.rows)) and "ecn" not in leader.rows.get("port", {}):
        made += [marked(leader, fabric.marking, factor) for factor in MARKING]
    if leader.name in timed_out:
        made += with_shorter_timeouts(leader, fabric)
    known = {candidate.name for candidate in order}
    return tuple(candidate for candidate in made if candidate.name not in known)


def leading(order: Sequence[Candidate]) -> Candidate | None:
    """The candidate that others are composed of: the best ladder, or the best of all where there is none."""
    return next((candidate for candidate in order if is_ladder(candidate)), next(iter(order), None))


def together(leader: Candidate, order: Sequence[Candidate], fabric: Fabric) -> tuple[Candidate, ...]:
    """The leader with the better of its first windows and the better of its marking thresholds, which ran each alone.

    `order` has all that ran, the best first. None where the leader did not run with both, each alone.
    """
    windows = {with_window(leader, packets).name: packets for packets in FIRST_WINDOWS}
    marks = {marked(leader, fabric.marking, factor).name: factor for factor in MARKING} if fabric.marking else {}
    window = next((candidate for candidate in order if candidate.name in windows), None)
    factor = next((marks[candidate.name] for candidate in order if candidate.name in marks), None)
    return () if window is None or factor is None else (marked(window, fabric.marking, factor),)


def is_ladder(candidate: Candidate) -> bool:
    """Whether a candidate has queues that were made for the flows, which another transport may have, too."""
    own = candidate.rows
    return "assign" in own and "port" in own and int(merged(own)["port"].get("queues", 1)) > 1


def _on_others(
    leader: Candidate, order: Sequence[Candidate], fabric: Fabric, schemes: Sequence[Feasibility]
) -> Iterator[Candidate]:
    """The leading ladder on other transports, each of which raced in one queue, the best first."""
    possible = {scheme.scheme for scheme in schemes if scheme}
    taken = {merged(candidate.rows)["transport"]["kind"] for candidate in order if _same_ladder(candidate, leader)}
    for candidate in order:
        base = str(candidate.rows["base"])
        rows = shipped()[base]
        kind = rows["transport"]["kind"]
        if candidate.name != base or base not in possible or kind in taken or not _takes_queues(rows):
            continue
        taken.add(kind)
        own = {row: leader.rows[row] for row in _LADDER if row in leader.rows}
        own["port"] = {key: value for key, value in own["port"].items() if key != "ecn"}
        if not fabric.pulls(rows):
            own.pop("host", None)
        description = f"{leader.description}; {base}"
        yield replace(leader, name=f"{leader.name}_on_{base}", description=description, rows={"base": base, **own})


def _same_ladder(candidate: Candidate, other: Candidate) -> bool:
    return all(candidate.rows.get(row) == other.rows.get(row) for row in ("assign", "port", "map"))


def _takes_queues(rows: Mapping[str, Any]) -> bool:
    """Whether a scheme has one plain queue, so that a ladder can take its place."""
    port = rows["port"]
    is_plain = rows["assign"]["kind"] == "none" and rows["host"]["kind"] in PLAIN_HOSTS
    return is_plain and port["kind"] == "fifo" and not port.get("pfc") and rows["admit"]["kind"] == "none"


def _has(candidate: Candidate, key: str) -> bool:
    return key in shipped()[str(candidate.rows["base"])]["transport"]


def is_timeout(timed_out: Mapping[str, float], goals: Sequence[Goal]) -> bool:
    """Whether the tail of some goal's class is the retransmission timeout; `timed_out` are parts by class."""
    return any(timed_out.get(goal.size_class, 0.0) >= TIMED_OUT for goal in goals)


def with_shorter_timeouts(candidate: Candidate, fabric: Fabric) -> Iterator[Candidate]:
    """A candidate with shorter least timeouts than its hosts have; none where its transport has a fixed timer."""
    rows = shipped()[str(candidate.rows["base"])]["transport"]
    if "min_rto" not in rows or rows["min_rto"] == rows.get("max_rto"):
        return
    now = {**fabric.experiment["host"], **candidate.rows.get("transport", {})}
    least = str(now["min_rto"])
    # Flows of open connections wait as long before their first acknowledgement as after it.
    keys = ("min_rto", "initial_rto") if now.get("initial_rto") == least and "initial_rto" in rows else ("min_rto",)
    for timeout in _TIMEOUTS:
        if picoseconds(timeout) >= picoseconds(least):
            continue
        transport = {**candidate.rows.get("transport", {}), **dict.fromkeys(keys, timeout)}
        yield replace(
            candidate,
            name=f"{candidate.name}_rto_{timeout}",
            description=f"{candidate.description}; smallest retransmission timeout {timeout}",
            rows={**candidate.rows, "transport": transport},
        )
