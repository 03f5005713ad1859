"""The parts of a switch's configuration that a simulation leaves out, each with its reason."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

_SHOWN = 4
# Tables whose rows and fields are listed one by one: they are about queues, marks, buffers, pauses and rates.
_ROWS = {
    "DSCP_TO_TC_MAP": "no port that was read has this map",
    "TC_TO_QUEUE_MAP": "no port that was read has this map",
    "TC_TO_PRIORITY_GROUP_MAP": "no port that was read has this map",
    "MAP_PFC_PRIORITY_TO_QUEUE": "no port that was read has this map",
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": "priority groups of lossless classes are those of their traffic class",
    "SCHEDULER": "no queue of the simulated traffic has it",
    "WRED_PROFILE": "no queue of the simulated traffic has it",
    "QUEUE": "the simulated traffic does not use this queue",
    "PORT_QOS_MAP": "this port was not read",
    "BUFFER_POOL": "one memory is simulated, and the profile of the simulated traffic has another pool",
    "BUFFER_PROFILE": "no queue of the simulated traffic has it",
    "BUFFER_PG": "the simulated traffic does not use this priority group, or is limited where it leaves",
    "BUFFER_QUEUE": "the simulated traffic does not use this queue, or is limited where it comes in",
    "PFC_WD": "the simulated traffic has no lossless queue at this port",
}
_FIELDS = {
    ("SCHEDULER", "cir"): "queues have no rate of their own",
    ("SCHEDULER", "pir"): "queues have no rate of their own",
    ("SCHEDULER", "cbs"): "queues have no rate of their own",
    ("SCHEDULER", "pbs"): "queues have no rate of their own",
    ("SCHEDULER", "meter_type"): "weights are of bytes",
    ("PORT_QOS_MAP", "scheduler"): "ports send at the rate of their link",
    ("PORT_QOS_MAP", "tc_to_dscp_map"): "switches do not rewrite code points",
    ("PORT_QOS_MAP", "tc_to_dot1p_map"): "switches do not rewrite priorities",
    ("PORT_QOS_MAP", "dot1p_to_tc_map"): "packets have code points alone",
    ("PORT_QOS_MAP", "mpls_tc_to_tc_map"): "packets have code points alone",
    ("PORT_QOS_MAP", "pfcwd_sw_enable"): "the rows of PFC_WD say which ports have a watchdog",
    ("BUFFER_POOL", "mode"): "the threshold of the profile says how the pool is shared",
    ("BUFFER_PROFILE", "size"): "queues have no bytes of their own besides those that they share",
    ("BUFFER_PROFILE", "packet_discard_action"): "packets that do not fit are dropped",
    ("PFC_WD", "POLL_INTERVAL"): "the watchdog acts when its time has passed, and not at the next poll",
    ("PFC_WD", "BIG_RED_SWITCH"): "it drops all lossless traffic by hand",
    ("PFC_WD", "pfc_stat_history"): "it is a statistic",
}
_COLOURS = "all packets are green"
_TABLES = {
    "CABLE_LENGTH": "links have the delay that the topology states",
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER": "the switch calculates headroom from it; state port.pfc.headroom_least",
    "LOSSLESS_TRAFFIC_PATTERN": "the switch calculates headroom from it; state port.pfc.headroom_least",
    "BUFFER_PORT_INGRESS_PROFILE_LIST": "a port as a whole has no limit besides those of its queues",
    "BUFFER_PORT_EGRESS_PROFILE_LIST": "a port as a whole has no limit besides those of its queues",
    "DOT1P_TO_TC_MAP": "packets have code points alone",
    "MPLS_TC_TO_TC_MAP": "packets have code points alone",
    "TC_TO_DSCP_MAP": "switches do not rewrite code points",
    "TC_TO_DOT1P_MAP": "switches do not rewrite priorities",
    "DSCP_TO_FC_MAP": "paths are not chosen by forwarding class",
    "EXP_TO_FC_MAP": "paths are not chosen by forwarding class",
    "POLICER": "ports have no policers",
    "PORT_STORM_CONTROL": "ports have no policers",
    "SWITCH_TRIMMING": "a queue either drops or trims; the discipline `trimming` trims",
    "SWITCH_HASH": "paths are chosen by the experiment's routing",
    "VOQ_INBAND_INTERFACE": "queues are those of output ports",
}
_OF_PORTS = {
    "mtu": "packets have the size that `frame` states",
    "pfc_asym": "pauses are sent and obeyed alike",
    "fec": "links lose nothing but what the experiment states, and have its delay",
    "autoneg": "links have the rate that PORT states",
    "link_training": "links have the rate that PORT states",
}


@dataclass
class NotSimulated:
    """Filled while a configuration is read; `lines` says what remains.

    `used` has the fields of each row that were read, by table and key; `notes` are sentences on what is simulated
    otherwise than it is configured.
    """

    config: Mapping[str, Any]
    used: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def use(self, table: str, key: str, *fields: str) -> None:
        """A row was read, and these fields of it."""
        self.used.setdefault((table, key), set()).update(fields)

    def say(self, line: str) -> None:
        """One thing is simulated otherwise, or not at all."""
        if line not in self.notes:
            self.notes.append(line)

    def lines(self) -> list[str]:
        """All notes, and everything that was not read: one line for each table and reason."""
        return [*self.notes, *self._rows(), *self._fields(), *self._port_fields(), *self._tables()]

    def _rows(self) -> Iterator[str]:
        for table, reason in _ROWS.items():
            unread = [key for key in self.config.get(table, {}) if (table, key) not in self.used]
            if unread:
                yield f"{table} {_listed(unread)}: {reason}"

    def _fields(self) -> Iterator[str]:
        listed: dict[tuple[str, str], list[str]] = {}
        for (table, key), used in self.used.items():
            for name in self.config[table][key]:
                if name not in used:
                    listed.setdefault((table, _kind(name)), []).append(key)
        for (table, name), keys in sorted(listed.items()):
            yield f"{table} {_listed(keys)}: {name}: {_reason(table, name)}"

    def _port_fields(self) -> Iterator[str]:
        ports = self.config.get("PORT", {})
        for name, reason in _OF_PORTS.items():
            having = [key for key, row in ports.items() if name in row]
            if having:
                yield f"PORT {_listed(having)}: {name}: {reason}"

    def _tables(self) -> Iterator[str]:
        others = [name for name in self.config if name not in {"PORT", *_ROWS, *_TABLES}]
        for name, reason in _TABLES.items():
            if self.config.get(name):
                yield f"{name} {_listed(self.config[name])}: {reason}"
        if others:
            yield f"{', '.join(sorted(others))}: not read: no table of queues, marks, buffers, pauses or rates"


def _listed(keys: Iterable[str]) -> str:
    known = sorted(set(keys), key=_in_order)
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    return ", ".join(known[:_SHOWN]) + more


def _in_order(key: str) -> list[tuple[int, str]]:
    """Sorts numbers in keys as numbers: Ethernet4 before Ethernet12."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split("([0-9]+)", key)]


def _kind(name: str) -> str:
    """The field, or `yellow` and `red` for those of these colours."""
    colours = [colour for colour in ("yellow", "red") if colour in name.split("_")]
    return colours[0] if colours else name


def _reason(table: str, name: str) -> str:
    if table == "WRED_PROFILE" and name in ("yellow", "red"):
        return _COLOURS
    return _FIELDS.get((table, name), "the simulator does not know this field")
