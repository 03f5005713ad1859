"""Linux nftables at hosts: DSCP by bytes sent, levels of the host's own queue, or what applications marked."""

import math
from collections.abc import Mapping
from fractions import Fraction

from priolane.export import tc
from priolane.export.deployment import Deployment
from priolane.export.files import render
from priolane.export.findings import Findings
from priolane.export.match import Match
from priolane.export.plan import ExportPlan, Ladder

TABLE = "inet priolane"
_MOST_BYTES = 2**64 - 1
# Bytes are counted for connections that begin after it is set.
_COUNTS = "net.netfilter.nf_conntrack_acct"


def export(plan: ExportPlan, deployment: Deployment, findings: Findings) -> Mapping[str, str]:
    """mark.nft."""
    host = plan.host
    several = len(plan.scheme_queues) > 1
    if plan.lacks:
        findings.refuse(f"no switch here has {plan.lacks[0]}: marks alone do not make the scheme")
    elif host.sets_classes:
        findings.refuse(f"`{host.transport}` sets classes itself, those of ACKs too: export hosts")
    elif not several and host.own_levels is None:
        findings.refuse("all its packets have one class: there is nothing to mark")
    first = _first_class(plan, deployment.group, findings)
    if findings.refusals:
        return {}
    findings.coverage.hosts = True
    _list_classes(plan, findings)
    demotion = host.demotion if several else None
    own = host.own_levels
    counted = demotion is not None or own is not None
    idle = deployment.idle if counted else None
    if counted:
        _list_bytes(plan, idle, findings)
    _list_match(deployment.match, _overwritten(demoted=demotion is not None, several=several), findings)
    if host.begins_by_group:
        findings.note(
            f"these are the marks of flows of `{deployment.group}`: a host that sends those of several groups loads a "
            "file for each, each with its own --match"
        )
    suffix = "" if deployment.group is None else f"_{deployment.group}"
    _list_steps(findings, f"{TABLE}{suffix}", counted=counted)
    content = {
        "plan": plan,
        "what": "marks of a host: nft -f mark.nft",
        "suffix": suffix,
        "demotion": _ranges(plan, demotion, "goto class{}", first) if demotion is not None else "",
        "classes": [(number, _dscp(plan, number)) for number in _classes(demotion, first)],
        "levels": _ranges(plan, own, f"{tc.HANDLE}:{{}}", first=1) if own is not None else "",
        "marked": [queue.dscp for queue in plan.queues if queue.dscp],
        "rest": plan.queues[-1].dscp,
        "several": several,
        "match": deployment.match or Match(),
        "idle": idle,
    }
    return {"mark.nft": render("nft.j2", content | {"findings": findings.lines()})}


def _first_class(plan: ExportPlan, group: str | None, findings: Findings) -> int:
    """The class in which the marked flows begin; refuses where it is another for each group, and none is named."""
    host = plan.host
    known = dict(host.groups)
    if group is not None and group not in known:
        findings.refuse(f"--group {group}: there is no such group with flows; one of {', '.join(known)}")
    elif group is not None and host.demotion is None:
        findings.refuse("--group is of classes by bytes sent: applications mark the classes of this scheme")
    elif group is None and host.begins_by_group:
        names = ", ".join(f"--group {name}" for name in known)
        findings.refuse(
            "each group begins in a class of its own, and conntrack knows the bytes and not the group: export once "
            f"for each ({names}), with --match where a host sends flows of several"
        )
    return 0 if group is None else known.get(group, 0)


def _classes(demotion: Ladder | None, first: int) -> list[int]:
    """The classes of packets: that of control packets, and those through which flows are demoted."""
    return [] if demotion is None else sorted({0, *range(first, first + demotion.levels)})


def _list_classes(plan: ExportPlan, findings: Findings) -> None:
    host = plan.host
    for name, ladder in (("assign", host.demotion), ("host", host.own_levels)):
        if ladder is not None and ladder.followed:
            findings.omit(f"{name}.controller: thresholds stay as they were found at the start")
    if host.demotion is not None:
        return
    if len(plan.scheme_queues) < 2:
        return
    findings.note(f"classes by: {host.classes_by}. Applications set them with IP_TOS (export hosts)")
    if host.assign["kind"] != "none":
        findings.omit(f"the rule `{host.assign['kind']}`: what starts a flow has to apply it")
    if host.admission["kind"] != "none":
        findings.omit(f"admission by `{host.admission['kind']}`: it takes a library of applications")


def _overwritten(*, demoted: bool, several: bool) -> str:
    """The DSCPs of others that mark.nft overwrites; empty where it writes none."""
    if not several:
        return ""
    return "every DSCP below 48" if demoted else "every DSCP below 48 that the scheme lacks"


def _list_match(match: Match | None, overwritten: str, findings: Findings) -> None:
    limits = "--match port=, address= or cgroup= limits the marks to flows"
    if match is None and overwritten:
        findings.note(
            f"{overwritten} of what the host sends is overwritten, that of voice, storage and management, too; {limits}"
        )
    elif match is None:
        findings.note(f"everything that the host sends gets a level of its queue, and keeps its DSCP; {limits}")
    else:
        findings.note("code points and priorities of flows that --match does not name stay as they are")
    if match is not None and match.cgroup:
        findings.note(
            f"the cgroup {match.cgroup} has to exist when mark.nft is loaded, and again after it was made anew"
        )


def _list_steps(findings: Findings, table: str, *, counted: bool) -> None:
    """The steps to load, verify and go back; `counted` says that conntrack has to count bytes."""
    if counted:
        findings.do("load", f"test -e before.conf || sysctl {_COUNTS} > before.conf")
        findings.do("load", f"sysctl -w {_COUNTS}=1")
    findings.do("load", "nft -c -f mark.nft, which only checks")
    findings.do("load", "nft -f mark.nft, which takes the place of an earlier one")
    findings.do("verify", f"nft list table {table}")
    findings.do("verify", "tcpdump -v -c 20 tcp, which shows the tos of packets")
    findings.do("roll back", f"nft delete table {table}")
    if counted:
        findings.do("roll back", "sysctl -p before.conf")


def _list_bytes(plan: ExportPlan, idle: int | None, findings: Findings) -> None:
    lasting = "a connection that stays open for many requests (RPC) is demoted for ever once it has sent enough"
    if idle is None:
        findings.change("bytes are those of a connection, not of a request", f"{lasting}; --idle 1s lets it begin anew")
    else:
        findings.change(
            "bytes are those of a connection, not of a request",
            f"{lasting}, and begins anew after {idle} s without a packet, when conntrack forgets it",
        )
        findings.note(
            "idle connections are picked up as new ones (net.netfilter.nf_conntrack_tcp_loose=1, Linux's default): "
            "firewall rules that refuse new connections without a SYN must not see them"
        )
    frame = plan.frame
    findings.change(
        f"bytes sent are those of IP packets as conntrack counts them, thresholds are x {frame.mtu}/{frame.payload} "
        f"and one packet ({frame.mtu} B)",
        "exact for full packets without TCP options and losses; timestamps demote 0.8 % sooner, what is sent again "
        "counts, and segmentation offload makes it up to 64 kB later (ip link set DEVICE gso_max_segs 1 avoids that)",
    )
    findings.change(
        "control packets keep the best class", "packets up to 80 B (IPv6: 100 B) are taken for ACKs and SYN"
    )
    findings.note("before connections begin: sysctl net.netfilter.nf_conntrack_acct=1 (export sysctl)")


def _ranges(plan: ExportPlan, ladder: Ladder, verdict: str, first: int = 0) -> str:
    """A map from bytes to verdicts by level; a level that no byte count reaches is left out."""
    frame = plan.frame
    ends = [math.ceil(Fraction(bytes_ * frame.mtu, frame.payload)) + frame.mtu for bytes_ in ladder.thresholds]
    parts = [
        f"{low}-{high - 1} : {verdict.format(f'{level + first:x}')}"
        for level, (low, high) in enumerate(zip([0, *ends], [*ends, _MOST_BYTES + 1], strict=True))
        if low < high
    ]
    return ", ".join(parts)


def _dscp(plan: ExportPlan, number: int) -> int:
    """The code point of a class; classes beyond the map have that of the last queue."""
    return next((queue.dscp for queue in plan.queues if number in queue.classes), plan.queues[-1].dscp)
