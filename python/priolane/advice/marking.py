"""The values that the simulator derives of a fabric: marking thresholds at the rates of links, and the network."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from priolane._core import InputError
from priolane.model import quantity
from priolane.model.definition import Experiment
from priolane.model.experiment import check, network_of

Ecn = str | Mapping[str, Any]
"""Marking as `[switch]` states it: "auto", or a table of thresholds."""

_SCHEME = "dctcp"


@dataclass(frozen=True)
class Derived:
    """`marking` is `{ per, at }` of DCTCP's ports at the rates of links, empty without ECN; `host_rate` and
    `fastest_host` are the rates of the slowest and the fastest host's link in bit/s. All are missing if the tables are
    not right: the check of the first experiment says so, with its remedy."""

    marking: Mapping[str, Any] = field(default_factory=dict)
    host_rate: float | None = None
    fastest_host: float | None = None
    racks: tuple[int, ...] = ()
    """The rack of each host."""
    uplinks: tuple[float, ...] = ()
    """By rack, the rate of all its links to other switches together, in bit/s."""
    failures: tuple[str, ...] = ()
    """Links and switches whose loss leaves every two hosts a path, as an event names them."""


def derive(tables: Mapping[str, Any], ecn: Ecn | None) -> Derived:
    """Derives the values of an experiment with these tables."""
    group = {"name": "all", "hosts": "*", "app": "permutation", "size": "1kB"}
    keys = {
        "title": "Marking",
        "schemes": [_SCHEME],
        "time": {"measure": "1ms"},
        "topology": tables["topology"],
        "group": [group],
        "switch": {"buffer": tables["switch"]["buffer"], **({} if ecn is None else {"ecn": ecn})},
    }
    experiment = Experiment(keys)
    try:
        port_ecn: Mapping[str, Any] = check(experiment)["merged"]["scheme"][_SCHEME]["port"]["ecn"]
        network = network_of(experiment)
    except InputError:
        return Derived()
    slowest, fastest = (float(rate(network["host_rates"])) for rate in (min, max))
    unmarked = Derived(
        host_rate=slowest,
        fastest_host=fastest,
        racks=tuple(network["racks"]),
        uplinks=tuple(map(float, network["uplinks"])),
        failures=tuple(network["failures"]),
    )
    if ecn is None:
        return unmarked
    links = {float(run["rate"]) for kind in network["kinds"] for run in kind["ports"]}
    of_links = {name: _of_links(port_ecn[name], links) for name in LIMITS if name in port_ecn}
    return replace(unmarked, marking={**port_ecn, **of_links})


LIMITS = ("at", "full")
"""The keys of marking that have a limit for each rate."""


def _of_links(limits: Mapping[str, str], links: set[float]) -> dict[str, str]:
    """The limits of the rates of links, the slowest first."""
    known = [item for item in limits.items() if quantity.rate(item[0]) in links]
    return dict(sorted(known, key=lambda item: quantity.rate(item[0])))
