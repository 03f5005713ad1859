"""A plan for hosts: what no kernel knob sets, for people (`hosts.md`) and programs (`hosts.json`)."""

from collections.abc import Mapping
from typing import Any

from priolane.export import quantity, switching
from priolane.export.deployment import Deployment
from priolane.export.files import render
from priolane.export.findings import Findings
from priolane.export.plan import ExportPlan, Host, Ladder
from priolane.export.quantity import time_text
from priolane.storage.files import ascii_json

_TIMES = ("min_rto", "initial_rto", "max_rto")


def export(plan: ExportPlan, deployment: Deployment, findings: Findings) -> Mapping[str, str]:  # noqa: ARG001
    """hosts.md and hosts.json."""
    switching.refuse_unbounded(plan, findings)
    if findings.refusals:
        return {}
    for what in plan.lacks:
        findings.omit(f"{what}: switches have to have it, and no target here does")
    if plan.pause is not None and not plan.pause.charged:
        findings.omit("headroom that is free: idealised, no switch has it")
    host = plan.host
    if host.congestion_control is None:
        findings.note(f"Linux has no `{host.transport}`: it takes a stack or a kernel module that has")
    for group, transport in host.other_stacks:
        findings.note(f"the group `{group}` has the transport `{transport}`: its hosts are not described here")
    if host.demotion is not None and host.demotion.followed:
        findings.note("thresholds are those of the start: a controller is to move them as the workload moves")
    findings.coverage.hosts = True
    findings.do("load", "nothing: hosts.md says what applications and transports have to do")
    findings.do("verify", "tcpdump -v -c 20 at a host, which shows the tos of packets")
    findings.do("roll back", "nothing was loaded")
    content = _content(plan)
    files = {"hosts.json": ascii_json(content)}
    return {"hosts.md": render("hosts.j2", {"plan": plan, "of": content, "findings": findings.lines()}), **files}


def _content(plan: ExportPlan) -> dict[str, Any]:
    host = plan.host
    codes = {number: queue.dscp for queue in plan.queues for number in queue.classes}
    by_level = {} if host.begins_by_group else codes
    return {
        "scheme": plan.scheme,
        "classes": [{"class": number, "dscp": code} for number, code in sorted(codes.items())],
        "classes_by": host.classes_by,
        "groups": [
            {"group": name, "class": traffic_class, "dscp": codes.get(traffic_class, plan.queues[-1].dscp)}
            for name, traffic_class in host.groups
        ],
        "demotion": _ladder(host.demotion, by_level),
        "demotion_by_group": _by_group(plan, codes) if host.begins_by_group else [],
        "own_levels": _ladder(host.own_levels, {}),
        "rule": {key: value for key, value in host.assign.items() if host.demotion is None},
        "admission": dict(host.admission),
        "transport": {"kind": host.transport, "linux": host.congestion_control, "parameters": dict(host.parameters)},
        "timeouts_us": {
            key: quantity.picoseconds(host.parameters[key]) / 1e6 for key in _TIMES if key in host.parameters
        },
        "channels": _channels(host),
        "order": host.order,
        "nic": dict(host.nic),
    }


def _ladder(ladder: Ladder | None, codes: Mapping[int, int]) -> list[dict[str, Any]]:
    """Levels with the payload bytes from which on they hold."""
    if ladder is None:
        return []
    return [
        {"level": level, "from_bytes": low} | ({"dscp": codes[level]} if level in codes else {})
        for level, low in enumerate([0, *ladder.thresholds])
    ]


def _by_group(plan: ExportPlan, codes: Mapping[int, int]) -> list[dict[str, Any]]:
    """Levels of the flows of each group, which begin in the class of the group."""
    return [
        {
            "group": name,
            "level": row["level"],
            "from_bytes": row["from_bytes"],
            "class": first + row["level"],
            "dscp": codes.get(first + row["level"], plan.queues[-1].dscp),
        }
        for name, first in plan.host.groups
        for row in _ladder(plan.host.demotion, {})
    ]


def _channels(host: Host) -> list[dict[str, Any]]:
    """Delays above the empty path that a flow of each class aims at and yields at (PrioPlus §4.3.2)."""
    of = host.parameters
    if not of.get("channels"):
        return []
    a, b = (quantity.picoseconds(of[key]) for key in ("fluctuation", "noise"))
    count = of["priorities"]
    targets = {number: (count - number) * (a + b) for number in range(count)}
    return [
        {
            "class": number,
            "target": time_text(target),
            "limit": time_text(target + a / 2 + b),
            "target_ps": target,
            "limit_ps": target + a // 2 + b,
        }
        for number, target in targets.items()
    ]
