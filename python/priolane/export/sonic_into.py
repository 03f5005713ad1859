"""SONiC with a present configuration: the difference that adds a scheme's queues, and the way back.

Each queue of the scheme takes a queue and a traffic class that nothing leads to, and a code point that goes where
DSCP 0 goes now. Maps are copied with these entries, and the copies given to the ports; rows of others stay. The last
class of a strict scheme shares with DSCP 0 by weight: strictly above it, bulk would starve other traffic.
"""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from priolane.export import json_patch, sonic_rows, switching
from priolane.export.findings import Findings
from priolane.export.plan import ROUTING_DSCP, ROUTING_LEVEL, ExportPlan, Queue
from priolane.export.present import QUEUES, Maps, Present, Row
from priolane.export.sonic_check import TABLES, Device, check
from priolane.storage.files import ascii_json

PATCH, ROLLBACK = "patch.json", "rollback.json"
_MAP = "PRIOLANE"
_MAP_TABLES = {
    "dscp_to_tc_map": "DSCP_TO_TC_MAP",
    "tc_to_queue_map": "TC_TO_QUEUE_MAP",
    "tc_to_pg_map": "TC_TO_PRIORITY_GROUP_MAP",
}
_MOST_CLASSES = 16
_BGP = ROUTING_DSCP.start
_STRICT = {"type": "STRICT"}


@dataclass(frozen=True)
class Place:
    """The place of a queue of the scheme in the switch: the switch's queue, and the traffic class that leads there."""

    queue: Queue
    number: int
    traffic_class: str


def export(plan: ExportPlan, present: Present, found: Findings) -> Mapping[str, str]:
    """patch.json and rollback.json."""
    if plan.pause is not None:
        found.refuse("lossless classes (PFC) need pools and headroom, which are the switch's own: not with --into")
    _refuse_code_points(plan, present, found)
    places = _places(plan, present, found)
    if found.refusals:
        return {}
    _refuse_starving(plan, present, found)
    if found.refusals:
        return {}
    config = _Merged(plan, present, places, found).merge()
    ports = {port.name or "" for port in present.switch.ports}
    before = check(_tables(present.config), Device(ports))
    for fault in check(_tables(config), Device(ports)):
        if fault not in before:
            found.refuse(f"the result would not be right: {fault}")
    _say_what_others_lose(plan, present, places, found)
    _note(plan, present, places, found)
    patch = json_patch.difference(present.config, config)
    files = {PATCH: ascii_json(patch), ROLLBACK: ascii_json(json_patch.difference(config, present.config))}
    found.coverage.add(present.switch, sorted(ports), " ".join(_names(patch)))
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


def _own_points(plan: ExportPlan) -> tuple[int, ...]:
    return tuple(queue.dscp for queue in plan.scheme_queues)


def _refuse_code_points(plan: ExportPlan, present: Present, found: Findings) -> None:
    """Refuses code points that do not go where DSCP 0 goes: they are another's."""
    own = _own_points(plan)
    taken: dict[int, str] = {}
    free = set(range(1, _BGP)) - set(own)
    for port in present.switch.ports:
        maps = present.maps(port.name or "")
        free = {dscp for dscp in free if maps.class_of(dscp) == maps.class_of(0)}
        for dscp in own:
            if dscp == 0 or maps.class_of(dscp) != maps.class_of(0):
                taken.setdefault(dscp, f"{port.name} has it in traffic class {maps.class_of(dscp)}")
    if not taken:
        return
    others = iter(sorted(free, key=lambda dscp: (dscp % 8 != 0, -dscp)))
    cure = ",".join(str(next(others, "?") if dscp in taken else dscp) for dscp in own)
    says = "; ".join("DSCP 0 is other traffic's" if dscp == 0 else f"DSCP {dscp}: {taken[dscp]}" for dscp in taken)
    advice = f"--dscp {cure}, here and for hosts" if "?" not in cure else "no code point is free"
    found.refuse(f"code points are in use ({says}), where DSCP 0 is in another: {advice}")


def _places(plan: ExportPlan, present: Present, found: Findings) -> list[Place]:
    """The queues and traffic classes for the scheme, the best queue the highest of those that are free everywhere."""
    own = _own_points(plan)
    used: dict[int, str] = {}
    classes: set[str] = set()
    below = QUEUES
    for port in present.switch.ports:
        name = port.name or ""
        for number, says in present.queues_of_others(name, own).items():
            used.setdefault(number, f"{number} ({says})")
        maps = present.maps(name)
        classes |= present.classes_of_others(name, own).keys()
        below = min(below, _routing_queue(maps))
    free = [number for number in range(QUEUES) if number not in used]
    if plan.routing == "own" and _is_strict(plan):
        free = [number for number in free if number < below]
    needed = len(plan.scheme_queues)
    if len(free) < needed:
        has = ", ".join(map(str, free)) or "none"
        below_routing = " below that of routing protocols" if plan.routing == "own" and _is_strict(plan) else ""
        found.refuse(
            f"it takes {needed} free queues{below_routing}, and {has} of {QUEUES} {'is' if len(free) == 1 else 'are'}; "
            f"in use: {', '.join(used[number] for number in sorted(used))}. Fewer queues, or free some first"
        )
        return []
    chosen = sorted(free, reverse=True)[:needed]
    left = [str(number) for number in range(_MOST_CLASSES) if str(number) not in classes]
    places = []
    for queue, number in zip(plan.scheme_queues, chosen, strict=True):
        if not left:
            found.refuse(f"it takes {needed} traffic classes, and fewer of {_MOST_CLASSES} are free")
            return []
        name = str(number) if str(number) in left else left[0]
        left.remove(name)
        places.append(Place(queue, number, name))
    return places


def _is_strict(plan: ExportPlan) -> bool:
    """Whether a queue of the scheme goes before those of others: all but the last of strict ones do."""
    return plan.scheduler == "strict" and len(plan.scheme_queues) > 1


def _routing_queue(maps: Maps) -> int:
    return maps.queue_of(maps.class_of(_BGP))


def _has_routing_added(present: Present, port: str, maps: Maps) -> bool:
    """Whether a port has no queue for routing protocols, and gets one."""
    return not maps.are_set and present.row_of("QUEUE", port, ROUTING_LEVEL) is None


def _refuse_starving(plan: ExportPlan, present: Present, found: Findings) -> None:
    """Refuses strict queues above routing protocols, and a last queue that a strict one of DSCP 0 would starve."""
    for port in present.switch.ports:
        name = port.name or ""
        maps = present.maps(name)
        routing, rest = _routing_queue(maps), maps.queue_of(maps.class_of(0))
        if _is_strict(plan) and plan.routing == "own" and not _has_routing_added(present, name, maps):
            served = present.scheduler_of(name, routing).get("type", "WRR")
            if served != "STRICT":
                found.refuse(
                    f"routing protocols (DSCP {_BGP}) are in queue {routing}, which is served by weight: the scheme's "
                    "strict queues would go first. Give that queue a STRICT scheduler first, or --routing best if they "
                    "may wait"
                )
        if plan.scheduler == "strict" and present.scheduler_of(name, rest).get("type") == "STRICT":
            found.refuse(
                f"DSCP 0 is in queue {rest}, which is strict: the last class of the scheme would starve it, or starve "
                "below it. Give that queue a scheduler with a weight (DWRR) first"
            )
    if plan.routing == "best" and _is_strict(plan):
        found.change(
            "routing protocols stay in the queue that they are in", "they may wait behind the scheme's strict queues"
        )


class _Merged:
    """The present configuration with the scheme in it, while it is made."""

    def __init__(self, plan: ExportPlan, present: Present, places: list[Place], found: Findings) -> None:
        self.plan, self.present, self.places, self.found = plan, present, places, found
        self.config: dict[str, Any] = copy.deepcopy(dict(present.config))
        self.copies: dict[tuple[str, str], str] = {}

    def merge(self) -> dict[str, Any]:
        """The whole configuration."""
        marks = sonic_rows.marks(self.plan, self.present.switch, self.found)
        _omit_buffer(self.plan, self.found)
        for port in self.present.switch.ports:
            name = port.name or ""
            maps = self.present.maps(name)
            self._set_maps(name, maps)
            if _has_routing_added(self.present, name, maps):
                self._set_queue("QUEUE", name, ROUTING_LEVEL, {"scheduler": self._scheduler(_STRICT)})
                self.found.change(
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
            return {"type": "DWRR", "weight": str(sonic_rows.weights(self.plan, self.found)[queue.level])}
        if place is not self.places[-1]:
            return _STRICT
        rest = maps.queue_of(maps.class_of(0))
        served = self.present.scheduler_of(port, rest)
        weight = served.get("weight", "1")
        self.found.change(
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


def _omit_buffer(plan: ExportPlan, found: Findings) -> None:
    if plan.buffer.sharing == "dynamic":
        found.omit(
            f"a buffer of {plan.buffer.memory} B with alpha {plan.buffer.alpha}: pools and profiles of the switch "
            "stay, and the scheme's queues have the profile of DSCP 0's"
        )
    else:
        switching.omit_port_room(plan, found, "SONiC")


def _say_what_others_lose(plan: ExportPlan, present: Present, places: list[Place], found: Findings) -> None:
    """Lists the queues of others that a strict queue of the scheme goes before, and shares by weight that shrink."""
    own = _own_points(plan)
    strict = [place for place in places[:-1] if place.queue.weight is None]
    for port in present.switch.ports:
        name = port.name or ""
        others = present.queues_of_others(name, own)
        for place in strict:
            behind = [f"{number} ({others[number]})" for number in sorted(others) if number < place.number]
            if behind:
                found.change(
                    f"{place.queue.label} is strict in queue {place.number}",
                    f"it goes before all that queues {', '.join(behind)} hold",
                )
        _say_shares(plan, present, places, (name, others), found)


def _say_shares(
    plan: ExportPlan, present: Present, places: list[Place], port: tuple[str, Mapping[int, str]], found: Findings
) -> None:
    """Lists the queues of others at a port whose part by weight shrinks as queues of the scheme share with them."""
    name, others = port
    served = {number: present.scheduler_of(name, number) for number in others}
    weights = {number: int(row.get("weight", "1")) for number, row in served.items() if row.get("type") != "STRICT"}
    rest = present.maps(name).queue_of(present.maps(name).class_of(0))
    scale = sonic_rows.weights(plan, found)
    added = sum(scale[place.queue.level] for place in places if place.queue.weight is not None)
    if plan.scheduler == "strict":
        added += weights.get(rest, 1)
    before, after = sum(weights.values()), sum(weights.values()) + added
    for number in sorted(weights):
        if number != rest and added:
            was, is_now = (f"{weights[number] / total:.0%}" for total in (before, after))
            found.change(
                f"queue {number} ({others[number]}) keeps its weight",
                f"its least part of the line falls from {was} to {is_now}",
            )


def _note(plan: ExportPlan, present: Present, places: list[Place], found: Findings) -> None:
    """Says what is set, and what is kept."""
    for place in places:
        found.note(
            f"sets: {place.queue.label} is DSCP {place.queue.dscp}, traffic class {place.traffic_class}, queue "
            f"{place.number}, in place of those of DSCP 0"
        )
    points = ",".join(str(dscp) for dscp in _own_points(plan))
    found.note(f"hosts have to mark these code points, the last one too: export nft and hosts with --dscp {points}")
    used: dict[int, str] = {}
    for port in present.switch.ports:
        used |= present.queues_of_others(port.name or "", _own_points(plan))
    kept = "; ".join(f"{number}: {used[number]}" for number in sorted(used))
    found.note(f"keeps: queues of others with their DSCPs, maps, profiles and schedulers ({kept})")
    names = {table: ", ".join(sorted(present.table(table))) for table in (*_MAP_TABLES.values(), "SCHEDULER")}
    for table, rows in names.items():
        if rows:
            found.note(f"keeps: {table} {rows}")
    found.do("load", "sudo config checkpoint before-priolane")
    found.do("load", f"sudo config apply-patch --dry-run {PATCH}")
    found.do("load", f"sudo config apply-patch {PATCH}")
    found.do("verify", "show runningconfiguration all")
    found.do("verify", "show queue counters")
    found.do("verify", "sudo config save -y, when all is as it should be: until then a reboot goes back")
    found.do("roll back", f"sudo config apply-patch {ROLLBACK}, or sudo config rollback before-priolane")
