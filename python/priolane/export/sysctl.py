"""Linux's TCP as the scheme's transport: `sysctl.conf`, and module options of DCTCP.

Each key of the transport is set, is what Linux does anyway, or is listed. What Linux does: Documentation/networking/
ip-sysctl.rst, net/ipv4/tcp_dctcp.c and tcp_input.c.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

from priolane.export import quantity, switching
from priolane.export.deployment import Deployment
from priolane.export.files import render
from priolane.export.findings import Findings
from priolane.export.plan import Plan
from priolane.export.quantity import Limit, time_text

_US, _MS, _S = 10**6, 10**9, 10**12
_DCTCP_ALPHA = 1024
_MOST_SHIFT = 10
_RTO_MAX_MS = (1_000, 120_000)
_Set = dict[str, int | str]


def export(plan: Plan, deployment: Deployment, found: Findings) -> Mapping[str, str]:  # noqa: ARG001
    """sysctl.conf, and modprobe.conf with DCTCP."""
    host = plan.host
    if host.congestion_control is None:
        found.refuse(f"Linux has no congestion control `{host.transport}`: export hosts has its parameters")
    if plan.lacks:
        found.refuse(f"no switch here has {plan.lacks[0]}: TCP alone does not make the scheme")
    switching.refuse_unbounded(plan, found)
    if found.refusals:
        return {}
    found.coverage.hosts = True
    values: _Set = {"net.ipv4.tcp_congestion_control": host.congestion_control or ""}
    module: dict[str, int] = {}
    _set_ecn(plan, values, found)
    for key, value in host.parameters.items():
        setter = _SETTERS.get(key)
        if setter is None:
            _dctcp(key, value, module, found)
        else:
            setter(value, values, found)
    _set_marking(plan, values, found)
    content = {"plan": plan, "what": "TCP of hosts", "values": values, "module": module}
    found.note("classes, admission and the host's queue are not in here: export nft, tc and hosts")
    found.note("the values are the network namespace's, for all of its connections, whatever their scheme")
    files = {"sysctl.conf": render("sysctl.j2", content | {"findings": found.lines()})}
    if module:
        files["modprobe.conf"] = render("modprobe.j2", content | {"findings": []})
    return files


def _set_ecn(plan: Plan, values: _Set, found: Findings) -> None:
    marked = plan.host.congestion_control == "dctcp"
    values["net.ipv4.tcp_ecn"] = 1 if marked else 0
    if not marked:
        return
    values["net.ipv4.tcp_ecn_fallback"] = 0
    if not plan.host.parameters.get("ecn_control", False):
        found.change(
            "ACKs, SYN and what is sent again are ECN-capable, too",
            "Linux's DCTCP marks them so; simulated they are not, and are never marked",
        )


def _set_marking(plan: Plan, values: _Set, found: Findings) -> None:
    host = plan.host
    per_flow = host.nic.get("per_flow_limit")
    room = quantity.limit(per_flow) if per_flow is not None else None
    if room is not None:
        values["net.ipv4.tcp_limit_output_bytes"] = room.linux(plan.frame)
    if host.demotion is None and host.own_levels is None:
        return
    values |= {
        "net.ipv4.tcp_notsent_lowat": 131_072,
        "net.ipv4.tcp_min_tso_segs": 1,
        "net.netfilter.nf_conntrack_acct": 1,
    }
    found.note("tcp_notsent_lowat: what waits in a socket has its DSCP only when it leaves; less waits so")


def _min_rto(text: str, values: _Set, found: Findings) -> None:
    ps = quantity.picoseconds(text)
    micros = -(-ps // _US)
    values["net.ipv4.tcp_rto_min_us"] = micros
    found.note(
        f"tcp_rto_min_us is of Linux 6.11 and later; before: ip route change ... rto_min {time_text(micros * _US)}"
    )
    if micros * _US != ps:
        found.change(f"min_rto {text}", f"{micros} us, a whole number of microseconds")


def _max_rto(text: str, values: _Set, found: Findings) -> None:
    millis = -(-quantity.picoseconds(text) // _MS)
    least, most = _RTO_MAX_MS
    fitting = min(max(millis, least), most)
    values["net.ipv4.tcp_rto_max_ms"] = fitting
    found.note("tcp_rto_max_ms is of Linux 6.15 and later; 120 s before")
    if fitting * _MS != quantity.picoseconds(text):
        found.change(f"max_rto {text}", f"{fitting} ms: Linux takes whole ms from {least} to {most}")


def _initial_rto(text: str, values: _Set, found: Findings) -> None:  # noqa: ARG001
    if quantity.picoseconds(text) != _S:
        found.omit(f"initial_rto {text}: Linux waits 1 s for the first answer (BPF_SOCK_OPS_TIMEOUT_INIT changes it)")


def _init_window(text: str, values: _Set, found: Findings) -> None:  # noqa: ARG001
    window = quantity.limit(text)
    if window != Limit(packets=10):
        packets = "" if window is None or window.packets is None else f" initcwnd {window.packets}"
        found.omit(f"init_window {text}: Linux starts with 10 packets (ip route change ...{packets} changes it)")


def _handshake(text: str, values: _Set, found: Findings) -> None:  # noqa: ARG001
    if text != "1rtt":
        found.omit(f'handshake "{text}": keep connections open, so that flows begin without one')


def _recovery(text: str, values: _Set, found: Findings) -> None:
    if text == "gbn":
        found.omit('recovery "gbn": Linux sends again what is missing only')
        return
    values["net.ipv4.tcp_sack"] = 1 if text == "sack" else 0
    found.change(
        "losses are found by RACK (RFC 8985) besides duplicates", "simulated by RFC 6675, or RFC 6582 without SACK"
    )


def _dup_threshold(value: int, values: _Set, found: Findings) -> None:
    values["net.ipv4.tcp_reordering"] = min(value, 300)
    if value > 300:
        found.change(f"dup_threshold {value}", "300, the most that Linux takes (tcp_max_reordering)")


def _ack_every(value: int, values: _Set, found: Findings) -> None:  # noqa: ARG001
    if value != 2:
        cure = " (ip route change ... quickack 1)" if value == 1 else ""
        found.omit(f"ack_every {value}: Linux acknowledges every second full packet{cure}")


def _reliable(value: bool, values: _Set, found: Findings) -> None:  # noqa: ARG001, FBT001
    if not value:
        found.omit("reliable = false: TCP sends again")


def _max_window(text: str, values: _Set, found: Findings) -> None:
    if text != "unbounded":
        room = quantity.size(text)
        values["net.ipv4.tcp_rmem"] = f"4096 131072 {2 * room}"
        found.change(f"max_window {text}", "by the receive buffer, of which Linux offers about half as window")


def _nothing(value: Any, values: _Set, found: Findings) -> None:
    """The keys that another key settles: `ecn_control` by DCTCP, `ack_delay` by `ack_every`, `control_class` by nft."""


_SETTERS: dict[str, Callable[[Any, _Set, Findings], None]] = {
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


def _dctcp(key: str, value: Any, module: dict[str, int], found: Findings) -> None:
    """A key of DCTCP's own, or one that is not known."""
    if key == "g":
        shift = min(max(round(-math.log2(value)), 0), _MOST_SHIFT)
        module["dctcp_shift_g"] = shift
        if 2.0**-shift != value:
            found.change(f"g {value}", f"1/{2**shift}: Linux has powers of two")
    elif key == "alpha_0":
        module["dctcp_alpha_on_init"] = round(value * _DCTCP_ALPHA)
    elif key == "min_window":
        if value != 2:
            found.omit(f"min_window {value}: Linux's DCTCP has 2 packets")
    elif key == "reduction":
        if value != "proportional":
            found.change(f'reduction "{value}"', "Linux takes the window down over a round trip (RFC 6937)")
    else:
        found.omit(f"transport.{key} = {value}: not known to export")
