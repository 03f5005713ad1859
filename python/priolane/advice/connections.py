"""Connections that stay open for many requests: hosts count the bytes of a connection, and a list has those of flows.

A connection is demoted by all that it has sent, so that its later flows begin in a lower queue. The column `connection`
of a list says which flows share one. Conntrack forgets a connection after some time without a packet (`export nft
--idle`), and its bytes then count from zero.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from priolane.advice.candidate import Candidate, folding
from priolane.advice.changes import merged
from priolane.advice.fabric import Sizes
from priolane.advice.flow_list import FlowList, Numbers
from priolane.model.quantity import size
from priolane.results.numbers import format_value, short

IDLE_S = 1
"""The whole seconds after which an idle connection is forgotten in what is advised."""
_FOR_EVER = float("inf")
_CLASSES = 16
_NS = 1e-9


@dataclass(frozen=True)
class Remembered:
    """The memory of connections.

    `levels` counts the levels by which what its connection sent before demotes each flow at its start, and `asked` is
    the class in which the flow begins.

    `name` and `says` describe it, and `is_reset` says whether idle connections are forgotten.
    """

    name: str
    says: str
    levels: Numbers
    asked: Numbers
    is_reset: bool

    @property
    def demoted(self) -> int:
        """The number of flows that do not begin in the queue of a flow that is alone on its connection."""
        return int((self.levels > 0).sum())


def remembered(flows: FlowList, advised: Candidate) -> tuple[Remembered, ...]:
    """The memory of the connections of a list under a ladder by bytes sent, for ever and until they are idle.

    Empty if the list names no connections, if `advised` counts no bytes, or if no flow begins in another queue.
    """
    assign = merged(advised.rows)["assign"]
    if flows.connections is None or assign["kind"] != "bytes_sent":
        return ()
    first = np.asarray([assign.get("first", {}).get(name, 0) for name in flows.groups], dtype=np.int64)
    ends = np.sort(np.asarray([size(str(text)) for text in assign["thresholds"]], dtype=float))
    memories = []
    for name, says, idle_s in (
        ("connections", "connections keep the bytes of all their flows", _FOR_EVER),
        ("connections_idle", f"connections keep their bytes until {IDLE_S} s without a start", float(IDLE_S)),
    ):
        levels = np.searchsorted(ends, _bytes_before(flows, flows.connections, idle_s), side="right").astype(np.int64)
        if levels.any():
            asked = levels + first[flows.group_of]
            memories.append(Remembered(name, says, levels, asked, is_reset=idle_s < _FOR_EVER))
    return tuple(memories)


def folded(candidate: Candidate, asked: Numbers) -> Candidate:
    """The candidate whose last queue has all classes beyond its queues: flows that begin in another queue than the
    first are demoted from there. `asked` has the class in which each begins, in place of classes by group."""
    rows = merged(candidate.rows)
    queues = max(1, int(rows["port"].get("queues", 1)))
    classes = min(_CLASSES, int(asked.max()) + max(queues, int(rows["assign"].get("levels", 1))))
    own = {**candidate.rows, **folding(classes, queues)}
    if rows["assign"].get("first"):
        own["assign"] = {key: value for key, value in rows["assign"].items() if key != "first"}
    return replace(candidate, rows=own)


def _bytes_before(flows: FlowList, connection: Numbers, idle_s: float) -> Sizes:
    """The bytes that the sender of each flow has sent over its connection before, since it was idle for so long."""
    src = flows.columns["src"]
    order = np.lexsort((flows.at_ns, src, connection))
    at, own = flows.at_ns[order], flows.sizes[order]
    is_first = np.ones(len(order), dtype=bool)
    is_first[1:] = (np.diff(connection[order]) != 0) | (np.diff(src[order]) != 0) | (np.diff(at) * _NS > idle_s)
    sent = np.cumsum(own) - own
    begin = np.flatnonzero(is_first)
    before = np.empty(len(order))
    before[order] = sent - sent[begin][np.cumsum(is_first) - 1]
    return before


_UNKNOWN = (
    "hosts count the bytes of a connection, and the list has those of a flow: a connection that stays open for many "
    "requests is demoted for ever unless `priolane export nft --idle` lets it begin anew. A column `connection` of the "
    "list, with a name for each, shows how many flows that touches"
)


def notes(flows: FlowList, advised: Candidate) -> Iterator[str]:
    """Sentences on connections under a ladder by bytes sent: what the list shows, or that it does not say."""
    if merged(advised.rows)["assign"]["kind"] != "bytes_sent":
        return
    if flows.connections is None:
        yield _UNKNOWN
        return
    _, place, count = np.unique(flows.connections, return_inverse=True, return_counts=True)
    shared = count[place] > 1
    if not shared.any():
        yield "each connection of the list has one flow, so that hosts count the bytes of flows"
        return
    touched = {memory.is_reset: memory.demoted for memory in remembered(flows, advised)}
    total = len(flows)
    yield (
        f"{int((count > 1).sum())} connections stay open for {int(shared.sum())} of {total} flows with "
        f"{format_value(float(flows.sizes[shared].sum()), 'B')}, and hosts count the bytes of a connection: "
        f"{_part(touched.get(False, 0), total)} begin in a lower queue, and {_part(touched.get(True, 0), total)} if "
        f"idle connections are forgotten (`priolane export nft --idle {IDLE_S}s`)"
    )


def _part(count: int, total: int) -> str:
    return f"{count} flows ({short(100 * count / total)} %)"
