"""Present configurations of SONiC switches: one that is written down, and random ones."""

import copy
import random
from itertools import pairwise
from typing import Any

Config = dict[str, Any]

SPEEDS = ("10000", "25000", "40000", "100000")
SCHEDULERS = {
    "scheduler.0": {"type": "DWRR", "weight": "14"},
    "scheduler.1": {"type": "DWRR", "weight": "15"},
    "scheduler.s": {"type": "STRICT"},
    "scheduler.w": {"type": "WRR", "weight": "3"},
}
MARKS = {
    "AZURE_LOSSLESS": {
        "ecn": "ecn_all",
        **{f"wred_{colour}_enable": "true" for colour in ("green", "yellow", "red")},
        **{f"{colour}_min_threshold": "1048576" for colour in ("green", "yellow", "red")},
        **{f"{colour}_max_threshold": "2097152" for colour in ("green", "yellow", "red")},
        **{f"{colour}_drop_probability": "5" for colour in ("green", "yellow", "red")},
    }
}
POOLS = {
    "ingress_lossless_pool": {"type": "ingress", "mode": "dynamic", "size": "10875072", "xoff": "4194112"},
    "egress_lossy_pool": {"type": "egress", "mode": "dynamic", "size": "9243812"},
}
PROFILES = {
    "egress_lossy_profile": {"pool": "egress_lossy_pool", "size": "1664", "dynamic_th": "3"},
    "pg_lossless_profile": {
        "pool": "ingress_lossless_pool",
        "size": "1792",
        "dynamic_th": "-3",
        "xon": "19000",
        "xoff": "31000",
    },
}
# What has nothing to do with queues, lists and non-ASCII text included.
OTHERS: Config = {
    "BANNER_MESSAGE": {"global": {"login": "Zutritt nur für Befugte\nline 2"}},
    "DEVICE_METADATA": {"localhost": {"hostname": "leaf0", "type": "LeafRouter"}},
    "VLAN": {"Vlan100": {"members": ["Ethernet0", "Ethernet4"], "vlanid": "100"}},
}


def port_table(speeds: list[str]) -> dict[str, dict[str, str]]:
    """Ports that count lanes as switches do: Ethernet0, Ethernet4, ..."""
    return {
        f"Ethernet{4 * number}": {
            "alias": f"a{number}",
            "index": str(number + 1),
            "lanes": str(number + 1),
            "speed": speed,
        }
        for number, speed in enumerate(speeds)
    }


def written(**port_map: str) -> Config:
    """Two ports: storage in queue 3, lossless; DSCP 48 in queue 6, strict; all else in queue 1. 0, 2, 4, 5 are free."""
    ports = port_table(["10000", "40000"])
    dscp = {str(number): "1" for number in range(64)} | {"26": "3", "48": "6"}
    named = {"dscp_to_tc_map": "AZURE", "tc_to_queue_map": "AZURE", "tc_to_pg_map": "AZURE", "pfc_enable": "3"}
    config: Config = {
        **OTHERS,
        "PORT": ports,
        "DSCP_TO_TC_MAP": {"AZURE": dscp},
        "TC_TO_QUEUE_MAP": {"AZURE": {str(number): str(number) for number in range(8)}},
        "TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {str(number): "3" if number == 3 else "0" for number in range(8)}},
        "MAP_PFC_PRIORITY_TO_QUEUE": {"AZURE": {str(number): str(number) for number in range(8)}},
        "PORT_QOS_MAP": {
            "global": {"dscp_to_tc_map": "AZURE"},
            **{port: {**named, "pfc_to_queue_map": "AZURE", **port_map} for port in ports},
        },
        "SCHEDULER": dict(SCHEDULERS),
        "WRED_PROFILE": dict(MARKS),
        "QUEUE": {},
        "BUFFER_POOL": dict(POOLS),
        "BUFFER_PROFILE": dict(PROFILES),
        "BUFFER_PG": {f"{port}|3": {"profile": "pg_lossless_profile"} for port in ports},
        "BUFFER_QUEUE": {f"{port}|0-2": {"profile": "egress_lossy_profile"} for port in ports},
    }
    for port in ports:
        config["QUEUE"] |= {f"{port}|{number}": {"scheduler": "scheduler.0"} for number in (0, 1, 2, 4, 5)}
        config["QUEUE"][f"{port}|3"] = {"scheduler": "scheduler.1", "wred_profile": "AZURE_LOSSLESS"}
        config["QUEUE"][f"{port}|6"] = {"scheduler": "scheduler.s"}
    return copy.deepcopy(config)


def drawn(seed: int) -> Config:
    """A configuration that SONiC takes, with maps, ranges and schedulers drawn; some ports may have no maps."""
    draw = random.Random(seed)  # noqa: S311 - test data
    ports = port_table(draw.choices(SPEEDS, k=draw.randint(1, 5)))
    lossless = draw.choice([None, 3, 4])
    config: Config = {**OTHERS, "PORT": ports, "SCHEDULER": dict(SCHEDULERS), "WRED_PROFILE": dict(MARKS)}
    maps = [f"M{number}" for number in range(draw.randint(0, 2))]
    if maps:
        config |= _maps(draw, maps, list(ports), lossless)
    if lossless is not None or draw.random() < 0.7:
        config["BUFFER_POOL"], config["BUFFER_PROFILE"] = dict(POOLS), dict(PROFILES)
        config["BUFFER_QUEUE"] = {
            _key(port, *run): {"profile": "egress_lossy_profile"} for port in ports for run in _runs(draw)
        }
    if lossless is not None:
        config["BUFFER_PG"] = {f"{port}|{lossless}": {"profile": "pg_lossless_profile"} for port in ports}
    config["QUEUE"] = {key: row for port in ports for key, row in _queue_rows(draw, port).items()}
    return {name: copy.deepcopy(rows) for name, rows in config.items() if rows}


def _maps(draw: random.Random, maps: list[str], ports: list[str], lossless: int | None) -> Config:
    rest = draw.choice([0, 1, 2])
    rows: Config = {}
    for port in ports:
        if draw.random() < 0.1:
            continue
        fields = ("dscp_to_tc_map", "tc_to_queue_map", "tc_to_pg_map")
        rows[port] = {field: draw.choice(maps) for field in fields}
        if lossless is not None:
            rows[port] |= {"pfc_enable": str(lossless), "pfc_to_queue_map": maps[0]}
        if draw.random() < 0.2:
            rows[port]["dot1p_to_tc_map"] = maps[0]
    groups = {str(number): str(number) if number == lossless else "0" for number in range(16)}
    return {
        "DSCP_TO_TC_MAP": {name: _classes(draw, rest, lossless) for name in maps},
        "TC_TO_QUEUE_MAP": {name: _queues(draw) for name in maps},
        "TC_TO_PRIORITY_GROUP_MAP": dict.fromkeys(maps, groups),
        "MAP_PFC_PRIORITY_TO_QUEUE": {maps[0]: {str(number): str(number) for number in range(8)}},
        "DOT1P_TO_TC_MAP": {maps[0]: {str(number): str(draw.choice([rest, 6])) for number in range(8)}},
        "PORT_QOS_MAP": rows,
    }


def _queue_rows(draw: random.Random, port: str) -> Config:
    rows: Config = {}
    for run in _runs(draw):
        row = {"scheduler": draw.choice(["scheduler.0", "scheduler.0", "scheduler.1", "scheduler.w"])}
        if draw.random() < 0.3:
            row["wred_profile"] = "AZURE_LOSSLESS"
        rows[_key(port, *run)] = row
    if draw.random() < 0.9:
        # Routing protocols are in one of these two, by the maps of the port.
        rows = {key: row for key, row in rows.items() if _last(key) < 4}
        rows |= {f"{port}|{number}": {"scheduler": "scheduler.s"} for number in (4, 6)}
    return rows


def _classes(draw: random.Random, rest: int, lossless: int | None) -> dict[str, str]:
    classes = {str(dscp): str(rest) for dscp in range(64)}
    for dscp in draw.sample(range(1, 48), draw.randint(0, 4)):
        classes[str(dscp)] = str(draw.choice([0, 1, 2, 5, lossless or 1]))
    for dscp in range(48, 64) if draw.random() < 0.5 else (48,):
        classes[str(dscp)] = "6"
    for dscp in draw.sample(range(1, 48), draw.randint(0, 3)):
        if rest == 0 and dscp not in (40, 32, 24, 16):
            # What no map names is in traffic class 0.
            del classes[str(dscp)]
    return classes


def _queues(draw: random.Random) -> dict[str, str]:
    queues = {str(number): str(number) for number in range(8)}
    if draw.random() < 0.3:
        queues |= {str(number): str(draw.choice([0, 1])) for number in (2, 5)}
    if draw.random() < 0.3:
        queues["6"] = "4"
    if draw.random() < 0.3:
        queues |= {str(number): "0" for number in range(8, 16)}
    return queues


def _runs(draw: random.Random) -> list[tuple[int, int]]:
    """Neighbouring queues that have one row, some without any."""
    cuts = [0, *sorted(draw.sample(range(1, 8), draw.randint(0, 6))), 8]
    return [(low, high - 1) for low, high in pairwise(cuts) if draw.random() < 0.8]


def _key(port: str, first: int, last: int) -> str:
    return f"{port}|{first}" if first == last else f"{port}|{first}-{last}"


def _last(key: str) -> int:
    return int(key.partition("|")[2].rpartition("-")[2])


def stock() -> Config:
    """The QoS of a leaf as SONiC ships it (files/build_templates/qos_config.j2 of sonic-buildimage): queues 3 and 4 are
    lossless, 46 is voice, 48 BGP, and all schedulers have weights."""
    ports = port_table(["25000", "100000"])
    dscp = {str(number): "1" for number in range(64)}
    dscp |= {"3": "3", "4": "4", "5": "2", "8": "0", "46": "5", "48": "6"}
    same = {str(number): str(number) for number in range(8)}
    groups = {str(number): {3: "3", 4: "4", 7: "7"}.get(number, "0") for number in range(8)}
    names = ("dscp_to_tc_map", "tc_to_queue_map", "tc_to_pg_map", "pfc_to_queue_map")
    return {
        "PORT": ports,
        "DSCP_TO_TC_MAP": {"AZURE": dscp},
        "TC_TO_QUEUE_MAP": {"AZURE": same},
        "TC_TO_PRIORITY_GROUP_MAP": {"AZURE": groups},
        "MAP_PFC_PRIORITY_TO_QUEUE": {"AZURE": dict(same)},
        "PORT_QOS_MAP": {port: {**dict.fromkeys(names, "AZURE"), "pfc_enable": "3,4"} for port in ports},
        "SCHEDULER": {name: dict(SCHEDULERS[name]) for name in ("scheduler.0", "scheduler.1")},
        "WRED_PROFILE": copy.deepcopy(MARKS),
        "QUEUE": {
            f"{port}|{number}": {"scheduler": "scheduler.1", "wred_profile": "AZURE_LOSSLESS"}
            if number in (3, 4)
            else {"scheduler": "scheduler.0"}
            for port in ports
            for number in range(7)
        },
    }
