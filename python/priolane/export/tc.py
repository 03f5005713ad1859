"""Linux tc: switch ports (`switch.sh`) and hosts' own queues (`host.sh`).

Two ways (`--qdisc`): `ets` with RED for marks, or `htb`, for kernels without them, which marks nothing.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from priolane.export import ports, quantity, switching
from priolane.export.coverage import kind_line
from priolane.export.deployment import Deployment, Qdisc
from priolane.export.files import render, render_by_role
from priolane.export.findings import Findings
from priolane.export.plan import Buffer, ExportPlan, Switch
from priolane.export.quantity import Limit

HANDLE = "7072"
"""The handle of the qdisc at the root, by which it is known for priolane's; its classes are `7072:1` and so on."""
_NAMES = "swp{1}"
_BANDS = 16
# HTB has eight levels of strict priority.
_HTB_LEVELS = 8
# A queue without a limit: 32 bits of bytes.
_ENDLESS = 2**32 - 1
_GUARANTEE_BPS = 8_000
_RED_EXPONENTS = 31
_LEAST_BURST = 1_600
_BURST_S = 1e-5


@dataclass(frozen=True)
class Line:
    """A device: its rate in bit/s; in bytes as Linux counts, the marking threshold, room of a queue and a packet.

    `device` is its name, or `None` for the first argument of the script. `exponent` is n of the weight 2^-n in RED's
    average.
    """

    device: str | None
    rate: int
    mark: int
    room: int
    avpkt: int
    exponent: int = 1

    @property
    def burst(self) -> int:
        """Of HTB, in bytes: ten microseconds, and no less than a packet."""
        return max(_LEAST_BURST, math.ceil(self.rate * _BURST_S / 8))

    @property
    def red_burst(self) -> int:
        """Packets: the fewest from which tc finds the weight; the fewest of all that it takes give 1/2."""
        least = max(1, math.ceil(self.mark / self.avpkt))
        burst = least
        while self._exponent_of(burst) < self.exponent:
            burst += 1
        return burst if self._exponent_of(burst) <= _RED_EXPONENTS else max(least, burst - 1)

    @property
    def red_exponent(self) -> int:
        """The n of the weight 2^-n that RED has with that burst."""
        return self._exponent_of(self.red_burst)

    def _exponent_of(self, burst: int) -> int:
        """The n that tc finds for a burst (`tc_red_eval_ewma`): the least whose average stays below the mark."""
        above = burst + 1 - self.mark / self.avpkt
        of_burst = ((1 - (1 - 2**-n) ** burst) * 2**n for n in range(1, _RED_EXPONENTS + 1))
        return next((n for n, average in enumerate(of_burst, 1) if above <= average), _RED_EXPONENTS + 1)


def export(plan: ExportPlan, deployment: Deployment, findings: Findings) -> Mapping[str, str]:
    """switch.sh for each kind of switch, host.sh for hosts."""
    if switching.is_refused(plan, findings, "Linux"):
        return {}
    _refuse(plan, deployment.qdisc, findings)
    if findings.refusals:
        return {}
    switching.note_queues(plan, findings)
    findings.note("names of ports are swp1, swp2, ... unless --ports names them")
    files = render_by_role(
        plan, _NAMES, findings, lambda switch: ("switch.sh", _switch(plan, switch, deployment.qdisc, findings))
    )
    findings.do("load", "sh switch.sh at each switch; it refuses the root qdisc of others (PRIOLANE=replace prints it)")
    findings.do("verify", "tc -s qdisc show, tc -s class show dev DEVICE at each port")
    findings.do("roll back", "PRIOLANE=back sh switch.sh")
    host = _host(plan, deployment.qdisc, findings)
    if host is not None:
        findings.do("load", "sh host.sh DEVICE at each host")
        findings.do("roll back", "PRIOLANE=back sh host.sh DEVICE")
    findings.coverage.hosts = host is not None
    return files | ({"host.sh": host} if host else {})


def _refuse(plan: ExportPlan, qdisc: Qdisc, findings: Findings) -> None:
    if plan.pause is not None:
        findings.refuse("lossless classes (PFC): qdiscs have none; a switch ASIC does, export dcb for its driver")
    if qdisc == "ets":
        switching.refuse_queues(plan, findings, _BANDS)
    elif plan.strict_queues:
        switching.refuse_queues(plan, findings, _HTB_LEVELS)
    for name in (name for switch in plan.switches for name in ports.not_linux(switch)):
        findings.refuse(f"the port {name}: Linux has names of at most 15 bytes without `/` and `:`")


def _switch(plan: ExportPlan, switch: Switch, qdisc: Qdisc, findings: Findings) -> str:
    """The script of a switch: a function for a port, and a call for each."""
    named = ports.by_name(switch, _NAMES)
    switching.change_proportions(plan, switch, findings)
    _list_room(plan, findings)
    lines = [_line(plan, name, bps, findings) for name, bps in named]
    return _script(plan, qdisc, findings, {"lines": lines, "what": f"ports of {kind_line(switch)}"})


def _script(plan: ExportPlan, qdisc: Qdisc, findings: Findings, more: Mapping[str, Any]) -> str:
    marked = plan.marking is not None
    if qdisc == "htb":
        if marked:
            findings.omit("ECN: htb marks nothing (--qdisc ets does)")
        if plan.strict_queues and plan.queue_count > 1:
            findings.change("strict priority by htb", f"each class keeps a guarantee of {_GUARANTEE_BPS} bit/s first")
    elif plan.marking is not None and plan.marking.average is None:
        findings.change(
            "marks by RED", "by an average in which the newest queue length counts half; simulated by the queue itself"
        )
    bands = len(plan.queues)
    return render(
        f"tc_{qdisc}.j2",
        {
            "plan": plan,
            "bands": bands,
            "first": 2 if plan.routing == "own" else 1,
            "own_routing": plan.routing == "own",
            "per_port": plan.marking is not None and not plan.marking.per_queue and bands > 1,
            "marked": marked,
            "quantum": plan.frame.linux,
            "total": sum(queue.weight or 0 for queue in plan.queues),
            "guarantee": _GUARANTEE_BPS,
            **more,
            "findings": findings.lines(),
        },
    )


def _line(plan: ExportPlan, device: str | None, bps: int, findings: Findings) -> Line:
    stated = switching.average_exponent(plan, findings, _RED_EXPONENTS)
    mark = plan.marking.threshold(bps).limit.linux(plan.frame) if plan.marking is not None else 0
    room = _room(plan, bps)
    line = Line(device=device, rate=bps, mark=mark, room=room, avpkt=plan.frame.linux, exponent=max(1, stated))
    if plan.marking is not None and plan.marking.average is not None and line.red_exponent != stated:
        findings.change(
            f"ecn.average 2^-{stated} is 2^-{line.red_exponent}",
            "tc finds it from the threshold and a burst of packets",
        )
    return line


def _room(plan: ExportPlan, bps: int) -> int:
    """Bytes of a queue at a rate."""
    buffer = plan.buffer
    if buffer.sharing == "dynamic":
        return min(buffer.alone, _ENDLESS)
    limit = buffer.limit_at(bps)
    return _ENDLESS if limit is None else limit.linux(plan.frame)


def _list_room(plan: ExportPlan, findings: Findings) -> None:
    queues, buffer = len(plan.queues), plan.buffer
    if buffer.sharing == "dynamic":
        findings.change(
            f"a buffer of {buffer.memory} B shared with alpha {buffer.alpha}",
            f"each queue has {min(buffer.alone, _ENDLESS)} B of its own, what one queue may hold alone",
        )
    elif buffer.sharing == "port" and buffer.limit is not None and queues > 1:
        findings.change(
            f"room of a port ({buffer.limit}) shared by its queues",
            f"each of {queues} queues has as much of its own, {queues} times in all",
        )


def _host(plan: ExportPlan, qdisc: Qdisc, findings: Findings) -> str | None:
    """The script of a host's transmit queue; `None` where the scheme has none that Linux has."""
    host = plan.host
    kind = host.nic.get("queue", "port")
    if kind == "ports":
        return _host_as_ports(plan, qdisc, findings)
    limit = quantity.limit(host.nic.get("limit", "unbounded"))
    if len(host.rates) > 1:
        findings.note(f"host.sh is for lines of {quantity.rate_text(host.rates[-1])}; change the rate for others")
    if host.nic.get("ecn"):
        findings.omit("marks at the host's own queue (nic.ecn)")
    if "per_flow_limit" in host.nic:
        findings.note("nic.per_flow_limit is net.ipv4.tcp_limit_output_bytes: export sysctl")
    if host.own_levels is not None:
        if qdisc == "htb" and host.own_levels.levels > _HTB_LEVELS:
            findings.omit(f"{host.own_levels.levels} levels of the host's queue: htb has {_HTB_LEVELS}")
            return None
        return _levels(plan, qdisc, limit, findings)
    if host.order == "fifo" and kind == "fifo":
        return _own_queue(plan, "pfifo", limit, findings)
    if host.order == "round_robin" and kind == "pull":
        findings.note("host.sh: `fq` serves the flows of a host in turn; it needs the module sch_fq")
        return _own_queue(plan, "fq", None, findings)
    findings.omit(f"order of the host's packets `{host.order}` with nic `{kind}`: no qdisc has it (export hosts)")
    return None


def _host_as_ports(plan: ExportPlan, qdisc: Qdisc, findings: Findings) -> str:
    """A transmit queue of the kind of the switch ports, with room and marks of its own."""
    ecn = plan.host.nic.get("ecn") or None
    marking = None
    if ecn and plan.marking is not None:
        marking = replace(
            plan.marking,
            per_queue=ecn["per"] == "queue",
            at=quantity.by_rate(ecn["at"]),
            average=ecn.get("average"),
        )
    limit = quantity.limit(plan.host.nic.get("limit", "unbounded"))
    of_host = replace(plan, buffer=Buffer("port", limit), marking=marking)
    _list_room(of_host, findings)
    lines = [_line(of_host, None, bps, findings) for bps in plan.host.rates[-1:]]
    return _script(of_host, qdisc, findings, {"lines": lines, "what": "a host's line: sh host.sh DEVICE"})


def _levels(plan: ExportPlan, qdisc: Qdisc, limit: Limit | None, findings: Findings) -> str:
    ladder = plan.host.own_levels
    assert ladder is not None
    if limit is not None and ladder.levels > 1:
        findings.change(f"room of the host's queue ({limit})", f"each of {ladder.levels} levels has as much")
    findings.note("host.sh takes levels from mark.nft (`meta priority`): export nft too")
    rate = plan.host.rates[-1]
    room = _ENDLESS if limit is None else limit.linux(plan.frame)
    line = Line(device=None, rate=rate, mark=0, room=room, avpkt=plan.frame.linux)
    content = {"plan": plan, "levels": ladder.levels, "line": line, "qdisc": qdisc, "guarantee": _GUARANTEE_BPS}
    return render("tc_host_levels.j2", content | {"quantum": plan.frame.linux, "findings": findings.lines()})


def _own_queue(plan: ExportPlan, qdisc: str, limit: Limit | None, findings: Findings) -> str:
    packets = None
    if qdisc == "pfifo":
        if limit is None:
            findings.note("host.sh: a queue without a limit is one of 1,000,000 packets")
        packets = 1_000_000 if limit is None else math.ceil(limit.linux(plan.frame) / plan.frame.linux)
    content = {"plan": plan, "qdisc": qdisc, "packets": packets, "lines": [{"device": None}]}
    return render("tc_host_queue.j2", content | {"findings": findings.lines()})
