"""The user's network: `FABRIC.toml`, and `SWITCH.toml` if the switch and the hosts stand there.

    [topology]    as in experiment files
    [switch]      buffer, ecn as in experiment files; queues, system, and what it has of `SWITCH_FEATURES`
    [today]       what runs now: scheme, and rows of a scheme that differ from it
    [host]        min_rto, initial_rto, max_rto, handshake, nic as in experiment files; what it has of `HOST_FEATURES`
    [metrics]     classes as in experiment files
    frame, host_delay, delay_noise    as in experiment files

Each key that is not stated has a default, which the answer names.
"""

import math
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from priolane._core import InputError
from priolane.advice.configured_switch import DSCP, FromSwitch, is_configuration, with_configuration
from priolane.advice.marking import Derived, Ecn, derive
from priolane.model.quantity import size
from priolane.storage.input_file import read_text_of_user

Sizes = np.ndarray[tuple[int], np.dtype[np.float64]]

SWITCH_FEATURES = {
    "ecn": "marks packets above a queue length (ECN)",
    "pfc": "pauses single classes (PFC)",
    "int": "writes telemetry into packets (INT)",
    "trimming": "trims packets that do not fit",
    "token_limiter": "limits tokens or credits by port",
    "rank_queues": "sorts or admits packets by a rank in them (PIFO, AIFO, pFabric)",
}
HOST_FEATURES = {
    "dscp": "marks packets by class or bytes sent (DSCP)",
    "congestion_control": "chooses among the congestion controls of its kernel",
    "congestion_module": "loads a congestion control as a kernel module",
    "kernel_module": "loads a transport as a kernel module",
    "user_stack": "runs a transport in user space",
    "sizes_known": "knows the size of a flow when it starts",
}
_DEFAULTS = {
    "ecn": True,
    "dscp": True,
    "congestion_control": True,
}
CLASSES: Mapping[str, Any] = {"small": {"below": "100kB"}, "bulk": {"above": "1MB"}}
_TOP = {"topology", "switch", "host", "metrics", "frame", "host_delay", "delay_noise", "today"}
TODAY = "newreno"
"""The scheme that is taken to run now where nothing is stated; CUBIC is close to it, and is `scheme = "cubic"`."""
_TODAY_ROWS = ("transport", "assign", "host", "port", "admit", "nic")
SYSTEMS = ("sonic", "eos", "nxos", "junos", "dcb", "tc")
"""The systems of switches, named as targets of `priolane export`."""
_SWITCH = {"buffer", "queues", "system", *SWITCH_FEATURES}
_HOST_KEYS = ("min_rto", "initial_rto", "max_rto", "handshake", "nic")
_MOST_QUEUES = 16
_ETHERNET = {"mtu": "1500B", "header": "40B"}
_LINUX_RTO = "200ms"


@dataclass(frozen=True)
class Fabric:
    """The network on which candidates are simulated, and the capabilities that they may use.

    `experiment` has the tables of experiment files but `switch.ecn`, `ecn` is that key (`None` without ECN), `derived`
    what the simulator makes of both. `features` are those that switches and hosts have, `assumed`
    sentences on what was not stated.
    """

    path: Path
    experiment: Mapping[str, Any]
    ecn: Ecn | None
    derived: Derived
    queues: int
    features: frozenset[str]
    classes: Mapping[str, Any]
    today: Mapping[str, Any] = field(default_factory=lambda: {"base": TODAY})
    """The scheme that runs now, as a table of an experiment's scheme: `base`, and the rows that differ from it."""
    assumed: tuple[str, ...] = field(default=())
    system: str | None = None
    """The target of `priolane export` that the switches are configured by; `None`: any."""
    unmarked: str | None = None
    """A sentence on why today's queues do not mark, where a switch's configuration says so."""

    @property
    def topology(self) -> Mapping[str, Any]:
        """The table of the topology."""
        topology: Mapping[str, Any] = self.experiment["topology"]
        return topology

    @property
    def marking(self) -> Mapping[str, Any]:
        """Marking thresholds at the rates of links; empty without ECN."""
        return self.derived.marking

    @property
    def host_rate(self) -> float | None:
        """The rate of the slowest host's link in bit/s; `None` if the topology is not right."""
        return self.derived.host_rate

    @property
    def fastest_host(self) -> float | None:
        """The rate of the fastest host's link in bit/s; `None` if the topology is not right."""
        return self.derived.fastest_host

    def pulls(self, rows: Mapping[str, Any]) -> bool:
        """Whether hosts send a packet of each flow in turn, where a scheme's own host queue is a FIFO."""
        return (
            self.experiment["host"]["nic"] == "pull"
            and isinstance(rows["nic"], Mapping)
            and rows["host"]["kind"] == "fifo"
        )

    @property
    def frame(self) -> Mapping[str, str]:
        """Bytes of a packet and of its header, Ethernet's where they are not stated."""
        return {**_ETHERNET, **self.experiment.get("frame", {})}


def read_fabric(
    path: Path,
    switch: Path | None = None,
    queues: int | None = None,
    today: str | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Fabric:
    """Reads the files; `queues` replaces `switch.queues`, and the scheme `today` replaces `[today]`.

    `switch` is a `SWITCH.toml`, or the `config_db.json` of a switch; `tell` is told where the latter contradicts the
    fabric file. Raises `InputError` with one line for each mistake.
    """
    if queues is not None and not _is_count(queues):
        raise InputError(f"queues: {queues} is not a number from 1 to {_MOST_QUEUES}")
    tables = _read(path)
    from_switch = FromSwitch(tables)
    if switch is not None and is_configuration(switch):
        from_switch = with_configuration(tables, switch, tell)
        tables = from_switch.tables
    elif switch is not None:
        stated = _read(switch)
        _refuse(switch, [f"key `{key}`: only [switch] and [host] belong here" for key in stated.keys() - _PARTS])
        _refuse(switch, [_no_table(part) for part in sorted(stated) if not isinstance(stated[part], dict)])
        for part in _PARTS & stated.keys():
            if isinstance(tables.setdefault(part, {}), dict):
                tables[part] = {**tables[part], **stated[part]}
    _refuse(path, list(_mistakes(tables, queues)))
    base = path.parent
    assumed: list[str] = list(from_switch.not_simulated)
    of_switch, of_host = dict(tables["switch"]), dict(tables.get("host", {}))
    features = _features(of_switch, of_host, assumed)
    keys = {"topology": _resolved(tables["topology"], base)}
    keys |= {key: tables[key] for key in ("frame", "host_delay", "delay_noise") if key in tables}
    keys["switch"] = {"buffer": of_switch["buffer"]}
    keys["host"] = _host(of_host, assumed)
    classes = tables.get("metrics", {}).get("classes")
    if classes is None:
        classes = CLASSES
        assumed.append("small flows are below 100 kB, bulk flows above 1 MB: [metrics] states no classes")
    ecn = _ecn(of_switch.get("ecn", True)) if "ecn" in features else None
    stated = tables.get("today", {})
    if today is not None:
        stated = {"scheme": today} if switch is None or not is_configuration(switch) else {**stated, "scheme": today}
    if not stated:
        assumed.append("hosts run NewReno over one queue today, as Linux's Cubic nearly does: [today] is not stated")
    return Fabric(
        path=path,
        experiment=keys,
        ecn=ecn,
        derived=derive(keys, ecn),
        queues=queues if queues is not None else of_switch["queues"],
        features=features,
        classes=classes,
        today={"base": stated.get("scheme", TODAY), **{row: stated[row] for row in _TODAY_ROWS if row in stated}},
        assumed=tuple(assumed),
        system=of_switch.get("system"),
        unmarked=from_switch.unmarked,
    )


_PARTS = {"switch", "host"}
_BOUNDS = ("below", "to", "above", "from")
_GROUPS = "group"


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(read_text_of_user(path))
    except (ValueError, RecursionError) as error:
        # A number of thousands of digits is no `TOMLDecodeError`.
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: this is not TOML: {error}") from None


def _refuse(path: Path, mistakes: list[str]) -> None:
    if mistakes:
        raise InputError("\n".join(f"{path}: {mistake}" for mistake in sorted(mistakes)))


def _mistakes(tables: Mapping[str, Any], queues: int | None) -> Iterator[str]:
    for key in tables.keys() - _TOP:
        yield f"key `{key}`: there is no such key here; one of {', '.join(sorted(_TOP))}"
    parts = ("topology", "switch", "host", "metrics", "today")
    wrong = [key for key in parts if not isinstance(tables.get(key, {}), dict)]
    yield from map(_no_table, wrong)
    if wrong:
        return
    if "topology" not in tables:
        yield 'key `topology` is missing; kind = "leaf_spine" and its keys, as in experiment files'
    switch, host = tables.get("switch", {}), tables.get("host", {})
    if "buffer" not in switch:
        yield (
            "key `switch.buffer` is missing: tails depend on it more than on schemes; "
            'buffer = { dynamic = "12MB", alpha = 1 } for 12 MB of shared memory'
        )
    if queues is None and "queues" not in switch:
        yield "key `switch.queues` is missing; queues = 3 for three free queues at each port, or --queues 3"
    elif queues is None and not _is_count(switch["queues"]):
        yield f"key `switch.queues`: {switch['queues']!r} is not a number from 1 to {_MOST_QUEUES}"
    if "system" in switch and switch["system"] not in SYSTEMS:
        yield f"key `switch.system`: {switch['system']!r} is none of {', '.join(SYSTEMS)}"
    known = {"switch": _SWITCH, "host": {*_HOST_KEYS, *HOST_FEATURES}}
    for part, stated in (("switch", switch), ("host", host)):
        for key in stated.keys() - known[part]:
            yield f"key `{part}.{key}`: there is no such key here; one of {', '.join(sorted(known[part]))}"
        for key in stated.keys() & ({*SWITCH_FEATURES, *HOST_FEATURES} - {"ecn"}):
            if not isinstance(stated[key], bool):
                yield f"key `{part}.{key}`: {stated[key]!r} is neither true nor false"
    yield from _wrong_today(tables.get("today", {}))
    yield from _wrong_classes(tables.get("metrics", {}))
    ecn = switch.get("ecn", True)
    if not (
        isinstance(ecn, bool)
        or ecn == "auto"
        or (
            isinstance(ecn, dict)
            and isinstance(ecn.get("at"), dict)
            and all(isinstance(threshold, str) for threshold in ecn["at"].values())
        )
    ):
        yield (
            f'key `switch.ecn`: {ecn!r} is not marking; true, false, "auto", or '
            '{ per = "queue", at = { "25Gbps" = "163pkt" } }'
        )


def _no_table(part: str) -> str:
    return f"key `{part}`: this is not a table; write [{part}]"


def _wrong_today(today: Mapping[str, Any]) -> Iterator[str]:
    known = ("scheme", *_TODAY_ROWS)
    if DSCP in today:
        yield "key `today.dscp`: it takes `--switch config_db.json`, whose maps lead these code points to queues"
    for key in today.keys() - {*known, DSCP}:
        yield f"key `today.{key}`: there is no such key here; one of {', '.join(known)}"
    if not isinstance(today.get("scheme", TODAY), str):
        yield f'key `today.scheme`: {today["scheme"]!r} is no name; scheme = "dctcp"'
    for row in _TODAY_ROWS:
        if not isinstance(today.get(row, {}), dict):
            yield f'key `today.{row}`: this is not a table; a row, such as transport = {{ init_window = "20pkt" }}'


def _wrong_classes(metrics: Mapping[str, Any]) -> Iterator[str]:
    if not isinstance(metrics.get("classes", {}), dict):
        yield _no_table("metrics.classes")
        return
    for key in metrics.keys() - {"classes"}:
        yield f"key `metrics.{key}`: there is no such key here; classes"
    for name, of in metrics.get("classes", {}).items():
        if not isinstance(of, dict) or not of or of.keys() - {*_BOUNDS, _GROUPS}:
            yield (
                f"key `metrics.classes.{name}`: classes of flows are by size and group here; "
                f'{{ below = "100kB", group = "web" }}, with some of {", ".join((*_BOUNDS, _GROUPS))}'
            )
        elif wrong := next((wrong_size for key in _BOUNDS if (wrong_size := _wrong_size(of, key)) is not None), None):
            yield f"key `metrics.classes.{name}.{wrong}"
        elif not _are_names(of.get(_GROUPS, [])):
            yield f'key `metrics.classes.{name}.{_GROUPS}`: this is no name; "web", or a list such as ["web", "mail"]'


def _wrong_size(of: Mapping[str, Any], key: str) -> str | None:
    """The rest of a message if the bound `key` of a class is stated and is no size."""
    if key not in of:
        return None
    if not isinstance(of[key], str):
        return f'{key}`: the size is no text; write it with its unit, such as "100kB"'
    try:
        size(of[key])
    except InputError as error:
        return f"{key}`: {error}"
    return None


def _are_names(value: object) -> bool:
    names = value if isinstance(value, list) else [value]
    return all(isinstance(name, str) for name in names)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _MOST_QUEUES


def _features(switch: Mapping[str, Any], host: Mapping[str, Any], assumed: list[str]) -> frozenset[str]:
    features = set()
    for where, stated, known in (("switches", switch, SWITCH_FEATURES), ("hosts", host, HOST_FEATURES)):
        unstated = [name for name in known if name not in stated]
        features |= {name for name in known if (stated[name] if name in stated else _DEFAULTS.get(name, False))}
        if stated.get("kernel_module") is True and "congestion_module" not in stated:
            # Who loads a transport also loads a congestion control.
            features.add("congestion_module")
            unstated.remove("congestion_module")
        for has in (True, False):
            names = [name for name in unstated if _DEFAULTS.get(name, False) is has]
            if names:
                assumed.append(f"{where} are taken to have {'' if has else 'no '}{', '.join(names)}: not stated")
    return frozenset(features)


def _host(stated: Mapping[str, Any], assumed: list[str]) -> dict[str, Any]:
    keys = {key: stated[key] for key in _HOST_KEYS if key in stated}
    if "min_rto" not in keys:
        assumed.append(f"the smallest retransmission timeout is {_LINUX_RTO}, Linux's: host.min_rto is not stated")
    keys.setdefault("min_rto", _LINUX_RTO)
    keys.setdefault("initial_rto", keys["min_rto"])
    if "handshake" not in keys:
        assumed.append("connections are open when flows start: host.handshake is not stated")
    keys.setdefault("handshake", "none")
    if "nic" not in keys:
        assumed.append("hosts send a packet of each flow in turn (as fq does): host.nic is not stated")
    keys.setdefault("nic", "pull")
    return keys


def _resolved(topology: Mapping[str, Any], base: Path) -> dict[str, Any]:
    """The table with a file's path from here: experiments are written elsewhere."""
    resolved = dict(topology)
    if isinstance(resolved.get("path"), str):
        resolved["path"] = str((base / resolved["path"]).resolve())
    return resolved


def _ecn(stated: Any) -> Ecn:
    """Marking as experiment files have it."""
    ecn: Ecn = stated if isinstance(stated, Mapping) else "auto"
    return ecn


def class_edges(classes: Mapping[str, Any]) -> list[int]:
    """The sizes at which classes of flows begin or end."""
    return sorted({size(str(of[key])) for of in classes.values() for key in _BOUNDS if key in of})


_LIMITS = (("below", np.less), ("to", np.less_equal), ("above", np.greater), ("from", np.greater_equal))


def in_class(sizes: Sizes, of: Mapping[str, Any]) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """The sizes in a class, by its bounds of sizes alone."""
    mask = np.ones(len(sizes), dtype=bool)
    for key, keep in _LIMITS:
        if key in of:
            mask &= keep(sizes, size(str(of[key])))
    return mask


def scaled(limit: str, factor: float) -> str:
    """A limit such as `65pkt` or `97kB` times a factor, in whole packets or bytes, rounded up as the lab does.

    Raises `InputError` if it is none.
    """
    if not limit.endswith("pkt"):
        return f"{math.ceil(size(limit) * factor)}B"
    try:
        return f"{max(2, math.ceil(float(limit.removesuffix('pkt')) * factor))}pkt"
    except (ValueError, OverflowError):
        raise InputError(f"{limit!r} is no limit, such as 65pkt or 100kB") from None
