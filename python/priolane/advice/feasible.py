"""The shipped schemes that can be deployed on the user's switches and hosts, and the obstacles of the others.

A scheme is its rows, and each part in a row declares what it needs (`Part.needs`). What rows state besides (marking,
PFC, queues, unbounded buffers) is read from them.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from priolane import _core
from priolane.advice.fabric import HOST_FEATURES, SWITCH_FEATURES, Fabric
from priolane.advice.flow_list import FlowList
from priolane.model.experiment import check
from priolane.model.keys import part

Rows = Mapping[str, Any]

# An experiment that every shipped scheme fits.
_ALL: Mapping[str, Any] = {
    "title": "All",
    "time": {"measure": "1ms"},
    "topology": {"kind": "single_switch", "hosts": 2, "host_link": {"rate": "10Gbps", "delay": "1us"}},
    "group": [
        {
            "name": "all",
            "hosts": "*",
            "app": "poisson",
            "sizes": "web_search",
            "load": {"of": "host", "counts": "payload", "value": 0.5},
            "deadline": "2ms",
        }
    ],
}

# What is required of flows, and what a list without it lacks.
FLOWS = {
    "classes": "it admits flows to classes that they ask for, and here classes are what is looked for",
    "deadlines": "no flow of the list has a deadline (column `deadline_ns`)",
    "coflows": "no flow of the list belongs to a coflow (column `coflow`)",
    "prices": "flows of a list pay for nothing, and without prices it shares as TCP does",
}
_ROWS = ("transport", "port", "assign", "host", "admit")
# A port of tokens has a queue for signals and one for payload besides those of its classes.
_TOKEN_QUEUES = 2
_MODULES = ("congestion_module", "kernel_module")
# Congestion controls that are no modules of kernels: hosts that have `host.congestion_module` have them in their NICs.
_IN_NICS = ("dcqcn",)
# Schemes that another one stands for.
STANDS_FOR = {"ns3_dctcp": "dctcp"}


@dataclass(frozen=True)
class Feasibility:
    """Whether a scheme can be deployed: `reasons` are sentences, empty if it can. `queues` is what it takes of each
    port, `least` what it could do with. A `is_bound` scheme is no deployment, but what others are compared with, and
    one that has a `twin` is not tried beside it."""

    scheme: str
    reasons: tuple[str, ...]
    queues: int
    least: int
    is_bound: bool = False
    twin: str | None = None

    def __bool__(self) -> bool:
        """Whether it can be deployed."""
        return not self.reasons


@cache
def shipped() -> Mapping[str, Rows]:
    """The rows of all shipped schemes, with their defaults."""
    names = [entry["name"] for entry in json.loads(_core.catalogue())["schemes"]]
    schemes: Mapping[str, Rows] = check({**_ALL, "schemes": names})["merged"]["scheme"]
    return schemes


def feasible(fabric: Fabric, flows: FlowList) -> tuple[Feasibility, ...]:
    """Every shipped scheme, in the order of the catalogue."""
    return tuple(possible(name, rows, fabric, flows) for name, rows in shipped().items())


def possible(name: str, rows: Rows, fabric: Fabric, flows: FlowList) -> Feasibility:
    """One scheme, by its rows."""
    queues, least = _queues(rows)
    if name in STANDS_FOR:
        twin = STANDS_FOR[name]
        reasons = [f"it is {twin} as another simulator has it, and {twin} stands for both"]
        return Feasibility(name, tuple(reasons), queues, least, twin=twin)
    ideal = _ideal(rows)
    if ideal is not None:
        return Feasibility(name, (f"it is a bound and no deployment: {ideal}",), queues, least, is_bound=True)
    reasons = list(_missing(rows, fabric.features, flows))
    if least > fabric.queues:
        has = f"{fabric.queues} {'is' if fabric.queues == 1 else 'are'} free"
        reasons.append(f"it takes {least} queues at each port, and {has}")
    return Feasibility(name, tuple(reasons), queues, least)


def requires(rows: Rows) -> tuple[str, ...]:
    """The requirements of a scheme for switches, hosts and flows; `KeyError` for a row of an unknown kind."""
    needs: list[str] = []
    for row in _ROWS:
        needs += part(row, rows[row]["kind"]).needs
    nic = rows["nic"]
    needs += part("nic", nic if isinstance(nic, str) else nic.get("queue", "port")).needs
    needs += ["pfc"] if rows["port"].get("pfc") else []
    return tuple(dict.fromkeys(needs))


def takes_no_pfc(rows: Rows) -> bool:
    """Whether a scheme's port pauses as its paper's switches did, but the scheme does not depend on that: one queue."""
    port = rows["port"]
    return bool(port["kind"] == "fifo" and port.get("pfc"))


def _missing(rows: Rows, features: frozenset[str], flows: FlowList) -> Iterator[str]:
    has_column = {"deadlines": "deadline_ns", "coflows": "coflow"}
    needed = requires(rows)
    for need in needed:
        if need in FLOWS:
            if need not in has_column or not flows.has(has_column[need]):
                yield FLOWS[need]
        elif need == "pfc" and takes_no_pfc(rows):
            continue
        elif need in _MODULES and ("user_stack" in features or "user_stack" in needed):
            # Whoever may run a stack of their own needs no module, and one that is missing is said once.
            continue
        elif need in SWITCH_FEATURES and need not in features:
            yield f"no switch here {SWITCH_FEATURES[need]}: switch.{need}"
        elif need not in features:
            has = _ROCE if need == "congestion_module" and in_nics(rows) else HOST_FEATURES[need]
            yield f"no host here {has}: host.{need}"


_ROCE = "has RoCE NICs, which run this congestion control"


def in_nics(rows: Rows) -> bool:
    """Whether a scheme's congestion control runs in NICs."""
    return rows["transport"]["kind"] in _IN_NICS


def _queues(rows: Rows) -> tuple[int, int]:
    """Queues of a port that the scheme takes, and the least that it could do with."""
    port, assign = rows["port"], rows["assign"]["kind"]
    if port["kind"] == "tokens":
        taken = int(port["classes"]) + _TOKEN_QUEUES
        return taken, taken
    taken = int(port.get("queues", 2 if port["kind"] == "trimming" else 1))
    if rows["transport"]["kind"] == "homa" or (assign == "bytes_sent" and port["kind"] == "strict"):
        return taken, min(taken, 2)
    return taken, taken


def _ideal(rows: Rows) -> str | None:
    """The reason why a scheme is a bound; `None` if it is not one."""
    port = rows["port"]
    if port["buffer"] == "unbounded":
        return "its switches have endless buffers"
    if port.get("order") == "rank":
        return "its switches sort tokens by what flows have left"
    if (port.get("pfc") or {}).get("headroom") == "free":
        return "the headroom of its lossless classes costs no memory"
    return None
