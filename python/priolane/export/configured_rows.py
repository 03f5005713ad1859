"""Rows of a present configuration by port and queue, with a record of what was read."""

import re
from collections.abc import Mapping

from priolane._core import InputError
from priolane.export.not_simulated import NotSimulated
from priolane.export.present import Present, Row

_WHOLE = re.compile(r"-?[0-9]{1,18}")
_MAPS = {
    "dscp_to_tc_map": "DSCP_TO_TC_MAP",
    "tc_to_queue_map": "TC_TO_QUEUE_MAP",
    "tc_to_pg_map": "TC_TO_PRIORITY_GROUP_MAP",
    "pfc_to_queue_map": "MAP_PFC_PRIORITY_TO_QUEUE",
}
# What the model of dynamic buffers writes in place of a profile that the switch calculates.
_CALCULATED = "NULL"


class Rows:
    """The rows of a configuration; `unread` records what was used, and lists the rest."""

    def __init__(self, present: Present) -> None:
        """Nothing is used yet."""
        self.present = present
        self.unread = NotSimulated(present.config)

    def number(self, where: str, row: Row, name: str) -> int | None:
        """A whole number of a row that is called `TABLE|key`; `None` if it is not stated."""
        if name not in row:
            return None
        self.unread.use(*where.split("|", 1), name)
        if not _WHOLE.fullmatch(row[name]):
            shown = row[name][:40]
            raise InputError(f"{self.present.path}: {where}: {name} is {shown!r}; write a whole number")
        value = int(row[name])
        if name == "dynamic_th" and not -8 <= value <= 7:
            raise InputError(f"{self.present.path}: {where}: dynamic_th is {value}; write a number from -8 to 7")
        if name != "dynamic_th" and value < 0:
            raise InputError(f"{self.present.path}: {where}: {name} is {value}; write a number from 0 on")
        return value

    def scheduler(self, port: str, number: int) -> tuple[str, int]:
        """The type of the scheduler of a queue, and its weight."""
        row = self.present.scheduler_of(port, number)
        queue = self.present.row_of("QUEUE", port, number)
        name = queue[1].get("scheduler", "") if queue else ""
        where = f"{self.present.path}: SCHEDULER|{name[:40]}"
        kind = row.get("type", "WRR")
        if kind not in ("STRICT", "DWRR", "WRR"):
            raise InputError(f"{where}: type is {kind[:40]!r}; write one of STRICT, DWRR, WRR")
        weight = row.get("weight", "1")
        if not re.fullmatch("[1-9][0-9]?|100", weight):
            raise InputError(f"{where}: weight is {weight[:40]!r}; write a number from 1 to 100")
        return kind, int(weight)

    def use_scheduler(self, port: str, number: int) -> bool:
        """The scheduler of a queue was read; whether the queue has a row."""
        queue = self.present.row_of("QUEUE", port, number)
        if queue is None:
            return False
        self.unread.use("QUEUE", queue[0], "scheduler")
        if "scheduler" in queue[1]:
            self.unread.use("SCHEDULER", queue[1]["scheduler"], "type", "weight")
        return True

    def use_maps(self, port: str) -> None:
        """The maps of a port were read."""
        own = self.present.table("PORT_QOS_MAP").get(port, {})
        for key in ("global", port):
            if key in self.present.table("PORT_QOS_MAP"):
                self.unread.use("PORT_QOS_MAP", key, *_MAPS, "pfc_enable")
        names = {**self.present.maps(port).names, "pfc_to_queue_map": own.get("pfc_to_queue_map")}
        for field, name in names.items():
            table = _MAPS[field]
            if name is not None:
                self.unread.use(table, name, *self.present.table(table)[name])

    def wred(self, port: str, number: int, *, is_read: bool = True) -> tuple[str, Row] | None:
        """The profile of a queue with its name `WRED_PROFILE|key`; `None` without one."""
        queue = self.present.row_of("QUEUE", port, number)
        if queue is None:
            return None
        name = queue[1].get("wred_profile", "")
        if name in ("", _CALCULATED):
            return None
        row = self.present.table("WRED_PROFILE").get(name)
        if row is None:
            raise InputError(
                f"{self.present.path}: QUEUE|{queue[0]}: wred_profile is {name!r}, which WRED_PROFILE does not have"
            )
        if is_read:
            self.unread.use("QUEUE", queue[0], "wred_profile")
            self.unread.use("WRED_PROFILE", name, "ecn", "wred_green_enable")
        return f"WRED_PROFILE|{name}", row

    def profile(self, table: str, port: str, number: int) -> tuple[str, Row] | None:
        """The profile of a queue or priority group with its name `BUFFER_PROFILE|key`; `None` without one."""
        entry = self.present.row_of(table, port, number)
        if entry is None:
            return None
        name = entry[1].get("profile", "")
        if name in ("", _CALCULATED):
            return None
        row = self.present.table("BUFFER_PROFILE").get(name)
        if row is None:
            raise InputError(
                f"{self.present.path}: {table}|{entry[0]}: profile is {name!r}, which BUFFER_PROFILE does not have"
            )
        self.unread.use(table, entry[0], "profile")
        self.unread.use("BUFFER_PROFILE", name, "pool")
        return f"BUFFER_PROFILE|{name}", row

    def pool(self, profile: Row) -> tuple[str, Row] | None:
        """The pool of a profile with its name `BUFFER_POOL|key`; `None` if the configuration has no such pool."""
        name = profile.get("pool", "")
        row = self.present.table("BUFFER_POOL").get(name)
        if row is None:
            return None
        self.unread.use("BUFFER_POOL", name, "type")
        return f"BUFFER_POOL|{name}", row

    def lossless_queues(self, port: str) -> dict[int, int]:
        """The queues of a port that a pause holds, each with its priority."""
        row = self.present.table("PORT_QOS_MAP").get(port, {})
        queues: Mapping[str, str] = self.present.table("MAP_PFC_PRIORITY_TO_QUEUE").get(
            row.get("pfc_to_queue_map", ""), {}
        )
        enabled = filter(None, row.get("pfc_enable", "").split(","))
        return {int(queues.get(priority, priority)): int(priority) for priority in enabled}
