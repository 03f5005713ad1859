"""SONiC: the tables of config_db.json that make a scheme's queues, marking, buffer and lossless classes.

Neither PORT nor DEVICE_METADATA is written: lanes, aliases and the platform are the switch's own.
"""

from collections.abc import Mapping

from priolane.export import ports, sonic_effects, sonic_into, sonic_rows, switching
from priolane.export.deployment import Deployment, Headroom
from priolane.export.files import render_by_role
from priolane.export.findings import Findings
from priolane.export.plan import ROUTING_LEVEL, ExportPlan, Switch
from priolane.export.sonic_check import Device, check
from priolane.storage.files import ascii_json

_MAP = "PRIOLANE"
_NAMES = "Ethernet{0}"
_Config = dict[str, dict[str, dict[str, str]]]


def export(plan: ExportPlan, deployment: Deployment, findings: Findings) -> Mapping[str, str]:
    """config_db.json for each kind of switch, or what a present configuration takes."""
    if switching.is_refused(plan, findings, "SONiC"):
        return {}
    switching.refuse_marking_per_port(plan, findings, "SONiC")
    if deployment.present is not None:
        return {} if findings.refusals else sonic_into.export(plan, deployment, deployment.present, findings)
    switching.refuse_queues(plan, findings)
    _refuse_pause(plan, deployment, findings)
    if findings.refusals:
        return {}
    switching.note_queues(plan, findings)
    switching.note_hosts(findings)
    findings.do("load", "sudo config checkpoint before-priolane")
    findings.do("load", "sudo config load config_db.json, which merges; config qos reload would undo it")
    findings.do("verify", "show runningconfiguration all")
    findings.do("verify", sonic_effects.counters([(queue.label, queue.level) for queue in plan.scheme_queues]))
    findings.do("verify", "sudo config save -y, when all is as it should be: until then a reboot goes back")
    findings.do("roll back", "sudo config rollback before-priolane")
    return render_by_role(
        plan,
        _NAMES,
        findings,
        lambda switch: ("config_db.json", ascii_json(_config(plan, switch, deployment, findings))),
    )


def _refuse_pause(plan: ExportPlan, deployment: Deployment, findings: Findings) -> None:
    if plan.pause is None:
        return
    if deployment.headroom is None:
        findings.refuse(
            "PFC headroom is by platform, speed and cable: give the platform's file as --headroom "
            "pg_profile_lookup.ini, and --cable such as 40m"
        )
        return
    rates = {bps for switch in plan.switches for bps in switch.rates}
    for bps in sorted(rates):
        if bps // 10**6 not in deployment.headroom:
            findings.refuse(f"the --headroom file has no row for {bps // 10**6} Mbit/s and --cable {deployment.cable}")


def _config(plan: ExportPlan, switch: Switch, deployment: Deployment, findings: Findings) -> _Config:
    named = ports.by_name(switch, _NAMES)
    config: _Config = {**_maps(plan), "SCHEDULER": _schedulers(plan, findings), "QUEUE": {}, "PORT_QOS_MAP": {}}
    marks = sonic_rows.marks(plan, switch, findings)
    if marks:
        config["WRED_PROFILE"] = {_wred_name(marks[bps]): marks[bps].row for bps in switch.rates}
    for name, bps in named:
        config["PORT_QOS_MAP"][name] = _port_map(plan)
        for queue in plan.queues:
            row = {"scheduler": _scheduler_name(queue.level)}
            if marks and queue.classes:
                row["wred_profile"] = _wred_name(marks[bps])
            config["QUEUE"][f"{name}|{queue.level}"] = row
        if plan.routing == "own":
            config["QUEUE"][f"{name}|{ROUTING_LEVEL}"] = {"scheduler": _scheduler_name(ROUTING_LEVEL)}
    _add_buffer(config, plan, (switch, named), (deployment, findings))
    device = Device({name for name, _ in named}, deployment.memory, _stated(deployment))
    for fault in check(config, device):
        findings.refuse(f"{switch.role}: {fault}")
    return config


def _stated(deployment: Deployment) -> set[tuple[int, int]]:
    return {(row.xon, row.xoff) for row in (deployment.headroom or {}).values()}


def _maps(plan: ExportPlan) -> _Config:
    levels = sorted({queue.level for queue in plan.queues} | {plan.routing_level})
    lossless = {queue.level for queue in plan.queues if queue.lossless}
    maps = {
        "DSCP_TO_TC_MAP": {_MAP: {str(dscp): str(plan.level_of(dscp)) for dscp in range(64)}},
        "TC_TO_QUEUE_MAP": {_MAP: {str(level): str(level) for level in levels}},
        "TC_TO_PRIORITY_GROUP_MAP": {_MAP: {str(level): str(level if level in lossless else 0) for level in levels}},
    }
    if lossless:
        maps["MAP_PFC_PRIORITY_TO_QUEUE"] = {_MAP: {str(level): str(level) for level in sorted(lossless)}}
    return maps


def _port_map(plan: ExportPlan) -> dict[str, str]:
    row = {"dscp_to_tc_map": _MAP, "tc_to_queue_map": _MAP, "tc_to_pg_map": _MAP}
    lossless = ",".join(str(queue.level) for queue in reversed(plan.queues) if queue.lossless)
    if lossless:
        row |= {"pfc_to_queue_map": _MAP, "pfc_enable": lossless}
        if plan.pause is not None and plan.pause.watchdog is not None:
            row["pfcwd_sw_enable"] = lossless
    return row


def _scheduler_name(level: int) -> str:
    return f"priolane.q{level}"


def _schedulers(plan: ExportPlan, findings: Findings) -> dict[str, dict[str, str]]:
    weights = sonic_rows.weights(plan, findings)
    rows = {
        _scheduler_name(queue.level): (
            {"type": "DWRR", "weight": str(weights[queue.level])} if queue.level in weights else {"type": "STRICT"}
        )
        for queue in plan.queues
    }
    if plan.routing == "own":
        rows[_scheduler_name(ROUTING_LEVEL)] = {"type": "STRICT"}
    return rows


def _wred_name(marks: sonic_rows.Wred) -> str:
    return f"PRIOLANE_{marks.label}"


def _add_buffer(
    config: _Config, plan: ExportPlan, of: tuple[Switch, list[tuple[str, int]]], by: tuple[Deployment, Findings]
) -> None:
    """Pools and profiles of a dynamic buffer; any other stays as the switch has it."""
    (switch, named), (deployment, findings) = of, by
    buffer = plan.buffer
    if buffer.sharing != "dynamic":
        switching.omit_port_room(plan, findings, "SONiC")
        return
    exponent = switching.power_of_two(buffer.alpha, findings, "alpha")
    memory = buffer.memory
    if deployment.memory is None:
        findings.note(f"BUFFER_POOL has the experiment's {memory} B: give --memory to compare it with the switch's")
    lossless = [queue.level for queue in plan.queues if queue.lossless]
    reserved = _add_headroom(config, plan, named, (deployment, findings)) if lossless else 0
    if reserved >= memory:
        findings.refuse(f"{switch.role}: headroom takes {reserved} B, the buffer has {memory} B")
        return
    pools = config.setdefault("BUFFER_POOL", {})
    profiles = config.setdefault("BUFFER_PROFILE", {})
    shared = memory - reserved
    pools["ingress_lossless_pool"] = {"type": "ingress", "mode": "dynamic", "size": str(shared)}
    pools["egress_lossy_pool"] = {"type": "egress", "mode": "dynamic", "size": str(shared)}
    # What comes in without PFC is limited where it leaves.
    profiles["ingress_lossy_profile"] = {"pool": "ingress_lossless_pool", "size": "0", "static_th": str(shared)}
    profiles["egress_lossy_profile"] = {"pool": "egress_lossy_pool", "size": "0", "dynamic_th": str(exponent)}
    if lossless:
        pools["ingress_lossless_pool"]["xoff"] = str(reserved)
        pools["egress_lossless_pool"] = {"type": "egress", "mode": "static", "size": str(memory)}
        profiles["egress_lossless_profile"] = {
            "pool": "egress_lossless_pool",
            "size": "0",
            "static_th": str(memory),
        }
    groups, queues = config.setdefault("BUFFER_PG", {}), config.setdefault("BUFFER_QUEUE", {})
    levels = [queue.level for queue in plan.queues] + ([ROUTING_LEVEL] if plan.routing == "own" else [])
    for name, _ in named:
        groups[f"{name}|0"] = {"profile": "ingress_lossy_profile"}
        for level in levels:
            kind = "lossless" if level in lossless else "lossy"
            queues[f"{name}|{level}"] = {"profile": f"egress_{kind}_profile"}


def _add_headroom(
    config: _Config, plan: ExportPlan, named: list[tuple[str, int]], by: tuple[Deployment, Findings]
) -> int:
    """Profiles and priority groups of lossless classes; returns the bytes of headroom of all ports."""
    deployment, findings = by
    assert plan.pause is not None
    assert deployment.headroom is not None
    xoff = plan.pause.xoff
    limit = (
        {"static_th": str(xoff)}
        if isinstance(xoff, int)
        else {"dynamic_th": str(switching.power_of_two(xoff, findings, "xoff"))}
    )
    profiles, groups = config.setdefault("BUFFER_PROFILE", {}), config.setdefault("BUFFER_PG", {})
    reserved = 0
    for name, bps in named:
        row = deployment.headroom[bps // 10**6]
        profile = f"pg_lossless_{bps // 10**6}_{deployment.cable}_profile"
        profiles[profile] = _lossless(row, limit)
        for queue in plan.queues:
            if queue.lossless:
                groups[f"{name}|{queue.level}"] = {"profile": profile}
                reserved += row.xoff
    findings.change(
        f"a class is resumed {plan.pause.resume} B below xoff",
        "SONiC resumes by xon and xon_offset of the platform's file",
    )
    if plan.pause.watchdog is None:
        findings.note("no PFC watchdog is set (PFC_WD): a cycle of pauses would last")
    else:
        config["PFC_WD"] = sonic_rows.watchdog(plan.pause.watchdog, [name for name, _ in named], findings)
    return reserved


def _lossless(row: Headroom, limit: Mapping[str, str]) -> dict[str, str]:
    """The profile of a lossless priority group: the platform's headroom above a limit of the scheme."""
    profile = {
        "pool": "ingress_lossless_pool",
        "size": str(row.size),
        "xon": str(row.xon),
        "xoff": str(row.xoff),
        **limit,
    }
    if row.xon_offset is not None:
        profile["xon_offset"] = str(row.xon_offset)
    return profile
