"""Marking thresholds of the fabric's switches, as the lab derives them for the rates of its links."""

import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from priolane import _core, quantity
from priolane._core import InputError
from priolane.experiment import Options, check, toml_text

Ecn = str | Mapping[str, Any]
"""Marking as `[switch]` states it: "auto", or a table of thresholds."""

_SCHEME = "dctcp"


def resolve(tables: Mapping[str, Any], ecn: Ecn) -> Mapping[str, Any]:
    """The thresholds of DCTCP's ports at the rates of links, `{ per, at }`, as an experiment with these tables has.

    Empty if the tables are not right; the check of the first experiment says so, with its remedy.
    """
    group = {"name": "all", "hosts": "*", "app": "permutation", "size": "1kB"}
    keys = {
        "title": "Marking",
        "schemes": [_SCHEME],
        "time": {"measure": "1ms"},
        "topology": tables["topology"],
        "group": [group],
        "switch": {"buffer": tables["switch"]["buffer"], "ecn": ecn},
    }
    with TemporaryDirectory() as folder:
        path = Path(folder) / "marking.toml"
        path.write_text("\n".join(f"{key} = {toml_text(value)}" for key, value in keys.items()), encoding="utf-8")
        try:
            found: Mapping[str, Any] = check(path)["merged"]["scheme"][_SCHEME]["port"]["ecn"]
            network = json.loads(_core.network(path, Options().to_json()))
        except InputError:
            return {}
    links = {float(run["rate"]) for kind in network["kinds"] for run in kind["ports"]}
    at = {rate: limit for rate, limit in found["at"].items() if quantity.rate(rate) in links}
    return {**found, "at": dict(sorted(at.items(), key=lambda item: quantity.rate(item[0])))}
