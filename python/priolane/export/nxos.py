"""Cisco NX-OS on Nexus 9000 with 8 queues: classification, queueing by rate, lossless classes.

The syntax is from Cisco's guides and public configurations; no device and no parser has read this text.
"""

import math
from collections.abc import Mapping

from priolane.export import ports, switching
from priolane.export.coverage import kind_line
from priolane.export.deployment import Deployment
from priolane.export.files import render, render_by_role
from priolane.export.findings import Findings
from priolane.export.plan import ROUTING_DSCP, ExportPlan, Queue, Switch
from priolane.export.quantity import rate_text

_NAMES = "Ethernet1/{1}"
_KILO = 1_000
# The weight of an arrival in the average of a queue is 2^-n.
_MOST_EXPONENT = 15


def export(plan: ExportPlan, deployment: Deployment, findings: Findings) -> Mapping[str, str]:  # noqa: ARG001
    """nxos.cfg for each kind of switch."""
    if switching.is_refused(plan, findings, "NX-OS"):
        return {}
    switching.refuse_queues(plan, findings)
    switching.refuse_marking_per_port(plan, findings, "NX-OS")
    if findings.refusals:
        return {}
    switching.note_queues(plan, findings)
    switching.note_hosts(findings)
    findings.do("load", "checkpoint before-priolane")
    findings.do("load", "configure session priolane, the lines of nxos.cfg, verify, commit")
    findings.do("verify", "show policy-map interface, show queuing interface")
    findings.do("roll back", "rollback running-config checkpoint before-priolane")
    return render_by_role(plan, _NAMES, findings, lambda switch: ("nxos.cfg", _text(plan, switch, findings)))


def _text(plan: ExportPlan, switch: Switch, findings: Findings) -> str:
    groups = _groups(plan)
    marks = {bps: _kilobytes(bytes_, findings) for bps, bytes_ in switching.thresholds(plan, switch, findings).items()}
    if marks:
        switching.change_drops(findings)
    if plan.buffer.sharing == "dynamic":
        findings.omit(f"a buffer of {plan.buffer.memory} B with alpha {plan.buffer.alpha}: NX-OS keeps its own")
    else:
        switching.omit_port_room(plan, findings, "NX-OS")
    if plan.pause is not None:
        findings.omit(f"xoff {plan.pause.xoff} and headroom of lossless classes: NX-OS has its own")
    content = {
        "plan": plan,
        "covers": kind_line(switch),
        "queues": [_Row.of(queue, group, plan) for queue, group in zip(plan.queues, groups, strict=True)],
        "unused": [number for number in range(7, 0, -1) if number not in {*groups, *_routing_group(plan)}],
        "routing": plan.routing == "own",
        "routing_dscp": f"{ROUTING_DSCP.start}-{ROUTING_DSCP.stop - 1}",
        "share": switching.remaining_shares(plan, findings, "NX-OS"),
        "marks": marks,
        "weight": switching.average_exponent(plan, findings, _MOST_EXPONENT),
        "rates": {bps: rate_text(bps) for bps in switch.rates},
        "ports": ports.by_name(switch, _NAMES),
    }
    return render("nxos.j2", content | {"findings": findings.lines()})


class _Row:
    """A queue as the template has it: `group` is NX-OS's number, `dscps` what leads to it, `strict` its level."""

    def __init__(self, queue: Queue, group: int, dscps: str, strict: int | None) -> None:
        self.queue, self.group, self.dscps, self.strict = queue, group, dscps, strict

    @classmethod
    def of(cls, queue: Queue, group: int, plan: ExportPlan) -> "_Row":
        """The row of a queue: strict levels count from 1 and end before the last queue, which is served after them."""
        dscps = "" if queue.dscp == 0 else str(queue.dscp)
        place = plan.queues.index(queue)
        if plan.routing == "best" and place == 0:
            dscps = ",".join(filter(None, [dscps, f"{ROUTING_DSCP.start}-{ROUTING_DSCP.stop - 1}"]))
        strict = None
        if queue.weight is None and group != 0:
            strict = place + 1 + (plan.routing == "own")
        return cls(queue, group, dscps, strict)

    @property
    def name(self) -> str:
        """The system's class of the queue."""
        return "c-out-8q-q-default" if self.group == 0 else f"c-out-8q-q{self.group}"


def _routing_group(plan: ExportPlan) -> set[int]:
    return {7} if plan.routing == "own" else set()


def _groups(plan: ExportPlan) -> list[int]:
    """NX-OS's number of each queue: strict ones are the highest and adjacent, the last is the default."""
    top = 7 - len(_routing_group(plan))
    last = len(plan.queues) - 1
    return [0 if place == last else top - place for place in range(last + 1)]


def _kilobytes(bytes_: int, findings: Findings) -> int:
    kilobytes = math.ceil(bytes_ / _KILO)
    if kilobytes * _KILO != bytes_:
        off = kilobytes * _KILO / bytes_ - 1
        findings.change(f"ECN threshold {bytes_} B is {kilobytes} kbytes", f"off by {off * 100:+.2f} %")
    return kilobytes
