"""Goals that no scheme can meet: bounds of goals by the links of hosts and racks, whatever is configured.

`by_links` holds before any run. The flows of a goal's class that end at one host share its link, even if nothing else
uses that link, so

- of the flows that start within a time `t`, those that end within `x` of their starts have at most `(t + x) rate` bytes
  together: at least so many of the largest are late that the others fit. Summed over disjoint times and all hosts this
  bounds how many flows are late, and so percentiles and missed deadlines.
- the sum of completion times is at least that of the shortest remaining processing time first, which is optimal on one
  link (Schrage, "A proof of the optimality of the shortest remaining processing time discipline", 1968): this bounds
  means and goodput.

The same holds for hosts that send, and for the links between a rack and other switches, which the flows to and from
other racks share: one link as fast as all of them together serves them no later. A flow that waits for others may
start when no other flow does, and a flow within a rack uses no such link: both are bounded by their own transmission
time. `alone` compares a goal with the same flows each alone in the network, which runs measure.
"""

import heapq
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from priolane.advice.fabric import Fabric, Sizes
from priolane.advice.flow_list import FlowList, Mask
from priolane.advice.goals import Goal
from priolane.advice.windows import Jackknife
from priolane.results.numbers import format_value, short

_NS = 1e-9
_ENDS = (("dst", "receive", "into"), ("src", "send", "out of"))
# Lengths of the times in which starts are counted, in bounds of a goal.
_LENGTHS = (1.0, 4.0, 16.0, 64.0)
# Sums of times are rounded: what is longer by less is as long.
_ROUNDED = 1 + 1e-9


@dataclass(frozen=True)
class Bound:
    """A proof that no scheme meets a goal: one sentence with its numbers."""

    goal: Goal
    proof: str


@dataclass(frozen=True)
class _Work:
    """The flows of a goal's class: starts, transmission times and times until they are late, in seconds, by the place
    whose link they share."""

    place: Sizes
    start_s: Sizes
    work_s: Sizes
    allowed_s: Sizes

    def places(self) -> Iterator[Mask]:
        """The flows of each place."""
        for place in np.unique(self.place):
            yield self.place == place


@dataclass(frozen=True)
class _Links:
    """Links that flows share: by flow, its place and the rate of that place's link in bit/s; and the links in words.

    Flows that share no link have places of their own.
    """

    place: Sizes
    rate: Sizes
    words: str


def by_links(goals: Sequence[Goal], flows: FlowList, fabric: Fabric) -> tuple[Bound, ...]:
    """The absolute goals that links exclude, with a proof of each: those of hosts, or those of racks."""
    bounds = []
    for goal in goals:
        if goal.is_relative or goal.quantity.is_of_coflows:
            continue
        for links in (*_of_hosts(flows, fabric), *_of_racks(flows, fabric)):
            proof = _proof(goal, flows, fabric, links)
            if proof is not None:
                bounds.append(Bound(goal, f"{proof}, even if nothing else used {links.words}"))
                break
    return tuple(bounds)


def _of_hosts(flows: FlowList, fabric: Fabric) -> Iterator[_Links]:
    """The links of hosts that receive, and of those that send."""
    # What holds at this rate holds at a lower one.
    rate = fabric.fastest_host
    if rate is None:
        return
    at_most = "" if rate == fabric.host_rate else "at most "
    for end, does, _ in _ENDS:
        words = f"the links of hosts that {does}, {at_most}{format_value(rate * 1e-9, 'Gbit/s')}"
        place = np.where(flows.waiting, _alone(flows), flows.columns[end])
        yield _Links(place, np.full(len(flows), rate), words)


def _of_racks(flows: FlowList, fabric: Fabric) -> Iterator[_Links]:
    """The links of racks to other switches where these are slower than the links of their hosts together."""
    derived = fabric.derived
    if fabric.fastest_host is None or not derived.uplinks:
        return
    racks, uplinks = np.asarray(derived.racks), np.asarray(derived.uplinks)
    hosts = np.bincount(racks, minlength=len(uplinks))
    if (uplinks >= hosts * fabric.fastest_host).all():
        return
    src, dst = (racks[flows.columns[end].astype(np.int64)] for end in ("src", "dst"))
    shares = (src != dst) & ~flows.waiting
    for end, _, way in _ENDS:
        own = dst if end == "dst" else src
        # A rack whose links are as fast as those of its hosts is no bottleneck, and its rate would prove less.
        rate = np.where(shares, np.minimum(uplinks, hosts * fabric.fastest_host)[own], fabric.fastest_host)
        low, high = (format_value(edge(uplinks) * 1e-9, "Gbit/s") for edge in (np.min, np.max))
        words = f"the links {way} a rack, {low if low == high else f'{low} to {high}'} together"
        yield _Links(np.where(shares, own, _alone(flows)), rate, words)


def _alone(flows: FlowList) -> Sizes:
    """A place of its own for each flow."""
    return np.arange(-1.0, -1.0 - len(flows), -1.0)


def alone(goals: Sequence[Goal], values: Mapping[str, Jackknife | None]) -> tuple[Bound, ...]:
    """The absolute goals that are missed by the flows of the list each alone in the network; `values` are theirs."""
    bounds = []
    for goal in goals:
        of = values[goal.name]
        if of is None or goal.is_relative or goal.quantity.metric.startswith("slowdown"):
            continue
        value = of.all if goal.quantity.is_part else math.exp(of.all)
        if value < goal.bound if goal.quantity.is_large_good else value > goal.bound:
            bounds.append(Bound(goal, f"{goal.asked} is {goal.format(value)} with each flow alone in the network"))
    return tuple(bounds)


def _proof(goal: Goal, flows: FlowList, fabric: Fabric, links: _Links) -> str | None:
    counted = flows.in_class(fabric.classes.get(goal.size_class, {}))
    quantity = goal.quantity
    allowed = np.full(len(flows), goal.bound)
    if quantity.is_of_deadlines:
        counted &= np.isfinite(flows.columns["deadline_ns"])
        allowed = (flows.columns["deadline_ns"] - flows.at_ns) * _NS
    payload = 8 * flows.sizes / links.rate
    work = _Work(links.place[counted], flows.at_ns[counted] * _NS, payload[counted], allowed[counted])
    count = len(work.work_s)
    name = goal.size_class
    is_time = quantity.unit == "s"
    if quantity.is_of_deadlines or (is_time and quantity.per_mille is not None):
        late = _late(work)
        part = goal.bound if quantity.per_mille is None else 1 - quantity.per_mille / 1000
        if late <= part * count * _ROUNDED:
            return None
        what = "their deadlines" if quantity.is_of_deadlines else goal.format(goal.bound)
        return (
            f"of {count} flows of {name}, at least {late} ({short(100 * late / count)} %) end after {what}, where "
            f"{short(100 * part)} % may"
        )
    if quantity.metric not in ("fct", "goodput"):
        return None
    least = math.fsum(_shortest_first(work.start_s[of], work.work_s[of]) for of in work.places())
    if quantity.metric == "fct" and least / count > goal.bound * _ROUNDED:
        return f"the mean of {count} flows of {name} is at least {goal.format(least / count)}"
    most = 8 * quantity.factor * float(flows.sizes[counted].sum()) / least
    if quantity.metric == "goodput" and most * _ROUNDED < goal.bound:
        return f"goodput of {count} flows of {name} is at most {goal.format(most)}"
    return None


def _late(work: _Work) -> int:
    """The least number of flows that are late on their places' links."""
    return sum(_late_at(work, of) for of in work.places())


def _late_at(work: _Work, of: Mask) -> int:
    start, need, allowed = work.start_s[of], work.work_s[of], work.allowed_s[of]
    surely = need > allowed * _ROUNDED
    longest = float(allowed[~surely].max(initial=0.0))
    if longest <= 0:
        return int(surely.sum())
    start, need, allowed = start[~surely], need[~surely], allowed[~surely]
    best = max(_late_in_cells(start, need, allowed, factor * longest) for factor in _LENGTHS)
    return int(surely.sum()) + best


def _late_in_cells(start: Sizes, need: Sizes, allowed: Sizes, length: float) -> int:
    """The least number of flows that are late if starts are counted in times of one length."""
    cells = ((start - start.min()) / length).astype(np.int64)
    late = 0
    for cell in np.unique(cells):
        here = cells == cell
        room = float((start[here] + allowed[here]).max() - start[here].min())
        ascending = np.sort(need[here])
        late += len(ascending) - int(np.searchsorted(np.cumsum(ascending), room * _ROUNDED, side="right"))
    return late


def _shortest_first(start: Sizes, work: Sizes) -> float:
    """The sum of completion times on one link under shortest remaining processing time first, in seconds."""
    order = np.argsort(start, kind="stable")
    waiting: list[tuple[float, float]] = []
    now, total = 0.0, 0.0
    for at, need in zip(start[order], work[order], strict=True):
        now, total = _serve(waiting, now, float(at), total)
        heapq.heappush(waiting, (float(need), float(at)))
    _, total = _serve(waiting, now, math.inf, total)
    return total


def _serve(waiting: list[tuple[float, float]], now: float, until: float, total: float) -> tuple[float, float]:
    """Serves what waits from `now` to `until`; returns the time then and the sum of completion times."""
    while waiting and now < until:
        left, at = waiting[0]
        now = max(now, at)
        if now + left > until:
            heapq.heapreplace(waiting, (left - (until - now), at))
            return until, total
        now += left
        total += now - at
        heapq.heappop(waiting)
    return (max(now, until) if until < math.inf else now), total
