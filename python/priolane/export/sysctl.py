"""Linux's TCP as the scheme's transport: `routes.sh`, `sysctl.conf`, and module options of DCTCP and CUBIC.

Congestion control and timeouts are those of routes to the datacenter: DCTCP is not for the Internet (RFC 8257), and
neither is a short timeout. What Linux has no metric of routes for is the whole host's. Each key of the transport is
set, is what Linux does anyway, or is listed. What Linux does: Documentation/networking/ip-sysctl.rst,
net/ipv4/tcp_dctcp.c, tcp_cubic.c and tcp_input.c.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from priolane.export import quantity, switching
from priolane.export.deployment import Deployment
from priolane.export.files import render
from priolane.export.findings import Findings
from priolane.export.plan import ExportPlan

_US, _MS, _S = 10**6, 10**9, 10**12
_DCTCP_ALPHA = 1024
_MOST_SHIFT = 10
# CUBIC's keys as options of its module, and how many parts of 1 each counts; C is `bic_scale * 10 / 1024`.
_CUBIC = {"c": ("bic_scale", 102.4), "beta": ("beta", 1_024), "fast_convergence": ("fast_convergence", 1)}
_CUBIC_DEFAULTS = {"bic_scale": 41, "beta": 717, "fast_convergence": 1}
_RTO_MAX_MS = (1_000, 120_000)


@dataclass
class _Settings:
    """Keys of sysctl, which are the whole host's, and metrics of routes."""

    sysctl: dict[str, int | str] = field(default_factory=dict)
    metrics: dict[str, int | str] = field(default_factory=dict)


def export(plan: ExportPlan, deployment: Deployment, findings: Findings) -> Mapping[str, str]:
    """routes.sh, sysctl.conf where something is the whole host's, and modprobe.conf with options of a module."""
    host = plan.host
    if host.congestion_control is None:
        findings.refuse(f"Linux has no congestion control `{host.transport}`: export hosts has its parameters")
    if plan.lacks:
        findings.refuse(f"no switch here has {plan.lacks[0]}: TCP alone does not make the scheme")
    switching.refuse_unbounded(plan, findings)
    if not findings.refusals and not deployment.prefixes:
        findings.refuse(
            f"{host.congestion_control} and its timeouts are for the datacenter, not for the Internet: name its "
            "addresses, such as --prefix 10.0.0.0/8,fd00::/8 (0.0.0.0/0,::/0 are all)"
        )
    if findings.refusals:
        return {}
    findings.coverage.hosts = True
    values = _Settings()
    module: dict[str, int] = {}
    _note_ecn(plan, findings)
    own = _cubic if host.congestion_control == "cubic" else _dctcp
    for key, value in host.parameters.items():
        setter = _SETTERS.get(key)
        if setter is None:
            own(key, value, module, findings)
        else:
            setter(value, values, findings)
    _set_marking(plan, values, findings)
    findings.note("classes, admission and the host's queue are not in here: export nft, tc and hosts")
    if values.sysctl:
        findings.note("sysctl.conf is for all connections of the network namespace, whatever their route and scheme")
    _note_steps(values, module, findings)
    content = {
        "plan": plan,
        "values": values.sysctl,
        "metrics": values.metrics,
        "module": module,
        "congestion_control": host.congestion_control,
        "prefixes": [str(prefix) for prefix in deployment.prefixes],
    }
    content |= {"what": "TCP of hosts, by route: sh routes.sh"}
    files = {"routes.sh": render("routes.j2", content | {"findings": findings.lines()})}
    content |= {"what": "TCP of hosts"}
    if values.sysctl:
        files["sysctl.conf"] = render("sysctl.j2", content | {"findings": findings.lines()})
    if module:
        files["modprobe.conf"] = render("modprobe.j2", content | {"findings": []})
    return files


def _note_ecn(plan: ExportPlan, findings: Findings) -> None:
    """Routes with DCTCP ask for ECN by themselves, in both directions."""
    if plan.host.congestion_control != "dctcp":
        return
    findings.note(
        "a SYN that is sent again does not ask for ECN (net.ipv4.tcp_ecn_fallback, which is the whole host's)"
    )
    if not plan.host.parameters.get("ecn_control", False):
        findings.change(
            "ACKs, SYN and what is sent again are ECN-capable, too",
            "Linux's DCTCP marks them so; simulated they are not, and are never marked",
        )


def _set_marking(plan: ExportPlan, values: _Settings, findings: Findings) -> None:
    host = plan.host
    per_flow = host.nic.get("per_flow_limit")
    room = quantity.limit(per_flow) if per_flow is not None else None
    if room is not None:
        values.sysctl["net.ipv4.tcp_limit_output_bytes"] = room.linux(plan.frame)
    if host.demotion is None and host.own_levels is None:
        return
    values.sysctl |= {
        "net.ipv4.tcp_notsent_lowat": 131_072,
        "net.ipv4.tcp_min_tso_segs": 1,
        "net.netfilter.nf_conntrack_acct": 1,
    }
    findings.note("tcp_notsent_lowat: what waits in a socket has its DSCP only when it leaves; less waits so")


def _min_rto(text: str, values: _Settings, findings: Findings) -> None:
    ps = quantity.picoseconds(text)
    millis = -(-ps // _MS)
    values.metrics["rto_min"] = f"{millis}ms"
    if millis * _MS != ps:
        findings.change(f"min_rto {text}", f"{millis} ms: routes have whole milliseconds")
    findings.note("rto_min is rounded up to ticks of the kernel (CONFIG_HZ): 4 ms with 250 a second")


def _max_rto(text: str, values: _Settings, findings: Findings) -> None:
    millis = -(-quantity.picoseconds(text) // _MS)
    least, most = _RTO_MAX_MS
    fitting = min(max(millis, least), most)
    values.sysctl["net.ipv4.tcp_rto_max_ms"] = fitting
    findings.note("tcp_rto_max_ms is of Linux 6.15 and later; 120 s before")
    if fitting * _MS != quantity.picoseconds(text):
        findings.change(f"max_rto {text}", f"{fitting} ms: Linux takes whole ms from {least} to {most}")


def _initial_rto(text: str, values: _Settings, findings: Findings) -> None:  # noqa: ARG001
    if quantity.picoseconds(text) != _S:
        findings.omit(
            f"initial_rto {text}: Linux waits 1 s for the first answer (BPF_SOCK_OPS_TIMEOUT_INIT changes it)"
        )


def _init_window(text: str, values: _Settings, findings: Findings) -> None:
    window = quantity.limit(text)
    if window is not None and window.packets is not None:
        values.metrics["initcwnd"] = window.packets
    else:
        findings.omit(f"init_window {text}: Linux has whole packets, and starts with 10")


def _handshake(text: str, values: _Settings, findings: Findings) -> None:  # noqa: ARG001
    if text != "1rtt":
        findings.omit(f'handshake "{text}": keep connections open, so that flows begin without one')


def _recovery(text: str, values: _Settings, findings: Findings) -> None:
    if text == "gbn":
        findings.omit('recovery "gbn": Linux sends again what is missing only')
        return
    values.sysctl["net.ipv4.tcp_sack"] = 1 if text == "sack" else 0
    findings.change(
        "losses are found by RACK (RFC 8985) besides duplicates", "simulated by RFC 6675, or RFC 6582 without SACK"
    )


def _dup_threshold(value: int, values: _Settings, findings: Findings) -> None:
    values.metrics["reordering"] = min(value, 300)
    if value > 300:
        findings.change(f"dup_threshold {value}", "300, the most that Linux takes (tcp_max_reordering)")


def _ack_every(value: int, values: _Settings, findings: Findings) -> None:
    if value == 1:
        values.metrics["quickack"] = 1
    elif value != 2:
        findings.omit(f"ack_every {value}: Linux acknowledges every second full packet")


def _reliable(value: bool, values: _Settings, findings: Findings) -> None:  # noqa: ARG001, FBT001
    if not value:
        findings.omit("reliable = false: TCP sends again")


def _max_window(text: str, values: _Settings, findings: Findings) -> None:
    if text != "unbounded":
        room = quantity.size(text)
        values.sysctl["net.ipv4.tcp_rmem"] = f"4096 131072 {2 * room}"
        findings.change(f"max_window {text}", "by the receive buffer, of which Linux offers about half as window")


def _nothing(value: Any, values: _Settings, findings: Findings) -> None:
    """The keys that another key settles: `ecn_control` by DCTCP, `ack_delay` by `ack_every`, `control_class` by nft."""


def _note_steps(values: _Settings, module: Mapping[str, int], findings: Findings) -> None:
    if module:
        findings.do("load", "modprobe.conf to /etc/modprobe.d/priolane.conf, then modprobe the module that it names")
    if values.sysctl:
        keys = " ".join(values.sysctl)
        findings.do("load", f"test -e before.conf || sysctl {keys} > before.conf")
        findings.do("load", "sysctl -p sysctl.conf")
    findings.do("load", "sh routes.sh, again when routes were made anew")
    findings.do("verify", "ip route, ip -6 route; ss -ti shows the congestion control of each connection")
    findings.do("roll back", "PRIOLANE=back sh routes.sh")
    if values.sysctl:
        findings.do("roll back", "sysctl -p before.conf")
    if module:
        findings.do("roll back", "rm /etc/modprobe.d/priolane.conf")


_SETTERS: dict[str, Callable[[Any, _Settings, Findings], None]] = {
    "min_rto": _min_rto,
    "max_rto": _max_rto,
    "initial_rto": _initial_rto,
    "init_window": _init_window,
    "handshake": _handshake,
    "recovery": _recovery,
    "dup_threshold": _dup_threshold,
    "ack_every": _ack_every,
    "reliable": _reliable,
    "max_window": _max_window,
    "ecn_control": _nothing,
    "ack_delay": _nothing,
    "control_class": _nothing,
}


def _dctcp(key: str, value: Any, module: dict[str, int], findings: Findings) -> None:
    """A key of DCTCP's own, or one that is not known."""
    if key == "g":
        shift = min(max(round(-math.log2(value)), 0), _MOST_SHIFT)
        module["dctcp_shift_g"] = shift
        if 2.0**-shift != value:
            findings.change(f"g {value}", f"1/{2**shift}: Linux has powers of two")
    elif key == "alpha_0":
        module["dctcp_alpha_on_init"] = round(value * _DCTCP_ALPHA)
    elif key == "min_window":
        if value != 2:
            findings.omit(f"min_window {value}: Linux's DCTCP has 2 packets")
    elif key == "reduction":
        if value != "proportional":
            findings.change(f'reduction "{value}"', "Linux takes the window down over a round trip (RFC 6937)")
    else:
        findings.omit(f"transport.{key} = {value}: not known to export")


def _cubic(key: str, value: Any, module: dict[str, int], findings: Findings) -> None:
    """A key of CUBIC's own, or one that is not known; what Linux has by default is not written."""
    if key in _CUBIC:
        name, parts = _CUBIC[key]
        known = round(value * parts)
        if known != _CUBIC_DEFAULTS[name]:
            module[name] = known
    elif key == "hystart":
        if not value:
            module["hystart"] = 0
            return
        findings.change("slow start ends by HyStart++ (RFC 9406)", "Linux's HyStart also ends it by trains of ACKs")
    elif not key.startswith("hystart_"):
        findings.omit(f"transport.{key} = {value}: not known to export")
