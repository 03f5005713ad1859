"""Candidates whose queues follow what applications say of flows: their tenant, a deadline, the size of their coflow.

deadlines       flows with a deadline have the first of two queues
tenantsL        a strict queue for each tenant, those that the goals name first; the last ones share one of L queues
tenantsL_wfqR   the same queues, served by weights, each R times the next; R = 1 for equal ones
tenantsL_opt    L strict queues by tenant and bytes sent: a flow begins in its tenant's queue, and leaves it for the
                next after a solved threshold; the last ones share one of L queues
tenantsL_class  the same, where a class of the goals begins
coflowL         L queues by the bytes of coflows, each with as many bytes, where sizes are known
coflowL_es      the same, each with as many coflows
coflow2_at_B    2 queues by the bytes of coflows, below B where a class of the goals begins and above it
"""

from collections.abc import Iterator
from dataclasses import replace

from priolane.advice.candidate import Candidate, folding, strict, texts
from priolane.advice.fabric import Fabric, class_edges
from priolane.advice.training import Training

_WEIGHTS = (1, 4)
_LEVELS = (2, 4, 8)


def candidates(base: str, fabric: Fabric, training: Training) -> Iterator[Candidate]:
    """All that the flows and the queues of the fabric allow."""
    if training.has_deadlines:
        yield _deadlines(base)
    if len(training.tenants) > 1:
        yield from _tenants(base, min(len(training.tenants), fabric.queues), training)
        yield from _tenants_by_bytes(base, fabric, training)
    if len(training.coflows) and "sizes_known" in fabric.features:
        for levels in (level for level in _LEVELS if level <= fabric.queues):
            yield from _coflows(base, levels, training)
        for edge in class_edges(fabric.classes):
            if training.coflows[0] <= edge < training.coflows[-1]:
                yield _by_coflow(base, f"coflow2_at_{edge}", (edge,), "where a class of the goals begins")


def _deadlines(base: str) -> Candidate:
    rows = {
        "base": base,
        "assign": {"kind": "deadlines_first", "thresholds": []},
        "port": strict(2),
        "host": {"kind": "round_robin"},
    }
    return Candidate("deadlines", "by deadline", "2 strict priorities: flows with a deadline first", rows, 2)


def _tenants(base: str, queues: int, training: Training) -> Iterator[Candidate]:
    order = {place: min(nth, queues - 1) for nth, place in enumerate(training.tenants)}
    rows = {
        "base": base,
        "assign": {"kind": "group", "classes": [order[place] for place in sorted(order)]},
        "port": strict(queues),
        "host": {"kind": "round_robin"},
    }
    description = f"{queues} strict priorities by tenant, in the order of the goals"
    candidate = Candidate(f"tenants{queues}", "by tenant", description, rows, queues)
    yield candidate
    for ratio in _WEIGHTS:
        weights = [ratio ** (queues - 1 - nth) for nth in range(queues)]
        port = {"kind": "wfq", "queues": queues, "weights": weights}
        description = f"{queues} queues by tenant, weights {', '.join(map(str, weights))}"
        yield replace(
            candidate, name=f"{candidate.name}_wfq{ratio}", description=description, rows={**rows, "port": port}
        )


def _tenants_by_bytes(base: str, fabric: Fabric, training: Training) -> Iterator[Candidate]:
    """Ladders of two levels for each tenant: flows that have sent much share the queue of the next tenant."""
    names = [training.groups[place] for place in training.tenants]
    edges = {
        "opt": (training.ladders(2).of("opt").thresholds, "solved for all flows"),
        "class": (class_edges(fabric.classes)[:1], "where a class of the goals begins"),
    }
    for suffix, (stated, about) in edges.items():
        thresholds = training.cut(stated)
        if not thresholds:
            continue
        queues = min(len(names) + len(thresholds), fabric.queues)
        first = {name: min(nth, queues - 1) for nth, name in enumerate(names)}
        levels = len(thresholds) + 1
        assign = {"kind": "bytes_sent", "levels": levels, "thresholds": texts(thresholds), "first": first}
        rows = {"base": base, "assign": assign, "port": strict(queues), "host": {"kind": "round_robin"}}
        rows |= folding(max(first.values()) + levels, queues)
        description = f"{queues} strict priorities by tenant, in the order of the goals, and bytes sent: {about}"
        name = f"tenants{queues}_{suffix}"
        yield Candidate(name, "by tenant and bytes sent", description, rows, queues, thresholds, ("assign",))


def _coflows(base: str, levels: int, training: Training) -> Iterator[Candidate]:
    ladders = {
        "": (training.equal_bytes_of_coflows(levels), "as many bytes in each"),
        "_es": (training.equal_coflows(levels), "as many coflows in each"),
    }
    for suffix, (thresholds, about) in ladders.items():
        if thresholds:
            yield _by_coflow(base, f"coflow{len(thresholds) + 1}{suffix}", thresholds, about)


def _by_coflow(base: str, name: str, thresholds: tuple[int, ...], about: str) -> Candidate:
    count = len(thresholds) + 1
    rows = {
        "base": base,
        "assign": {"kind": "coflow_size", "thresholds": texts(thresholds)},
        "port": strict(count),
        "host": {"kind": "round_robin"},
    }
    description = f"{count} strict priorities by the bytes of coflows: {about}"
    return Candidate(name, "by coflow", description, rows, count, thresholds, ("assign",))
