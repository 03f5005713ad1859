"""The present configuration of a SONiC switch, `config_db.json`: its ports, and what becomes of each DSCP at a port."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from priolane._core import InputError
from priolane.export import ports
from priolane.export.config_db import one_form
from priolane.export.plan import ROUTING_DSCP, ROUTING_LEVEL, Port, Switch
from priolane.export.sonic_check import TABLES, NumberMap
from priolane.storage.files import parse_json
from priolane.storage.input_file import read_text_of_user

Row = Mapping[str, str]
Table = Mapping[str, Row]

QUEUES = 8
_MOST_QUEUES = 16
# Maps of ports besides that of DSCPs. What they lead to is in use, and so are classes whose code point is rewritten.
_REMARKS = "tc_to_dscp_map"
_OTHER_MAPS = {
    "dot1p_to_tc_map": "DOT1P_TO_TC_MAP",
    "mpls_tc_to_tc_map": "MPLS_TC_TO_TC_MAP",
    _REMARKS: "TC_TO_DSCP_MAP",
}
_READ = tuple(dict.fromkeys((*TABLES, *_OTHER_MAPS.values())))
# Ports inside of a device, which no scheme has queues at.
_INSIDE = ("Ethernet-Rec", "Ethernet-IB", "Ethernet-BP")
_SPEED = re.compile("[1-9][0-9]{0,8}")
_OWN = re.compile("PRIOLANE|priolane")
_MOST_MISTAKES = 20
# A chassis of 512 ports has some 10 MB.
_MOST_BYTES = 32 << 20
# A port without maps: routing protocols get their own queue, everything else the first.
_NO_DSCP_MAP = {str(dscp): str(ROUTING_LEVEL if dscp in ROUTING_DSCP else 0) for dscp in range(64)}
_NO_QUEUE_MAP = {"0": "0", str(ROUTING_LEVEL): str(ROUTING_LEVEL)}


@dataclass(frozen=True)
class Maps:
    """The maps of a port: DSCP to traffic class, class to queue, class to priority group (`None` without one).

    `names` are those of the tables' rows by field of PORT_QOS_MAP, `None` where the port has no such map.
    """

    names: Mapping[str, str | None]
    classes: Row
    queues: Row
    groups: Row | None

    def class_of(self, dscp: int) -> str:
        """The traffic class of a code point; 0 where the map has none."""
        return self.classes.get(str(dscp), "0")

    def queue_of(self, traffic_class: str) -> int:
        """The queue of a traffic class; 0 where the map has none."""
        return int(self.queues.get(traffic_class, "0"))

    @property
    def are_set(self) -> bool:
        """Whether the port has a map of DSCPs."""
        return self.names["dscp_to_tc_map"] is not None


@dataclass(frozen=True)
class Present:
    """A configuration as `show runningconfiguration all` prints it; `path` is for messages."""

    path: Path
    config: Mapping[str, Any]

    def table(self, name: str) -> Table:
        """A table; empty if the configuration has none."""
        rows: Table = self.config.get(name, {})
        return rows

    @cached_property
    def switch(self) -> Switch:
        """The switch with the ports of `PORT` to other devices."""
        rows = {name: row for name, row in self.table("PORT").items() if not name.startswith(_INSIDE)}
        ports = tuple(Port(int(row["speed"]) * 10**6, name) for name, row in rows.items())
        return Switch("switch", ("switch",), ports)

    def maps(self, port: str) -> Maps:
        """The maps of a port; the switch's own map of DSCPs (`global`) where the port has none."""
        own = self.table("PORT_QOS_MAP").get(port, {})
        everywhere = self.table("PORT_QOS_MAP").get("global", {})
        names = {
            "dscp_to_tc_map": own.get("dscp_to_tc_map", everywhere.get("dscp_to_tc_map")),
            "tc_to_queue_map": own.get("tc_to_queue_map"),
            "tc_to_pg_map": own.get("tc_to_pg_map"),
        }
        dscp, queue, group = names.values()
        is_bare = dscp is None and queue is None
        return Maps(
            names=names,
            classes=_NO_DSCP_MAP if dscp is None else self.table("DSCP_TO_TC_MAP")[dscp],
            queues=self.table("TC_TO_QUEUE_MAP")[queue] if queue else (_NO_QUEUE_MAP if is_bare else {}),
            groups=self.table("TC_TO_PRIORITY_GROUP_MAP")[group] if group else None,
        )

    def row_of(self, table: str, port: str, queue: int) -> tuple[str, Row] | None:
        """The row of QUEUE or BUFFER_QUEUE that holds for a queue of a port, with its key, which may have a range."""
        rows = self.table(table)
        keys = [f"{port}|{queue}"]
        keys += [f"{port}|{low}-{high}" for low in range(queue + 1) for high in range(queue, _MOST_QUEUES)]
        key = next((key for key in keys if key in rows), None)
        return None if key is None else (key, rows[key])

    def scheduler_of(self, port: str, queue: int) -> Row:
        """The scheduler of a queue; one by weight where none is stated, as orchagent's is."""
        queue_row = self.row_of("QUEUE", port, queue)
        name = queue_row[1].get("scheduler") if queue_row else None
        return self.table("SCHEDULER")[name] if name else {"type": "DWRR", "weight": "1"}

    def classes_of_others(self, port: str, own: tuple[int, ...]) -> dict[str, str]:
        """The traffic classes in use at a port, each with what leads to it; the code points `own` are not counted."""
        maps = self.maps(port)
        points_of: dict[str, list[int]] = {}
        for dscp in range(64):
            if dscp not in own:
                points_of.setdefault(maps.class_of(dscp), []).append(dscp)
        says = {name: f"DSCP {_ranges(points)}" for name, points in points_of.items()}
        row = self.table("PORT_QOS_MAP").get(port, {})
        for field, table in _OTHER_MAPS.items():
            if field in row:
                other = self.table(table)[row[field]]
                names = other.keys() if field == _REMARKS else other.values()
                says |= {name: f"{field} {row[field]}" for name in names if name not in says}
        return says

    def queues_of_others(self, port: str, own: tuple[int, ...]) -> dict[int, str]:
        """The queues of a port that other traffic has, each with what leads to it; that of control packets included."""
        maps = self.maps(port)
        users: dict[int, str] = {}
        for name, says in self.classes_of_others(port, own).items():
            queue = maps.queue_of(name)
            users[queue] = f"{users[queue]}, {says}" if queue in users else says
        row = self.table("PORT_QOS_MAP").get(port, {})
        paused = self.table("MAP_PFC_PRIORITY_TO_QUEUE").get(row.get("pfc_to_queue_map", ""), {})
        for priority in filter(None, row.get("pfc_enable", "").split(",")):
            users.setdefault(int(paused.get(priority, priority)), f"lossless priority {priority}")
        users.setdefault(ROUTING_LEVEL, "control packets")
        return users


def read_present(path: Path) -> Present:
    """Reads a configuration that a scheme is added to.

    Raises `InputError` with a line for each mistake in the tables that an export reads, and for rows of an earlier one.
    """
    shown = f"--into {path}"
    config = _parsed(path, shown)
    _refuse(shown, [*_mistakes(config), *_own_rows(config)])
    return Present(path, config)


def read_configured(path: Path) -> Present:
    """Reads a configuration to simulate, in any of the forms of `config_db`.

    Raises `InputError` with a line for each mistake in the tables of queues, marks, buffers and pauses.
    """
    config = one_form(_parsed(path, str(path)))
    _refuse(str(path), list(_mistakes(config)))
    return Present(path, config)


def _parsed(path: Path, shown: str) -> Any:
    try:
        return parse_json(read_text_of_user(path, shown=shown, most_bytes=_MOST_BYTES))
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{shown}: this is not JSON: {error}") from None


def _refuse(shown: str, mistakes: list[str]) -> None:
    if mistakes:
        raise InputError("\n".join(f"{shown}: {mistake}" for mistake in mistakes[:_MOST_MISTAKES]))


def _mistakes(config: Any) -> Iterator[str]:
    if not isinstance(config, dict) or not isinstance(config.get("PORT"), dict) or not config["PORT"]:
        yield "there is no table PORT; `show runningconfiguration all` prints a whole configuration"
        return
    broken = False
    for name in ("PORT", *_READ):
        for mistake in _not_rows(name, config.get(name, {})):
            broken = True
            yield mistake
    if broken:
        return
    for port, row in config["PORT"].items():
        if not ports.is_name(port):
            yield f"PORT|{port}: this is not the name of a port"
        elif not _SPEED.fullmatch(row.get("speed", "")):
            yield f"PORT|{port}: `speed` is not a whole number of Mbit/s"
    yield from _dangling(config)
    yield from _keys(config)


def _not_rows(name: str, table: Any) -> Iterator[str]:
    if not isinstance(table, dict):
        yield f"{name}: this is not a table"
        return
    for key, row in table.items():
        if not isinstance(row, dict) or (name != "PORT" and not all(isinstance(text, str) for text in row.values())):
            yield f"{name}|{key}: this is not a row of texts"
        elif name == "PORT" and not isinstance(row.get("speed", ""), str):
            yield f"PORT|{key}: `speed` is not a text"
        elif fault := _wrong_number(name, row):
            yield f"{name}|{key}: {fault}"


def _own_rows(config: Any) -> Iterator[str]:
    """Rows of an earlier export, in tables that are right."""
    for name in ("PORT", *_READ) if isinstance(config, dict) else ():
        table = config.get(name)
        for key, row in table.items() if isinstance(table, dict) else ():
            texts = (text for text in row.values() if isinstance(text, str)) if isinstance(row, dict) else ()
            if _OWN.match(key) or any(map(_OWN.match, texts)):
                yield (
                    f"{name}|{key}: this is of an earlier export; apply its rollback.json first, or give the "
                    "configuration from before it"
                )


def _wrong_number(name: str, row: Row) -> str | None:
    """The mistake in a row that maps numbers to numbers; `None` for rows of other tables."""
    if name not in _OTHER_MAPS.values() and not isinstance(TABLES.get(name), NumberMap):
        return None
    wrong = next((text for text in (*row, *row.values()) if not re.fullmatch("[0-9]{1,2}", text)), None)
    return None if wrong is None else f"{wrong!r} is not a number"


_MAP_TABLES = {
    "dscp_to_tc_map": "DSCP_TO_TC_MAP",
    "tc_to_queue_map": "TC_TO_QUEUE_MAP",
    "tc_to_pg_map": "TC_TO_PRIORITY_GROUP_MAP",
    "pfc_to_queue_map": "MAP_PFC_PRIORITY_TO_QUEUE",
    **_OTHER_MAPS,
}


def _dangling(config: Mapping[str, Any]) -> Iterator[str]:
    """Names of rows that do not exist, in what an export reads, and priorities that are no numbers."""
    for port, row in config.get("PORT_QOS_MAP", {}).items():
        if port != "global" and port not in config["PORT"]:
            yield f"PORT_QOS_MAP|{port}: PORT does not have this port; one key for each port"
        for field, table in _MAP_TABLES.items():
            if field in row and row[field] not in config.get(table, {}):
                yield f"PORT_QOS_MAP|{port}: {field} is {row[field]!r}, which {table} does not have"
        if not re.fullmatch("([0-7](,[0-7])*)?", row.get("pfc_enable", "")):
            yield f"PORT_QOS_MAP|{port}: pfc_enable is {row['pfc_enable']!r}; numbers from 0 to 7, such as 3,4"
    for key, row in config.get("QUEUE", {}).items():
        if "scheduler" in row and row["scheduler"] not in config.get("SCHEDULER", {}):
            yield f"QUEUE|{key}: scheduler is {row['scheduler']!r}, which SCHEDULER does not have"


def _keys(config: Mapping[str, Any]) -> Iterator[str]:
    for table in ("QUEUE", "BUFFER_QUEUE"):
        for key in config.get(table, {}):
            name, _, numbers = key.partition("|")
            if "|" in numbers:
                yield f"{table}|{key}: this is of a chassis, whose queues are those of the whole system: not supported"
            elif "," in name or not re.fullmatch("[0-9]{1,2}(-[0-9]{1,2})?", numbers):
                yield f"{table}|{key}: this is no PORT|QUEUE or PORT|FIRST-LAST, one key for each port"


def _ranges(points: list[int]) -> str:
    """Numbers in ascending order, neighbours as ranges: `0-2, 5`."""
    runs: list[list[int]] = []
    for point in points:
        if runs and point == runs[-1][-1] + 1:
            runs[-1].append(point)
        else:
            runs.append([point])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
