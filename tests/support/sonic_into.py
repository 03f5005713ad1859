"""The files of `priolane export sonic --into` for a configuration, and how a switch treats code points."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonpatch

import export_plans
from priolane.export.deployment import Deployment
from priolane.export.findings import ExportedFiles
from priolane.export.plan import ExportPlan, Routing
from priolane.export.present import read_present
from sonic_present import Config


def canonical(config: Config) -> bytes:
    return json.dumps(config, sort_keys=True, ensure_ascii=False).encode()


def exported(config: Config, plan: ExportPlan, folder: Path, routing: Routing = "own") -> ExportedFiles:
    path = folder / "config_db.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    present = read_present(path)
    placed = replace(plan, switches=(present.switch,), ports_are_named=True, routing=routing)
    return export_plans.run("sonic", placed, Deployment(present=present))


def applied(config: Config, patch: str) -> Config:
    """The configuration after a patch, by the library that SONiC applies patches with."""
    result: Config = jsonpatch.apply_patch(config, json.loads(patch))
    return result


def treatment(config: Config, port: str, dscp: int) -> dict[str, Any]:
    """The way of a code point through a port, with the contents of every row on it; written without the code under
    test."""

    def row(table: str, number: str) -> Mapping[str, str]:
        for key, result in config.get(table, {}).items():
            name, _, numbers = key.partition("|")
            ends = numbers.split("-")
            if name == port and int(ends[0]) <= int(number) <= int(ends[-1]):
                return dict(result)
        return {}

    maps = config.get("PORT_QOS_MAP", {}).get(port, {})
    dscps = maps.get("dscp_to_tc_map", config.get("PORT_QOS_MAP", {}).get("global", {}).get("dscp_to_tc_map"))
    of = config["DSCP_TO_TC_MAP"][dscps].get(str(dscp), "0") if dscps else "0"
    queue = config["TC_TO_QUEUE_MAP"][maps["tc_to_queue_map"]].get(of, "0") if "tc_to_queue_map" in maps else "0"
    group = config["TC_TO_PRIORITY_GROUP_MAP"][maps["tc_to_pg_map"]].get(of) if "tc_to_pg_map" in maps else None
    served = row("QUEUE", queue)
    return {
        "class": of,
        "queue": queue,
        "group": group,
        "scheduler": config["SCHEDULER"].get(served.get("scheduler", "")),
        "marks": config["WRED_PROFILE"].get(served.get("wred_profile", "")),
        "buffer": row("BUFFER_QUEUE", queue),
        "paused": {key: maps.get(key) for key in ("pfc_enable", "pfc_to_queue_map", "dot1p_to_tc_map")},
    }


def bare(ports: int = 3) -> Config:
    """A switch without any QoS: no maps, queues or schedulers."""
    return {"PORT": {f"Ethernet{4 * port}": {"speed": "10000", "lanes": str(port)} for port in range(ports)}}
