"""The simulated candidates: the feasible schemes on the user's network, and ladders of priorities made for the flows.

NAME            a shipped scheme with the user's queues
sentL_SOLVER    L queues by bytes sent, strict, thresholds solved for the training flows; `_mlfq`: in hosts too
sentL_wfqR      the same queues as `sentL_opt`, served by weights, each R times the next
sentL_class     the same, cut where the classes of flows of the goals begin
sizeL           L queues by size, each with as many bytes, where sizes are known; `_class` as above
coflowL, tenantsL, deadlines    queues by what applications state about flows (`hints`)
NAME_kF         marking thresholds times F, in one queue
NAME_iwN        a first window of N packets, in one queue
TODAY_NAME      a ladder on the congestion control that runs today, where others have another one

Once the race has a leader, `composition` gives its ladder other transports and parameters.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from priolane.advice import hints
from priolane.advice.candidate import Candidate, strict, texts
from priolane.advice.fabric import Fabric, class_edges, scaled
from priolane.advice.feasible import Feasibility, shipped, takes_no_pfc
from priolane.advice.marking import LIMITS
from priolane.advice.training import Training
from priolane.model.quantity import size
from priolane.model.solvers import Ladder, Thresholds, thresholds

LEVELS = (2, 3, 4, 6, 8)
MARKING = (0.5, 2.0)
"""Factors of marking thresholds."""
FIRST_WINDOWS = (3, 40)
"""First windows in packets, below and above the 10 of RFC 6928."""
_WEIGHTS = (2, 4)
_MOST_WEIGHT = 64
# Virtual priorities of PrioPlus and of Swift's rivals in its paper.
_CLASSES = 8
_SOLVERS = {
    "es": "equal numbers of flows in each level",
    "opt": "the least mean time in queues, by the model of byte shares",
}
_FAMILY = "by bytes sent"
PUBLISHED = "pias"
"""The ladder whose thresholds were published, and not solved for the flows."""
_SIMPLE = ("newreno", "cubic", "dctcp")
# Ports whose buffer other ports cannot share.
_OWN_ROOM = ("pifo", "aifo")


def simplest(fabric: Fabric) -> Candidate:
    """One queue, and the congestion control of hosts as they are: DCTCP where switches mark and hosts have it."""
    name = "dctcp" if {"ecn", "congestion_control"} <= fabric.features else "newreno"
    rows: dict[str, Any] = {"base": name}
    if fabric.pulls(shipped()[name]):
        rows["host"] = {"kind": "round_robin"}
    return Candidate(name, name, f"as its paper has it: {shipped()[name]['paper']}", rows, 1)


def candidates(fabric: Fabric, schemes: Sequence[Feasibility], training: Training) -> tuple[Candidate, ...]:
    """All that is raced, simple ones first: of those with the same results the first is kept."""
    feasible = [scheme.scheme for scheme in schemes if scheme]
    made = [*_plain([scheme for scheme in schemes if scheme], fabric, training)]
    base = simplest(fabric).name
    if "dscp" in fabric.features and fabric.queues > 1:
        made += _ladders(base, fabric, training)
        made += hints.candidates(base, fabric, training)
        made += _on_today(base, fabric, training)
        if "swift" in feasible:
            made += _swift_ladders(fabric, training)
    if "pias" in feasible and fabric.queues >= _CLASSES:
        made.append(_published())
    plain = [candidate for candidate in made if candidate.name == base]
    made += [with_window(candidate, packets) for candidate in plain for packets in FIRST_WINDOWS]
    if base == "dctcp" and fabric.marking:
        made += [marked(candidate, fabric.marking, factor) for candidate in plain for factor in MARKING]
    # Solvers that find fewer levels than they may have come to the same ladder.
    unique: dict[str, Candidate] = {}
    for candidate in made:
        unique.setdefault(candidate.name, candidate)
    return tuple(unique.values())


def _on_today(base: str, fabric: Fabric, training: Training) -> Iterator[Candidate]:
    """The ladders that change nothing but classes and queues: those of today's congestion control, if it is another."""
    own = str(fabric.today["base"])
    rows = shipped()[own]
    if own == base or rows["assign"]["kind"] != "none" or rows["port"]["kind"] != "fifo":
        return
    for candidate in (*_ladders(own, fabric, training), *hints.candidates(own, fabric, training)):
        if candidate.queues in (2, fabric.queues) and "wfq" not in candidate.name:
            yield replace(
                candidate, name=f"{own}_{candidate.name}", description=f"{candidate.description}; {own}, as today"
            )


def references(schemes: Sequence[Feasibility]) -> tuple[Candidate, ...]:
    """References that cannot be deployed: ports and hosts that serve by the bytes that flows have left."""
    names = [scheme.scheme for scheme in schemes if scheme.is_bound]
    description = "sizes known, endless buffers, ports and hosts that serve by what flows have left: no deployment"
    bound = [name for name in names if name == "srpt_ranked"]
    return tuple(Candidate(name, "reference", description, {"base": name}, 0) for name in bound)


def _plain(feasible: Sequence[Feasibility], fabric: Fabric, training: Training) -> Iterator[Candidate]:
    """Shipped schemes but those whose ladders are made for the flows."""
    for scheme in sorted(feasible, key=lambda scheme: scheme.scheme not in _SIMPLE):
        name, queues = scheme.scheme, scheme.queues
        rows = shipped()[name]
        if rows["assign"]["kind"] == "bytes_sent":
            continue
        transport = rows["transport"]
        if transport["kind"] == "homa":
            queues = min(queues, fabric.queues)
        own = _completed(rows, queues, fabric, training)
        if transport.get("control_class", 0) or transport["kind"].startswith("prioplus"):
            yield from _of_classes(name, own, queues, fabric, training)
        else:
            description = f"as its paper has it: {rows.get('paper', name)}"
            yield Candidate(name, name, description, {"base": name, **own}, queues)


def _completed(rows: Mapping[str, Any], queues: int, fabric: Fabric, training: Training) -> dict[str, Any]:
    """The requirements that a shipped scheme lacks on this network and for these flows."""
    own: dict[str, Any] = {}
    if fabric.pulls(rows):
        own["host"] = {"kind": "round_robin"}
    if rows["transport"]["kind"] == "homa":
        granted = queues - 1
        own["transport"] = {
            "kind": "homa",
            "unscheduled_classes": 1,
            "scheduled_classes": granted,
            "overcommit": granted,
        }
        own["port"] = {"kind": "strict", "queues": queues}
    if rows["transport"].get("priority") == "size":
        # The packets of the largest flow.
        payload = size(fabric.frame["mtu"]) - size(fabric.frame["header"])
        own["transport"] = {"p": max(2, math.ceil(training.sizes[-1] / payload))}
    if takes_no_pfc(rows) and "pfc" not in fabric.features:
        # The same queue, without the keys of the scheme's own port.
        own["port"] = strict(1)
    buffer = fabric.experiment["switch"]["buffer"]
    if rows["port"]["kind"] in _OWN_ROOM and isinstance(buffer, Mapping) and "dynamic" in buffer:
        # Such a port decides itself what has room: it gets what one queue alone may have of the shared memory.
        alpha = float(Fraction(str(buffer.get("alpha", 1))))
        own["port"] = {"buffer": {"shared": f"{int(size(buffer['dynamic']) * alpha / (1 + alpha))}B"}}
    return own


def _of_classes(
    name: str, own: Mapping[str, Any], queues: int, fabric: Fabric, training: Training
) -> Iterator[Candidate]:
    """A scheme of many classes, whose flows get theirs by bytes sent, or by size where sizes are known."""
    ladder = training.ladders(_CLASSES)
    for solver, about in _SOLVERS.items():
        thresholds = training.cut(ladder.of(solver).thresholds)
        if not thresholds:
            continue
        rows = {"base": name, **own, "assign": _sent(thresholds)}
        description = f"{len(thresholds) + 1} classes by bytes sent: {about}"
        yield Candidate(f"{name}_sent_{solver}", name, description, rows, queues, thresholds, ("assign",))
    if "sizes_known" in fabric.features and (thresholds := training.equal_bytes(_CLASSES)):
        rows = {"base": name, **own, "assign": {"kind": "size", "thresholds": texts(thresholds)}}
        description = f"{len(thresholds) + 1} classes by size, as many bytes in each"
        yield Candidate(f"{name}_size", name, description, rows, queues, thresholds, ("assign",))


def _sent(thresholds: Sequence[int]) -> dict[str, Any]:
    return {"kind": "bytes_sent", "levels": len(thresholds) + 1, "thresholds": texts(thresholds)}


def _mlfq(thresholds: Sequence[int]) -> dict[str, Any]:
    return {"kind": "mlfq", "levels": len(thresholds) + 1, "thresholds": texts(thresholds)}


def _ladders(base: str, fabric: Fabric, training: Training) -> Iterator[Candidate]:
    """Priorities by bytes sent, and by size where sizes are known."""
    most = min(fabric.queues, LEVELS[-1])
    edges = training.cut(class_edges(fabric.classes))
    for count in range(1, min(len(edges), most - 1) + 1):
        about = "one for each class of flows that goals name"
        yield _by_bytes_sent(base, "class", edges[:count], about)
        if "sizes_known" in fabric.features:
            yield _by_size(base, edges[:count], "_class", about)
    for levels in sorted({*(level for level in LEVELS if level <= most), most}):
        solved = training.ladders(levels)
        for solver, about in _SOLVERS.items():
            thresholds = training.cut(solved.of(solver).thresholds)
            if thresholds:
                candidate = _by_bytes_sent(base, solver, thresholds, about)
                yield candidate
                yield from _variants(candidate) if solver == "opt" else ()
        if levels == 2:
            yield from _nos2(base, solved, training)
        if "sizes_known" in fabric.features and (sizes := training.equal_bytes(levels)):
            yield _by_size(base, sizes, "", "as many bytes in each")


def _by_bytes_sent(base: str, solver: str, thresholds: tuple[int, ...], about: str) -> Candidate:
    count = len(thresholds) + 1
    rows = {"base": base, "assign": _sent(thresholds), "port": strict(count), "host": {"kind": "round_robin"}}
    description = f"{count} strict priorities by bytes sent: {about}"
    return Candidate(f"sent{count}_{solver}", _FAMILY, description, rows, count, thresholds, ("assign",))


def _by_size(base: str, thresholds: tuple[int, ...], suffix: str, about: str) -> Candidate:
    count = len(thresholds) + 1
    assign = {"kind": "size", "thresholds": texts(thresholds)}
    rows = {"base": base, "assign": assign, "port": strict(count), "host": {"kind": "round_robin"}}
    description = f"{count} strict priorities by size: {about}"
    return Candidate(f"size{count}{suffix}", "by size", description, rows, count, thresholds, ("assign",))


def _variants(candidate: Candidate) -> Iterator[Candidate]:
    """The same queues with levels in hosts too, and served by weights."""
    hosts = {**candidate.rows, "host": _mlfq(candidate.thresholds)}
    yield replace(
        candidate,
        name=f"{candidate.name}_mlfq",
        description=f"{candidate.description}; in hosts too",
        rows=hosts,
        places=("assign", "host"),
    )
    for ratio in _WEIGHTS:
        weights = [min(_MOST_WEIGHT, ratio ** (candidate.queues - 1 - nth)) for nth in range(candidate.queues)]
        rows = {**candidate.rows, "port": {"kind": "wfq", "queues": candidate.queues, "weights": weights}}
        description = f"{candidate.queues} queues by bytes sent, weights {', '.join(map(str, weights))}"
        yield replace(candidate, name=f"sent{candidate.queues}_wfq{ratio}", description=description, rows=rows)


def _nos2(base: str, solved: Thresholds, training: Training) -> Iterator[Candidate]:
    """Two levels in switches, eight in hosts."""
    switch, host = (training.cut(_at(solved, place).thresholds) for place in ("switch", "host"))
    if switch and host:
        rows = {"base": base, "assign": _sent(switch), "host": _mlfq(host), "port": strict(len(switch) + 1)}
        description = f"NOS2: {len(switch) + 1} levels by bytes sent in switches, {len(host) + 1} in hosts"
        yield Candidate("nos2", _FAMILY, description, rows, len(switch) + 1, switch, ("assign",))


def _at(solved: Thresholds, place: str) -> Ladder:
    return solved.of("nos2", place)


def _swift_ladders(fabric: Fabric, training: Training) -> Iterator[Candidate]:
    levels = min(fabric.queues, LEVELS[-1])
    thresholds = training.cut(training.ladders(levels).of("opt").thresholds)
    if thresholds:
        rows = {"base": "swift", "assign": _sent(thresholds), "port": strict(len(thresholds) + 1)}
        description = f"Swift in {len(thresholds) + 1} strict priorities by bytes sent"
        name = f"swift_sent{len(thresholds) + 1}_opt"
        yield Candidate(name, _FAMILY, description, rows, len(thresholds) + 1, thresholds, ("assign",))


def _published() -> Candidate:
    """The ladder that PIAS' authors published for web search, whatever the flows are."""
    published = thresholds(levels=_CLASSES, load=0.8, sizes="web_search", solver="published").ladders[0].thresholds
    rows = {"base": "dctcp", "assign": _sent(published), "host": _mlfq(published), "port": strict(len(published) + 1)}
    description = f"{len(published) + 1} strict priorities by bytes sent, as published for web search; in hosts too"
    return Candidate(PUBLISHED, _FAMILY, description, rows, len(published) + 1, tuple(published), ("assign", "host"))


def with_window(candidate: Candidate, packets: int) -> Candidate:
    """The candidate with another first window."""
    rows = {**candidate.rows, "transport": {"init_window": f"{packets}pkt"}}
    description = f"{candidate.description}; first window of {packets} packets"
    return replace(candidate, name=f"{candidate.name}_iw{packets}", description=description, rows=rows)


def marked(candidate: Candidate, marking: Mapping[str, Any], factor: float) -> Candidate:
    """The candidate with other marking thresholds."""
    port = dict(candidate.rows.get("port", {"kind": "fifo"}))
    port["ecn"] = {
        **marking,
        **{
            name: {rate: scaled(limit, factor) for rate, limit in marking[name].items()}
            for name in LIMITS
            if name in marking
        },
    }
    called = f"{factor:g}".replace(".", "_")
    description = f"{candidate.description}; marking thresholds times {factor:g}"
    return replace(
        candidate, name=f"{candidate.name}_k{called}", description=description, rows={**candidate.rows, "port": port}
    )
