"""Linux DCB of a NIC or a switch driver: DSCP to priority, traffic classes, lossless priorities."""

from collections.abc import Mapping

from priolane.export import switching
from priolane.export.deployment import Deployment
from priolane.export.files import render
from priolane.export.findings import Findings
from priolane.export.plan import ROUTING_DSCP, ExportPlan


def export(plan: ExportPlan, deployment: Deployment, findings: Findings) -> Mapping[str, str]:  # noqa: ARG001
    """dcb.sh."""
    if switching.is_refused(plan, findings, "DCB"):
        return {}
    switching.refuse_queues(plan, findings)
    if findings.refusals:
        return {}
    switching.note_queues(plan, findings)
    switching.note_hosts(findings)
    if plan.marking is not None:
        findings.omit("ECN: DCB has no thresholds; the driver's own setting, or tc red where it is offloaded")
    if plan.buffer.sharing == "dynamic":
        findings.omit(
            f"a buffer of {plan.buffer.memory} B with alpha {plan.buffer.alpha}: DCB has sizes of a port's buffers only"
        )
    else:
        switching.omit_port_room(plan, findings, "the driver")
    if plan.pause is not None:
        findings.omit(f"xoff {plan.pause.xoff} and headroom: `dcb buffer` has them, by device")
    findings.do("load", "for all of app, ets, pfc, buffer: dcb app show dev DEVICE, kept as what was before")
    findings.do("load", "sh dcb.sh DEVICE")
    findings.do("verify", "dcb ets show dev DEVICE, dcb app show dev DEVICE, dcb pfc show dev DEVICE")
    findings.do(
        "roll back", "dcb app flush dev DEVICE dscp-prio, then dcb ets set and dcb pfc set with what was before"
    )
    content = {
        "plan": plan,
        "what": "DCB of a device: sh dcb.sh DEVICE",
        "priorities": _priorities(plan),
        "bandwidth": list(switching.weighted_shares(plan, findings, "DCB").items()),
        "lossless": [queue.level for queue in plan.queues if queue.lossless],
    }
    return {"dcb.sh": render("dcb.j2", content | {"findings": findings.lines()})}


def _priorities(plan: ExportPlan) -> list[tuple[int, int]]:
    """Priorities of all code points; those of routing protocols included."""
    named = [queue.dscp for queue in plan.queues if queue.dscp]
    return [(dscp, plan.level_of(dscp)) for dscp in [0, *sorted(named), *ROUTING_DSCP]]
