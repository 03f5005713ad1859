"""The plan of a scheme, from the experiment as `priolane check --json` prints it merged."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from priolane._core import InputError
from priolane.export import ports, quantity
from priolane.export.plan import (
    CLASS_DSCP,
    REST_DSCP,
    Buffer,
    ExportPlan,
    Host,
    Ladder,
    Marking,
    Network,
    Pause,
    Queue,
    Routing,
    Scheduler,
    Sharing,
    Switch,
    Watchdog,
)
from priolane.export.quantity import Frame
from priolane.model.experiment import Options, check, network_of
from priolane.model.keys import part

_OWN_CLASSES = {"phost": 3}
_SHARING: dict[str, Sharing] = {"shared": "port", "per_queue": "queue", "push_out": "push_out"}
_READ = {"kind", "queues", "weights", "strict", "clock", "buffer", "ecn", "pfc"}
_TELEMETRY = "telemetry that switches write into every packet (INT)"


def read_plan(path: Path, options: Options, *, routing: Routing, named: str | None) -> ExportPlan:
    """The plan of the one scheme of `options`; `named` are ports in place of the topology's (`ports.named`).

    Raises `InputError` if the file is not right, if its sweep leaves several values, or for keys that are not known.
    """
    merged = check(path, options)["merged"]
    open_keys = [key for key, values in merged.get("sweep", {}).items() if len(values) > 1]
    if open_keys:
        sets = " ".join(f"--set {key}=VALUE" for key in open_keys)
        raise InputError(f"{path}: the sweep has several points, and a configuration is of one; add {sets}")
    network, switches = ports.of_network(network_of(path, options))
    plan = make_plan(merged, merged["schemes"][0], network, switches, routing)
    return replace(plan, switches=ports.named(named), ports_are_named=True) if named else plan


def make_plan(
    merged: Mapping[str, Any], scheme: str, network: Network, switches: tuple[Switch, ...], routing: Routing
) -> ExportPlan:
    """The plan of a scheme of a merged experiment, for the switches of its network."""
    of = merged["scheme"][scheme]
    port, transport = of["port"], of["transport"]
    kind = port["kind"]
    lacks = [text] if (text := part("port", kind).lacks) else []
    if "int" in part("transport", transport["kind"]).needs:
        lacks.append(_TELEMETRY)
    pause = _pause(port.get("pfc"))
    queues = _queues(merged, of, pause)
    scheduler: Scheduler = "weighted" if any(queue.weight is not None for queue in queues) else "strict"
    return ExportPlan(
        scheme=scheme,
        paper=of.get("paper"),
        frame=_frame(merged["frame"]),
        port=kind,
        scheduler=scheduler,
        queues=queues,
        routing=routing,
        marking=_marking(port.get("ecn")),
        buffer=_buffer(port["buffer"]),
        pause=pause,
        lacks=tuple(lacks),
        unread=() if lacks else tuple(f"port.{key} = {port[key]}" for key in sorted(port.keys() - _READ)),
        network=network,
        switches=switches,
        ports_are_named=False,
        host=_host(merged, of, network),
    )


def _frame(of: Mapping[str, str]) -> Frame:
    mtu, header, link, gap = (quantity.size(of[key]) for key in ("mtu", "header", "link", "gap"))
    return Frame(mtu=mtu, payload=mtu - header, stored=mtu + link, wire=mtu + link + gap)


def _queues(merged: Mapping[str, Any], of: Mapping[str, Any], pause: Pause | None) -> tuple[Queue, ...]:
    """The queues, best first. Where the last one is lossless, one for all other traffic follows it."""
    port = of["port"]
    count = port.get("queues", 1)
    lists = [_classes_of(number, count, merged, of) for number in range(count)]
    used = [(number, classes) for number, classes in enumerate(lists) if classes]
    lossless = [bool(pause and set(classes) & set(pause.classes)) for _, classes in used]
    weights = [None] * port.get("strict", 0) + port.get("weights", [None] * count)
    rest = bool(lossless and lossless[-1])
    total = len(used) + rest
    queues = [
        Queue(
            level=total - 1 - place,
            classes=classes,
            dscp=REST_DSCP if place == total - 1 else _dscp(place, total),
            weight=weights[number],
            lossless=lossless[place],
        )
        for place, (number, classes) in enumerate(used)
    ]
    if rest:
        is_weighted = weights[-1] is not None
        queues.append(Queue(level=0, classes=(), dscp=REST_DSCP, weight=1 if is_weighted else None))
    return tuple(queues)


def _dscp(place: int, total: int) -> int:
    """The code points of all queues but the last fall with their places."""
    return sorted(CLASS_DSCP[: total - 1], reverse=True)[place]


def _classes_of(number: int, count: int, merged: Mapping[str, Any], of: Mapping[str, Any]) -> tuple[int, ...]:
    """The classes that go to a queue: those that packets carry, or, if none does, all that would."""
    carried = sorted(_carried(merged, of))
    if count == 1:
        return tuple(carried)
    mapped = of["map"]["class"]
    if mapped == "queue":
        return (number,)
    here = [name for name, queue in enumerate(mapped) if queue == number]
    return tuple(name for name in here if name in carried) or tuple(here)


def _carried(merged: Mapping[str, Any], of: Mapping[str, Any]) -> set[int]:
    """The classes that packets of the scheme carry: those of flows, of demotion, of the transport, and of ACKs."""
    assign, transport = of["assign"], of["transport"]
    own = _OWN_CLASSES.get(transport["kind"], 1)
    if transport["kind"] == "homa":
        own = transport["unscheduled_classes"] + transport["scheduled_classes"]
    own = max(own, transport.get("priorities", 1))
    demoted = assign.get("levels", 1) if assign["kind"] == "bytes_sent" else 1
    assigned = _given(merged, assign) | set(range(of["admit"].get("levels", 1)))
    reached = {first + level for first in assigned for level in range(demoted)}
    control = transport.get("control_class", 0)
    answers = set() if control == "flow" else {control}
    return reached | set(range(own)) | answers | {transport.get("cnp_class", 0)}


def _given(merged: Mapping[str, Any], assign: Mapping[str, Any]) -> set[int]:
    """The classes in which flows begin."""
    if assign["kind"] in _BY_GROUP:
        return {0, *(number for _, number in _classes_of_groups(merged, assign))}
    return set(range(_levels(assign)))


def _levels(assign: Mapping[str, Any]) -> int:
    """The number of classes of a rule that reads each flow, as `Rule::levels` in core has it."""
    if "fractions" in assign:
        return len(assign["fractions"])
    cuts = assign.get("thresholds", assign.get("weights"))
    if cuts is not None:
        return len(cuts) + (2 if assign["kind"] == "deadlines_first" else 1)
    return int(assign["levels"])


# The rules under which the group of a flow alone says in which class it begins.
_BY_GROUP = ("none", "bytes_sent", "group")


def _classes_of_groups(merged: Mapping[str, Any], assign: Mapping[str, Any]) -> list[tuple[str, int]]:
    """The class of each group that has flows: the rule `group` counts all groups, its last class is for the rest."""
    stated = assign["classes"] if assign["kind"] == "group" else None
    first = assign.get("first", {})
    return [
        (
            group["name"],
            stated[min(place, len(stated) - 1)] if stated else first.get(group["name"], group.get("class") or 0),
        )
        for place, group in enumerate(merged["group"])
        if group["app"] != "none"
    ]


def _marking(ecn: Mapping[str, Any] | None) -> Marking | None:
    if ecn is None:
        return None
    at = ecn["at"]
    if not isinstance(at, Mapping):
        raise InputError(f"port.ecn.at = {at!r} is not known here; state a threshold for each rate")
    return Marking(
        per_queue=ecn["per"] == "queue",
        at=quantity.by_rate(at),
        full=quantity.by_rate(ecn.get("full", {})),
        most=ecn.get("p_max", 1.0),
        average=ecn.get("average"),
    )


def _buffer(of: str | Mapping[str, Any]) -> Buffer:
    if isinstance(of, str):
        return Buffer("unbounded")
    if "dynamic" in of:
        return Buffer("dynamic", memory=quantity.size(of["dynamic"]), alpha=quantity.fraction(of["alpha"]))
    for key, sharing in _SHARING.items():
        if key in of:
            return Buffer(sharing, quantity.limit(of[key]), quantity.by_rate(of.get("at", {})))
    # Room for what tokens call for: such ports are refused as they are.
    return Buffer("port", quantity.limit(next(iter(of.values()))))


def _pause(of: Mapping[str, Any] | None) -> Pause | None:
    if of is None:
        return None
    xoff = of["xoff"]
    in_bytes = isinstance(xoff, str) and xoff.endswith("B")
    return Pause(
        classes=tuple(of["classes"]),
        xoff=quantity.size(xoff) if in_bytes else quantity.fraction(xoff),
        resume=quantity.size(of["xon_below"]),
        charged=of["headroom"] == "charged",
        headroom_least=quantity.size(of["headroom_least"]),
        watchdog=_watchdog(of.get("watchdog")),
    )


def _watchdog(of: Mapping[str, Any] | None) -> Watchdog | None:
    if of is None:
        return None
    after, restore = quantity.picoseconds(of["after"]), quantity.picoseconds(of["restore"])
    return Watchdog(after, restore, of["action"])


def _host(merged: Mapping[str, Any], of: Mapping[str, Any], network: Network) -> Host:
    transport, assign, nic = dict(of["transport"]), of["assign"], of["nic"]
    kind = transport.pop("kind")
    demoted = assign["kind"] == "bytes_sent"
    return Host(
        transport=kind,
        parameters=transport,
        congestion_control=part("transport", kind).linux,
        demotion=_ladder(assign) if demoted else None,
        own_levels=_ladder(of["host"]) if of["host"]["kind"] == "mlfq" else None,
        order=of["host"]["kind"],
        nic={"queue": nic} if isinstance(nic, str) else nic,
        admission=of["admit"],
        assign=assign,
        classes_by=_classes_by(of),
        groups=tuple(_classes_of_groups(merged, assign)),
        other_stacks=tuple(
            (group["name"], group["transport"]["kind"]) for group in merged["group"] if "transport" in group
        ),
        rates=network.host_rates,
    )


def _ladder(of: Mapping[str, Any]) -> Ladder:
    stated = of["thresholds"]
    solved = isinstance(stated, Mapping)
    return Ladder(
        thresholds=tuple(quantity.size(text) for text in (stated["bytes"] if solved else stated)),
        solver=stated["solver"] if solved else None,
        followed="controller" in of,
        retransmitted=of.get("count") == "bytes_sent",
    )


def _classes_by(of: Mapping[str, Any]) -> str:
    """The source of the class of a flow when it starts."""
    assign, admit = of["assign"], of["admit"]
    if of["transport"]["kind"] in ("homa", "phost"):
        return "the transport sets the class of each packet"
    says = {
        "none": "applications ask for the class of their group",
        "bytes_sent": "bytes sent, from the class of a flow's group on" if assign.get("first") else "bytes sent",
        "group": "each group has the class that the table states",
    }.get(assign["kind"], f"the rule `{assign['kind']}` when a flow starts")
    if admit["kind"] != "none":
        says += f"; admission by `{admit['kind']}` may give another"
    return says
