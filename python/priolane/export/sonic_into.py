"""SONiC with a present configuration: the difference that adds a scheme's queues, and the way back.

Each queue of the scheme takes a queue and a traffic class that nothing leads to, and a code point that goes where
DSCP 0 goes now. Maps are copied with these entries, and the copies given to the ports; rows of others stay. The last
class of a strict scheme shares with DSCP 0 by weight: strictly above it, bulk would starve other traffic.
"""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from priolane.export import json_patch, sonic_effects, sonic_places, sonic_rows, switching
from priolane.export.deployment import Deployment
from priolane.export.findings import Findings
from priolane.export.plan import ROUTING_LEVEL, ExportPlan
from priolane.export.present import Maps, Present, Row
from priolane.export.sonic_check import TABLES, Device, check
from priolane.export.sonic_effects import PATCH, ROLLBACK
from priolane.export.sonic_places import Place, Placement, has_routing_added
from priolane.storage.files import ascii_json

_MAP = "PRIOLANE"
_MAP_TABLES = {
    "dscp_to_tc_map": "DSCP_TO_TC_MAP",
    "tc_to_queue_map": "TC_TO_QUEUE_MAP",
    "tc_to_pg_map": "TC_TO_PRIORITY_GROUP_MAP",
}
_STRICT = {"type": "STRICT"}


def export(plan: ExportPlan, deployment: Deployment, present: Present, findings: Findings) -> Mapping[str, str]:
    """patch.json and rollback.json."""
    if plan.pause is not None:
        findings.refuse("lossless classes (PFC) need pools and headroom, which are the switch's own: not with --into")
    of = Placement(plan, present, deployment.free)
    if own := sorted({*of.own} & {*of.free}):
        findings.refuse(f"--free: DSCP {', '.join(map(str, own))} leads to a queue of the scheme; leave it out")
    sonic_places.refuse_code_points(of, findings)
    of = replace(of, places=sonic_places.find_places(of, findings))
    if findings.refusals:
        return {}
    sonic_effects.refuse_starving(of, findings)
    if findings.refusals:
        return {}
    config = _Merged(of, findings).merge()
    ports = {port.name or "" for port in present.switch.ports}
    before = check(_tables(present.config), Device(ports))
    for fault in check(_tables(config), Device(ports)):
        if fault not in before:
            findings.refuse(f"the result would not be right: {fault}")
    sonic_effects.say_what_others_lose(of, findings)
    sonic_effects.note(of, deployment, findings)
    patch = json_patch.difference(present.config, config)
    files = {PATCH: ascii_json(patch), ROLLBACK: ascii_json(json_patch.difference(config, present.config))}
    findings.coverage.add(present.switch, sorted(ports), " ".join(_names(patch)))
    return files


def _names(patch: list[dict[str, Any]]) -> Iterator[str]:
    """The names in what a patch changes: in paths, and in the rows of tables that it adds whole."""
    for each in patch:
        keys = json_patch.segments(each["path"])
        value = each.get("value")
        rows = list(value) if len(keys) == 1 and isinstance(value, dict) else []
        for key in (*keys, *rows):
            yield from key.split("|")


def _tables(config: Mapping[str, Any]) -> dict[str, Any]:
    return {name: rows for name, rows in config.items() if name in TABLES}


class _Merged:
    """The present configuration with the scheme in it, while it is made."""

    def __init__(self, of: Placement, findings: Findings) -> None:
        self.plan, self.present, self.places, self.free = of.plan, of.present, of.places, of.free
        self.findings = findings
        self.config: dict[str, Any] = copy.deepcopy(dict(of.present.config))
        self.copies: dict[tuple[str, str], str] = {}

    def merge(self) -> dict[str, Any]:
        """The whole configuration."""
        marks = sonic_rows.marks(self.plan, self.present.switch, self.findings)
        _omit_buffer(self.plan, self.findings)
        for port in self.present.switch.ports:
            name = port.name or ""
            maps = self.present.maps(name)
            self._set_maps(name, maps)
            if has_routing_added(self.present, name, maps):
                self._set_queue("QUEUE", name, ROUTING_LEVEL, {"scheduler": self._scheduler(_STRICT)})
                self.findings.change(
                    f"ports without a map of DSCPs, such as {name}: 48 to 63 get queue {ROUTING_LEVEL}, strict",
                    "now all are in queue 0",
                )
            for place in self.places:
                row = {"scheduler": self._scheduler(self._served(place, name, maps))}
                if marks:
                    row["wred_profile"] = self._wred(marks[port.rate])
                self._set_queue("QUEUE", name, place.number, row)
                rest = self.present.row_of("BUFFER_QUEUE", name, maps.queue_of(maps.class_of(0)))
                if rest is not None:
                    self._set_queue("BUFFER_QUEUE", name, place.number, dict(rest[1]))
        return self.config

    def _set_maps(self, port: str, maps: Maps) -> None:
        """Gives a port copies of its maps where they do not lead as the scheme's places say."""
        rest = maps.class_of(0)
        classes = {str(place.queue.dscp): place.traffic_class for place in self.places}
        classes |= {str(dscp): rest for dscp in self.free}
        queues = {place.traffic_class: str(place.number) for place in self.places}
        self._set_map(port, maps, "dscp_to_tc_map", maps.classes, classes)
        self._set_map(port, maps, "tc_to_queue_map", maps.queues, queues)
        if maps.groups is not None:
            group = maps.groups.get(rest, "0")
            self._set_map(
                port, maps, "tc_to_pg_map", maps.groups, {place.traffic_class: group for place in self.places}
            )

    def _set_map(self, port: str, maps: Maps, field: str, row: Row, more: Row) -> None:
        if maps.names[field] is not None and all(row.get(key) == value for key, value in more.items()):
            return
        base = maps.names[field] or ""
        name = self.copies.setdefault((field, base), f"{_MAP}_{sum(key[0] == field for key in self.copies) + 1}")
        self._row(_MAP_TABLES[field], name, {**row, **more})
        self.config.setdefault("PORT_QOS_MAP", {}).setdefault(port, {})[field] = name

    def _row(self, table: str, name: str, row: Row) -> str:
        self.config.setdefault(table, {})[name] = dict(row)
        return name

    def _served(self, place: Place, port: str, maps: Maps) -> Row:
        """The scheduler of a queue: by its weight, strict, or beside DSCP 0 with the weight of that."""
        queue = place.queue
        if queue.weight is not None:
            return {"type": "DWRR", "weight": str(sonic_rows.weights(self.plan, self.findings)[queue.level])}
        if place is not self.places[-1]:
            return _STRICT
        rest = maps.queue_of(maps.class_of(0))
        served = self.present.scheduler_of(port, rest)
        weight = served.get("weight", "1")
        self.findings.change(
            f"{queue.label} shares with DSCP 0 (queue {rest}) by weight {weight} each",
            "simulated with all other traffic in the same queue",
        )
        return {"type": served.get("type", "WRR"), "weight": weight}

    def _scheduler(self, row: Row) -> str:
        name = f"priolane.{row['type'].lower()}" + (f".{row['weight']}" if "weight" in row else "")
        return self._row("SCHEDULER", name, row)

    def _wred(self, marks: sonic_rows.Wred) -> str:
        return self._row("WRED_PROFILE", f"{_MAP}_{marks.label}", marks.row)

    def _set_queue(self, table: str, port: str, number: int, row: Row) -> None:
        """Sets the row of a queue; a row for a range of queues is cut, and stays for the others."""
        rows = self.config.setdefault(table, {})
        present = Present(self.present.path, self.config).row_of(table, port, number)
        if present is not None and present[0] != f"{port}|{number}":
            key, old = present
            if table == "BUFFER_QUEUE" and dict(old) == dict(row):
                return
            low, high = map(int, key.partition("|")[2].split("-"))
            del rows[key]
            for first, last in ((low, number - 1), (number + 1, high)):
                if first <= last:
                    rows[f"{port}|{first}" if first == last else f"{port}|{first}-{last}"] = dict(old)
        rows[f"{port}|{number}"] = dict(row)


def _omit_buffer(plan: ExportPlan, findings: Findings) -> None:
    if plan.buffer.sharing == "dynamic":
        findings.omit(
            f"a buffer of {plan.buffer.memory} B with alpha {plan.buffer.alpha}: pools and profiles of the switch "
            "stay, and the scheme's queues have the profile of DSCP 0's"
        )
    else:
        switching.omit_port_room(plan, findings, "SONiC")
