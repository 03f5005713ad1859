"""Arista EOS on Broadcom Trident and Tomahawk: QoS maps, a profile for each rate, alpha of queues.

The syntax is from Arista's manual; no device and no parser has read this text.
"""

from collections.abc import Mapping

from priolane.export import ports, switching
from priolane.export.files import by_role, render
from priolane.export.findings import Findings
from priolane.export.plan import Plan, Switch
from priolane.export.quantity import rate_text
from priolane.export.site import Site

_NAMES = "Ethernet{1}"
# Traffic class 7 and its queue are the system's own; by default DSCP 48 to 55 are class 6, 56 to 63 class 7.
_QUEUES = 6
_LEAST_ALPHA, _MOST_ALPHA = -6, 3


def export(plan: Plan, site: Site, found: Findings) -> Mapping[str, str]:  # noqa: ARG001
    """eos.cfg for each kind of switch."""
    if switching.is_refused(plan, found, "EOS"):
        return {}
    if plan.routing == "best":
        found.refuse("EOS keeps traffic class 7 for itself: --routing best is not possible")
    if len(plan.queues) > _QUEUES:
        found.refuse(f"{len(plan.queues)} queues: EOS leaves {_QUEUES} below those of routing protocols: fewer queues")
    switching.refuse_marking_per_port(plan, found, "EOS")
    if found.refusals:
        return {}
    switching.note_queues(plan, found)
    switching.note_hosts(found)
    found.note(
        "DSCP 48 to 63 are left to EOS: by default classes 6 and 7, whose queues are strict and above all others"
    )
    return by_role(plan, lambda switch: {"eos.cfg": _text(plan, switch, found)})


def _text(plan: Plan, switch: Switch, found: Findings) -> str:
    marks = switching.thresholds(plan, switch, found)
    if marks:
        found.note("what EOS does above K with packets that cannot be marked is not known to us")
    content = {
        "plan": plan,
        "dscps": {queue.level: _dscps(plan, queue.level) for queue in plan.queues},
        "bandwidth": _bandwidth(plan, found),
        "alpha": _alpha(plan, found),
        "marks": marks,
        "rates": {bps: rate_text(bps) for bps in switch.rates},
        "ports": ports.by_name(switch, _NAMES),
    }
    if plan.pause is not None:
        found.miss(f"xoff {plan.pause.xoff} and headroom of lossless classes: EOS has its own")
    return render("eos.j2", content | {"findings": found.lines()})


def _dscps(plan: Plan, level: int) -> list[int]:
    """The code points of a level that are not the system's."""
    return [dscp for dscp in range(48) if plan.level_of(dscp) == level]


def _bandwidth(plan: Plan, found: Findings) -> dict[int, int]:
    """Parts of a hundred by level; empty under strict priority."""
    if plan.scheduler == "strict":
        return {}
    shares = switching.percents([queue.weight or 1 for queue in plan.queues], found, "EOS")
    return {queue.level: share for queue, share in zip(plan.queues, shares, strict=True)}


def _alpha(plan: Plan, found: Findings) -> str | None:
    """Alpha of each queue as EOS writes it; `None` where the buffer is not dynamic."""
    if plan.buffer.sharing != "dynamic":
        switching.miss_port_room(plan, found, "EOS")
        return None
    found.miss(f"a buffer of {plan.buffer.memory} B: EOS shares the memory that the switch has")
    exponent = switching.power_of_two(plan.buffer.alpha, found, "alpha")
    if not _LEAST_ALPHA <= exponent <= _MOST_ALPHA:
        found.miss(f"alpha {plan.buffer.alpha}: EOS has 1/64 to 8")
        return None
    return f"1/{2**-exponent}" if exponent < 0 else str(2**exponent)
