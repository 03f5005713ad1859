"""config_db.json as JSON of SONiC's YANG models (RFC 7951), and back; validation by yanglint where the models are.

`PRIOLANE_SONIC_YANG` names a directory with the models of sonic-buildimage's src/sonic-yang-models, those in
yang-templates rendered. They are not part of this tree.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Rows = Mapping[str, Mapping[str, str]]

_MAPS = {
    "DSCP_TO_TC_MAP": ("sonic-dscp-tc-map", "dscp", "tc"),
    "DOT1P_TO_TC_MAP": ("sonic-dot1p-tc-map", "dot1p", "tc"),
    "TC_TO_QUEUE_MAP": ("sonic-tc-queue-map", "tc", "qindex"),
    "TC_TO_PRIORITY_GROUP_MAP": ("sonic-tc-priority-group-map", "tc", "pg"),
    "MAP_PFC_PRIORITY_TO_QUEUE": ("sonic-pfc-priority-queue-map", "pfc_priority", "qindex"),
}
_KEYS = {
    "PORT": ("sonic-port", ("name",)),
    "SCHEDULER": ("sonic-scheduler", ("name",)),
    "WRED_PROFILE": ("sonic-wred-profile", ("name",)),
    "QUEUE": ("sonic-queue", ("ifname", "qindex")),
    "PORT_QOS_MAP": ("sonic-port-qos-map", ("ifname",)),
    "BUFFER_POOL": ("sonic-buffer-pool", ("name",)),
    "BUFFER_PROFILE": ("sonic-buffer-profile", ("name",)),
    "BUFFER_PG": ("sonic-buffer-pg", ("port", "pg_num")),
    "BUFFER_QUEUE": ("sonic-buffer-queue", ("port", "qindex")),
}
# Leaves of 8 to 32 bits are JSON numbers, booleans JSON booleans; those of 64 bits stay strings.
_NUMBERS = {
    ("tc", "DSCP_TO_TC_MAP"),
    ("tc", "DOT1P_TO_TC_MAP"),
    ("tc", "TC_TO_QUEUE_MAP"),
    ("tc", "TC_TO_PRIORITY_GROUP_MAP"),
} | {
    ("weight", "SCHEDULER"),
    ("dynamic_th", "BUFFER_PROFILE"),
    ("mtu", "PORT"),
    ("speed", "PORT"),
    ("index", "PORT"),
}
_MODELS = (*(model for model, *_ in [*_MAPS.values(), *_KEYS.values()]), "sonic-device_metadata")


def to_yang(config: Mapping[str, Rows]) -> dict[str, Any]:
    """The tables of a config_db.json as data of the models."""
    return {f"{model}:{model}": {table: {f"{table}_LIST": rows}} for table, model, rows in map(_rows, config.items())}


def _rows(of: tuple[str, Rows]) -> tuple[str, str, list[dict[str, Any]]]:
    table, rows = of
    if table in _MAPS:
        model, source, target = _MAPS[table]
        return (
            table,
            model,
            [
                {
                    "name": name,
                    table: [
                        {source: _typed(table, source, k), target: _typed(table, target, v)} for k, v in row.items()
                    ],
                }
                for name, row in rows.items()
            ],
        )
    model, keys = _KEYS[table]
    return (
        table,
        model,
        [
            dict(zip(keys, name.split("|"), strict=True)) | {key: _typed(table, key, text) for key, text in row.items()}
            for name, row in rows.items()
        ],
    )


def from_yang(data: Mapping[str, Any]) -> dict[str, dict[str, dict[str, str]]]:
    """The config_db.json of data of the models."""
    config = {}
    for holder in data.values():
        for table, lists in holder.items():
            config[table] = dict(_row(table, dict(row)) for row in lists[f"{table}_LIST"])
    return config


def _row(table: str, row: dict[str, Any]) -> tuple[str, dict[str, str]]:
    if table in _MAPS:
        _, source, target = _MAPS[table]
        return row["name"], {_text(entry[source]): _text(entry[target]) for entry in row[table]}
    name = "|".join(row.pop(key) for key in _KEYS[table][1])
    return name, {key: _text(value) for key, value in row.items()}


def _typed(table: str, key: str, text: str) -> str | int | bool:
    if (key, table) in _NUMBERS:
        return int(text)
    return text == "true" if key.startswith("wred_") and key.endswith("_enable") else text


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def unavailable() -> str | None:
    """The reason why yanglint cannot judge here; `None` if it can."""
    if shutil.which("yanglint") is None:
        return "yanglint is not installed (apt-get install libyang2-tools)"
    if not os.environ.get("PRIOLANE_SONIC_YANG"):
        return "PRIOLANE_SONIC_YANG does not name a directory with SONiC's YANG models"
    return None


def yanglint(config: Mapping[str, Rows], directory: Path) -> str:
    """The objections of yanglint to a config_db.json; empty if there are none.

    A port and the device stand beside it: without them the models skip `must` and `when` with a warning.
    """
    data = to_yang(config)
    device = {"hostname": "leaf0", "type": "LeafRouter", "hwsku": "a", "platform": "b", "mac": "00:11:22:33:44:55"}
    data["sonic-device_metadata:sonic-device_metadata"] = {"DEVICE_METADATA": {"localhost": device}}
    path = directory / "yang.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    models = Path(os.environ["PRIOLANE_SONIC_YANG"])
    files = [str(models / f"{name}.yang") for name in _MODELS]
    command = ["yanglint", "-p", str(models), "-f", "json", "-t", "config", "-e", *files, str(path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    return ran.stderr if ran.returncode else ""
