"""Whether a config_db.json says what was meant: fields, ranges, references, and what SONiC would refuse or ignore.

The tables are those of the YANG models of sonic-net/sonic-buildimage (commit 086b03bd, src/sonic-yang-models), which
each entry of `TABLES` names. The models let a good deal pass that the switch refuses or that does nothing; `check`
looks for that too. What says "orchagent" is read in sonic-net/sonic-swss (commit e6b0c5b5), not tried on a switch.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

_INT32 = 2**31 - 1
_UINT32, _UINT64 = 2**32 - 1, 2**64 - 1
_NAME = re.compile(r"[A-Za-z0-9][-A-Za-z0-9_]{0,31}")
_QUEUES, _GROUPS = 8, 8

Config = Mapping[str, Mapping[str, Mapping[str, str]]]


@dataclass(frozen=True)
class IntegerField:
    """A whole number in a range, both ends included."""

    least: int = 0
    most: int = _UINT64

    def fault(self, text: str) -> str | None:
        """The mistake in a text, if there is one."""
        if not re.fullmatch(r"-?\d+", text) or not self.least <= int(text) <= self.most:
            return f"a whole number from {self.least} to {self.most}"
        return None


@dataclass(frozen=True)
class ChoiceField:
    """One of some words."""

    words: tuple[str, ...]

    def fault(self, text: str) -> str | None:
        """The mistake in a text, if there is one."""
        return None if text in self.words else f"one of {', '.join(self.words)}"


@dataclass(frozen=True)
class PriorityListField:
    """Numbers from 0 to 7 with commas between them; may be empty."""

    def fault(self, text: str) -> str | None:
        """The mistake in a text, if there is one."""
        return None if re.fullmatch(r"([0-7](,[0-7])*)?", text) else "numbers from 0 to 7, such as 3,4"


@dataclass(frozen=True)
class ReferenceField:
    """The name of a row of another table."""

    table: str

    def fault(self, text: str) -> str | None:  # noqa: ARG002 - `check` looks it up
        """Nothing: it takes the other table to say."""
        return None


Field = IntegerField | ChoiceField | PriorityListField | ReferenceField


@dataclass(frozen=True)
class Table:
    """A table: the model that it is from, what its key is made of, its fields, and those that must be there."""

    model: str
    key: str
    fields: Mapping[str, Field]
    must: tuple[str, ...] = ()


@dataclass(frozen=True)
class NumberMap:
    """A table whose rows map numbers to numbers."""

    model: str
    source: IntegerField
    target: IntegerField


_SWITCH = ChoiceField(("true", "false"))
_COLOURS = ("green", "yellow", "red")
_ECN = ("none", "green", "yellow", "red", "green_yellow", "green_red", "yellow_red", "all")
TABLES: dict[str, Table | NumberMap] = {
    "DSCP_TO_TC_MAP": NumberMap("sonic-dscp-tc-map", IntegerField(0, 63), IntegerField(0, 15)),
    "TC_TO_QUEUE_MAP": NumberMap("sonic-tc-queue-map", IntegerField(0, 15), IntegerField(0, 9)),
    "TC_TO_PRIORITY_GROUP_MAP": NumberMap(
        "sonic-tc-priority-group-map", IntegerField(0, 15), IntegerField(0, _GROUPS - 1)
    ),
    "MAP_PFC_PRIORITY_TO_QUEUE": NumberMap("sonic-pfc-priority-queue-map", IntegerField(0, 7), IntegerField(0, 7)),
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": NumberMap(
        "sonic-pfc-priority-priority-group-map", IntegerField(0, 7), IntegerField(0, 7)
    ),
    "DOT1P_TO_TC_MAP": NumberMap("sonic-dot1p-tc-map", IntegerField(0, 7), IntegerField(0, 15)),
    "TC_TO_DSCP_MAP": NumberMap("sonic-tc-dscp-map", IntegerField(0, 15), IntegerField(0, 63)),
    "SCHEDULER": Table(
        "sonic-scheduler",
        "name",
        {
            "type": ChoiceField(("DWRR", "WRR", "STRICT")),
            "weight": IntegerField(1, 100),
            "meter_type": ChoiceField(("packets", "bytes")),
            "cir": IntegerField(),
            "pir": IntegerField(),
            "cbs": IntegerField(0, _UINT32),
            "pbs": IntegerField(0, _UINT32),
        },
        must=("type",),
    ),
    "WRED_PROFILE": Table(
        "sonic-wred-profile",
        "name",
        {
            "ecn": ChoiceField(tuple(f"ecn_{word}" for word in _ECN)),
            **{f"{colour}_{end}_threshold": IntegerField() for colour in _COLOURS for end in ("min", "max")},
            **{f"{colour}_drop_probability": IntegerField(0, 100) for colour in _COLOURS},
            **{f"wred_{colour}_enable": _SWITCH for colour in _COLOURS},
        },
    ),
    "QUEUE": Table(
        "sonic-queue",
        "port|queue",
        {"scheduler": ReferenceField("SCHEDULER"), "wred_profile": ReferenceField("WRED_PROFILE")},
    ),
    "PORT_QOS_MAP": Table(
        "sonic-port-qos-map",
        "port",
        {
            "dscp_to_tc_map": ReferenceField("DSCP_TO_TC_MAP"),
            "tc_to_queue_map": ReferenceField("TC_TO_QUEUE_MAP"),
            "tc_to_pg_map": ReferenceField("TC_TO_PRIORITY_GROUP_MAP"),
            "pfc_to_queue_map": ReferenceField("MAP_PFC_PRIORITY_TO_QUEUE"),
            "pfc_to_pg_map": ReferenceField("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"),
            "pfc_enable": PriorityListField(),
            "pfcwd_sw_enable": PriorityListField(),
            "tc_to_dscp_map": ReferenceField("TC_TO_DSCP_MAP"),
            "dot1p_to_tc_map": ReferenceField("DOT1P_TO_TC_MAP"),
            "scheduler": ReferenceField("SCHEDULER"),
        },
    ),
    "BUFFER_POOL": Table(
        "sonic-buffer-pool",
        "name",
        {
            "type": ChoiceField(("ingress", "egress", "both")),
            "mode": ChoiceField(("static", "dynamic")),
            "size": IntegerField(),
            "xoff": IntegerField(),
        },
        must=("type", "mode", "size"),
    ),
    "BUFFER_PROFILE": Table(
        "sonic-buffer-profile",
        "name",
        {
            "pool": ReferenceField("BUFFER_POOL"),
            "size": IntegerField(),
            "static_th": IntegerField(),
            "dynamic_th": IntegerField(-8, 7),
            "xon": IntegerField(),
            "xoff": IntegerField(),
            "xon_offset": IntegerField(),
            "packet_discard_action": ChoiceField(("drop", "trim")),
        },
        must=("pool", "size"),
    ),
    "BUFFER_PG": Table(
        "sonic-buffer-pg", "port|group", {"profile": ReferenceField("BUFFER_PROFILE")}, must=("profile",)
    ),
    "BUFFER_QUEUE": Table(
        "sonic-buffer-queue", "port|queue", {"profile": ReferenceField("BUFFER_PROFILE")}, must=("profile",)
    ),
    "PFC_WD": Table(
        "sonic-pfcwd",
        "port or GLOBAL",
        {
            "action": ChoiceField(("drop", "forward", "alert")),
            "detection_time": IntegerField(100, 5_000),
            "restoration_time": IntegerField(100, 60_000),
            "pfc_stat_history": ChoiceField(("enable", "disable")),
            "POLL_INTERVAL": IntegerField(100, 1_000),
        },
    ),
}


@dataclass(frozen=True)
class Device:
    """The device that a configuration is for: the names of the ports, the bytes of memory if known.

    `headroom` are the pairs (xon, xoff) that the platform itself states: they are not judged.
    """

    ports: Collection[str]
    memory: int | None = None
    headroom: Collection[tuple[int, int]] = field(default_factory=tuple)


def check(config: Mapping[str, Any], device: Device) -> list[str]:
    """Everything that is wrong, a line each; empty if nothing is."""
    mistakes = [f"{table}: no such table is known here" for table in config if table not in TABLES]
    for name, rows in config.items():
        table = TABLES.get(name)
        for key, row in rows.items():
            if isinstance(table, NumberMap):
                mistakes += _mapped(f"{name}|{key}", row, table)
            elif table is not None:
                mistakes += _row(f"{name}|{key}", key, row, (table, device, config))
    return mistakes if mistakes else [line for rule in _RULES for line in rule(config, device)]


def _mapped(where: str, row: Mapping[str, str], table: NumberMap) -> Iterator[str]:
    if not _NAME.fullmatch(where.partition("|")[2]):
        yield f"{where}: a name has up to 32 letters, digits, - and _"
    for source, target in row.items():
        for what, text, field_ in (("key", source, table.source), ("value", target, table.target)):
            if fault := field_.fault(text):
                yield f"{where}: the {what} {text!r} has to be {fault} ({table.model})"


def _row(where: str, key: str, row: Mapping[str, str], of: tuple[Table, Device, Config]) -> Iterator[str]:
    table, device, config = of
    yield from _key(where, key, table.key, device.ports)
    yield from (f"{where}: {name} has to be there ({table.model})" for name in table.must if name not in row)
    for name, text in row.items():
        field_ = table.fields.get(name)
        if field_ is None:
            yield f"{where}: {name} is no field that SONiC takes ({table.model}, orchagent)"
        elif isinstance(field_, ReferenceField):
            if text not in config.get(field_.table, {}):
                yield f"{where}: {name} is {text!r}, which {field_.table} does not have"
        elif fault := field_.fault(text):
            yield f"{where}: {name} is {text!r}; it has to be {fault} ({table.model})"


def _key(where: str, key: str, form: str, ports: Collection[str]) -> Iterator[str]:
    port, bar, numbers = key.partition("|")
    if form == "name":
        if not key or bar:
            yield f"{where}: this is no name"
        return
    if (form, port) in (("port", "global"), ("port or GLOBAL", "GLOBAL")):
        return
    if port not in ports:
        yield f"{where}: there is no port {port!r}; one key for each port"
    if "|" not in form:
        return
    most = _QUEUES if form == "port|queue" else _GROUPS
    ends = numbers.split("-")
    fits = len(ends) in (1, 2) and all(re.fullmatch(r"\d", end) and int(end) < most for end in ends)
    if not fits or int(ends[0]) > int(ends[-1]):
        yield f"{where}: {numbers!r} is no {form.partition('|')[2]} from 0 to {most - 1}, or a range of them"


def _marking(config: Config, device: Device) -> Iterator[str]:  # noqa: ARG001
    """Thresholds in order and small enough, colours that are marked enabled."""
    for name, row in config.get("WRED_PROFILE", {}).items():
        where = f"WRED_PROFILE|{name}"
        for key, text in row.items():
            if key.endswith("_threshold") and int(text) > _INT32:
                yield f"{where}: {key} is {text}, above {_INT32}: orchagent cannot read it"
        for colour in _COLOURS:
            least, most = (row.get(f"{colour}_{end}_threshold") for end in ("min", "max"))
            if (least is None) != (most is None):
                yield f"{where}: {colour} has one of its two thresholds"
            elif least is not None and most is not None and int(least) > int(most):
                yield f"{where}: {colour}_min_threshold is above {colour}_max_threshold"
        marked = row.get("ecn", "ecn_none").removeprefix("ecn_")
        for colour in _COLOURS if marked == "all" else () if marked == "none" else marked.split("_"):
            if row.get(f"wred_{colour}_enable") != "true" or f"{colour}_max_threshold" not in row:
                yield f"{where}: {colour} is to be marked, but wred_{colour}_enable or its threshold is missing"
        if marked == "none" and not any(row.get(f"wred_{colour}_enable") == "true" for colour in _COLOURS):
            yield f"{where}: it marks and drops nothing"


def _scheduling(config: Config, device: Device) -> Iterator[str]:  # noqa: ARG001
    """No weight under strict priority; rates in order."""
    for name, row in config.get("SCHEDULER", {}).items():
        where = f"SCHEDULER|{name}"
        if row.get("type") == "STRICT" and "weight" in row:
            yield f"{where}: a strict queue has no weight"
        cir, pir, cbs, pbs = (int(row.get(key, 0)) for key in ("cir", "pir", "cbs", "pbs"))
        if "pir" in row and (cir == 0 or pir < cir):
            yield f"{where}: pir takes a cir above 0 and no higher than it"
        if "cbs" in row and cir == 0:
            yield f"{where}: cbs takes a cir"
        if "pbs" in row and (pir == 0 or pbs < cbs):
            yield f"{where}: pbs takes a pir, and is no less than cbs"


def _classes(config: Config, device: Device) -> Iterator[str]:  # noqa: ARG001
    """Every traffic class that a DSCP leads to has a queue that there is, and a scheduler."""
    for port, row in config.get("PORT_QOS_MAP", {}).items():
        dscps = config.get("DSCP_TO_TC_MAP", {}).get(row.get("dscp_to_tc_map", ""), {})
        queues = config.get("TC_TO_QUEUE_MAP", {}).get(row.get("tc_to_queue_map", ""))
        if port == "global" or queues is None:
            continue
        if missing := sorted(set(dscps.values()) - queues.keys(), key=int):
            yield f"PORT_QOS_MAP|{port}: traffic class {', '.join(missing)} has no queue"
        beyond = sorted({queue for queue in queues.values() if int(queue) >= _QUEUES}, key=int)
        if beyond:
            yield f"PORT_QOS_MAP|{port}: there is no queue {', '.join(beyond)}"
        groups = config.get("TC_TO_PRIORITY_GROUP_MAP", {}).get(row.get("tc_to_pg_map", ""))
        if groups is not None and (missing := sorted(queues.keys() - groups.keys(), key=int)):
            yield f"PORT_QOS_MAP|{port}: traffic class {', '.join(missing)} has no priority group"


def _buffers(config: Config, device: Device) -> Iterator[str]:
    """One kind of threshold; xon below xoff; no more than the memory."""
    pools = config.get("BUFFER_POOL", {})
    for name, row in config.get("BUFFER_PROFILE", {}).items():
        where = f"BUFFER_PROFILE|{name}"
        if ("dynamic_th" in row) == ("static_th" in row):
            yield f"{where}: it takes one of dynamic_th and static_th"
        xon, xoff = (int(row.get(key, 0)) for key in ("xon", "xoff"))
        if xon > xoff and (xon, xoff) not in device.headroom:
            yield f"{where}: xon is above xoff"
    if device.memory is None:
        return
    ingress = [int(row["size"]) + int(row.get("xoff", 0)) for row in pools.values() if row["type"] != "egress"]
    if sum(ingress) > device.memory:
        yield f"BUFFER_POOL: ingress pools have {sum(ingress)} B, the switch {device.memory} B"
    for name, row in pools.items():
        if row["type"] == "egress" and int(row["size"]) > device.memory:
            yield f"BUFFER_POOL|{name}: it has {row['size']} B, the switch {device.memory} B"


def _pauses(config: Config, device: Device) -> Iterator[str]:  # noqa: ARG001
    """A priority that is paused has a priority group with headroom."""
    profiles = config.get("BUFFER_PROFILE", {})
    for port, row in config.get("PORT_QOS_MAP", {}).items():
        for priority in filter(None, row.get("pfc_enable", "").split(",")):
            groups = config.get("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", {}).get(row.get("pfc_to_pg_map", ""), {})
            group = groups.get(priority, priority)
            profile = profiles.get(_of_range(config.get("BUFFER_PG", {}), port, int(group)), {})
            if int(profile.get("xoff", 0)) == 0:
                yield f"PORT_QOS_MAP|{port}: priority {priority} is paused, but its priority group {group} is lossy"


def _of_range(rows: Mapping[str, Mapping[str, str]], port: str, number: int) -> str:
    """The profile of a priority group; keys may have ranges."""
    for key, row in rows.items():
        name, _, numbers = key.partition("|")
        ends = numbers.split("-")
        if name == port and int(ends[0]) <= number <= int(ends[-1]):
            return row["profile"]
    return ""


_RULES: tuple[Callable[[Config, Device], Iterator[str]], ...] = (_marking, _scheduling, _classes, _buffers, _pauses)
