"""Juniper Junos on QFX5000: forwarding classes, classifiers, schedulers.

One queue may be strict-high, the others share by weight, and thresholds are per cents of a fill that depends on the
rest of the switch: whatever needs more is refused. The syntax is from Juniper's guides; no device has read this text.
"""

from collections.abc import Mapping

from priolane.export import ports, switching
from priolane.export.coverage import kind_line
from priolane.export.deployment import Deployment
from priolane.export.files import render, render_by_role
from priolane.export.findings import Findings
from priolane.export.plan import ROUTING_LEVEL, ExportPlan, Queue, Switch

_NAMES = "et-0/0/{0}"
# buffer-dynamic-threshold: 7 stands for alpha 1, each step for a factor of two.
_ALPHA_ONE = 7
_ALPHA_EXPONENTS = range(-7, 4)


def export(plan: ExportPlan, deployment: Deployment, findings: Findings) -> Mapping[str, str]:  # noqa: ARG001
    """junos.set for each kind of switch."""
    if switching.is_refused(plan, findings, "Junos"):
        return {}
    switching.refuse_queues(plan, findings)
    levels = len(plan.strict_queues) + (plan.routing == "own") + (plan.scheduler == "weighted")
    if levels > 2:
        cure = "; --routing best saves one" if plan.routing == "own" and levels == 3 else ""
        findings.refuse(
            f"{levels} strict levels, that of routing protocols counted: Junos has one above all the rest{cure}"
        )
    if not plan.strict_queues and plan.routing == "best":
        findings.refuse("--routing best: DSCP 48 to 63 would share by weight; --routing own has them above all others")
    if plan.marking is not None:
        findings.refuse(
            "ECN thresholds in bytes: Junos takes per cents of a queue's fill, which is no fixed number of bytes"
        )
    if findings.refusals:
        return {}
    switching.note_queues(plan, findings)
    switching.note_hosts(findings)
    findings.do("load", "load set junos.set, show | compare, commit check")
    findings.do("load", "commit confirmed 5, which goes back by itself unless it is confirmed")
    findings.do("verify", "show class-of-service interface")
    findings.do("verify", "commit, within these five minutes")
    findings.do("roll back", "rollback 1, commit")
    return render_by_role(plan, _NAMES, findings, lambda switch: ("junos.set", _text(plan, switch, findings)))


def _text(plan: ExportPlan, switch: Switch, findings: Findings) -> str:
    if plan.pause is not None:
        findings.omit(
            f"xoff {plan.pause.xoff} and headroom of lossless classes: Junos has shared-buffer partitions of its own"
        )
    content = {
        "plan": plan,
        "covers": kind_line(switch),
        "routing_level": ROUTING_LEVEL,
        "codes": {queue.level: _codes(plan, queue) for queue in plan.queues},
        "routing_codes": [f"{dscp:06b}" for dscp in range(48, 64)] if plan.routing == "own" else [],
        "share": switching.remaining_shares(plan, findings, "Junos"),
        "strict": plan.queues[0].level if plan.routing == "best" else None,
        "threshold": _threshold(plan, findings),
        "ports": [name for name, _ in ports.by_name(switch, _NAMES)],
    }
    return render("junos.j2", content | {"findings": findings.lines()})


def _codes(plan: ExportPlan, queue: Queue) -> list[str]:
    """Code points of a queue in binary."""
    own = range(64) if plan.routing == "best" else range(48)
    return [f"{dscp:06b}" for dscp in own if plan.level_of(dscp) == queue.level]


def _threshold(plan: ExportPlan, findings: Findings) -> int | None:
    """buffer-dynamic-threshold of queues; `None` where Junos has none for it."""
    exponent = switching.alpha_exponent(plan, findings, "Junos", "buffer-dynamic-threshold", _ALPHA_EXPONENTS)
    return None if exponent is None else _ALPHA_ONE + exponent
