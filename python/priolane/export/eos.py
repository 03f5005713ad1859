"""Arista EOS on Broadcom Trident and Tomahawk: QoS maps, a profile for each rate, alpha of queues.

The syntax is from Arista's manual; no device and no parser has read this text.
"""

from collections.abc import Mapping
from fractions import Fraction

from priolane.export import ports, switching
from priolane.export.coverage import kind_line
from priolane.export.deployment import Deployment
from priolane.export.files import render, render_by_role
from priolane.export.findings import Findings
from priolane.export.plan import ExportPlan, Switch
from priolane.export.quantity import rate_text

_NAMES = "Ethernet{1}"
# Traffic class 7 and its queue are the system's own; by default DSCP 48 to 55 are class 6, 56 to 63 class 7.
_QUEUES = 6
_ALPHA_EXPONENTS = range(-6, 4)
# The weight of an arrival in the average of a queue is 2^-n.
_MOST_EXPONENT = 15


def export(plan: ExportPlan, deployment: Deployment, findings: Findings) -> Mapping[str, str]:  # noqa: ARG001
    """eos.cfg for each kind of switch."""
    if switching.is_refused(plan, findings, "EOS"):
        return {}
    if plan.routing == "best":
        findings.refuse("EOS keeps traffic class 7 for itself: --routing best is not possible")
    if len(plan.queues) > _QUEUES:
        findings.refuse(
            f"{len(plan.queues)} queues: EOS leaves {_QUEUES} below those of routing protocols: fewer queues"
        )
    switching.refuse_marking_per_port(plan, findings, "EOS")
    if findings.refusals:
        return {}
    switching.note_queues(plan, findings)
    switching.note_hosts(findings)
    findings.note(
        "DSCP 48 to 63 are left to EOS: by default classes 6 and 7, whose queues are strict and above all others"
    )
    findings.do("load", "copy running-config flash:before-priolane.cfg")
    findings.do("load", "configure session priolane, the lines of eos.cfg, show session-config diffs")
    findings.do("load", "commit timer 00:05:00, which goes back by itself unless it is confirmed")
    findings.do("verify", "show qos interfaces, show qos maps")
    findings.do("verify", "configure session priolane commit, within these five minutes")
    findings.do("roll back", "configure replace flash:before-priolane.cfg")
    return render_by_role(plan, _NAMES, findings, lambda switch: ("eos.cfg", _text(plan, switch, findings)))


def _text(plan: ExportPlan, switch: Switch, findings: Findings) -> str:
    marks = switching.thresholds(plan, switch, findings)
    if marks:
        findings.note("what EOS does above K with packets that cannot be marked is not known to us")
    content = {
        "plan": plan,
        "covers": kind_line(switch),
        "dscps": {queue.level: _dscps(plan, queue.level) for queue in plan.queues},
        "bandwidth": switching.weighted_shares(plan, findings, "EOS"),
        "alpha": _alpha(plan, findings),
        "marks": marks,
        "weight": switching.average_exponent(plan, findings, _MOST_EXPONENT),
        "rates": {bps: rate_text(bps) for bps in switch.rates},
        "ports": ports.by_name(switch, _NAMES),
    }
    if plan.pause is not None:
        findings.omit(f"xoff {plan.pause.xoff} and headroom of lossless classes: EOS has its own")
    return render("eos.j2", content | {"findings": findings.lines()})


def _dscps(plan: ExportPlan, level: int) -> list[int]:
    """The code points of a level that are not the system's."""
    return [dscp for dscp in range(48) if plan.level_of(dscp) == level]


def _alpha(plan: ExportPlan, findings: Findings) -> str | None:
    """Alpha of each queue as EOS writes it; `None` where EOS has none for it."""
    exponent = switching.alpha_exponent(plan, findings, "EOS", "EOS", _ALPHA_EXPONENTS)
    return None if exponent is None else str(Fraction(2) ** exponent)
