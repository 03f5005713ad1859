"""`--switch config_db.json`: what a switch has configured, as tables of a fabric file.

Keys of the fabric file go first, and where the configuration says otherwise, that is told. The transport that hosts run
is not in a switch's configuration: it is `[today]` of the fabric file.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from priolane._core import InputError
from priolane.export import configured
from priolane.export.configured import Configured
from priolane.export.quantity import Frame
from priolane.model.quantity import size
from priolane.model.toml import inline

DSCP = "dscp"
"""The key of `[today]` with the code points of the simulated traffic, class 0 first."""
SYSTEM = "sonic"
_LINK, _GAP = 18, 20
_MOST_DSCP = 63


def is_configuration(path: Path) -> bool:
    """Whether a file is a configuration in JSON, by its name."""
    return path.suffix == ".json"


@dataclass(frozen=True)
class FromSwitch:
    """The tables of a fabric file with what a configuration states besides.

    `not_simulated` are sentences on the rest of the configuration, `unmarked` is one on why today's queues do not mark,
    `None` if they do.
    """

    tables: dict[str, Any]
    not_simulated: tuple[str, ...] = ()
    unmarked: str | None = None


def with_configuration(tables: Mapping[str, Any], path: Path, tell: Callable[[str], None]) -> FromSwitch:
    """Adds what a configuration states to the tables of a fabric file.

    `tell` is told each key that both state otherwise. Raises `InputError` for mistakes in the configuration.
    """
    switch = configured.read(path, _points(tables), _frame(tables))
    stated = {"switch": _switch(switch), "today": _today(switch)}
    merged = dict(tables)
    for part, keys in stated.items():
        own = tables.get(part, {})
        if not isinstance(own, Mapping):
            return FromSwitch(merged)
        for key in keys.keys() & own.keys():
            if own[key] != keys[key]:
                tell(f"{path}: {part}.{key} is {inline(keys[key])}, the fabric file's {inline(own[key])} is simulated")
        merged[part] = {**keys, **own}
    merged["today"] = {key: of for key, of in merged["today"].items() if key != DSCP}
    if not merged["today"]:
        del merged["today"]
    _tell_missing(switch, tell)
    marks = switch.ecn is not None or "ecn" in tables.get("switch", {})
    unmarked = f"{path}: queues of DSCP {_shown(switch)} mark nothing (ECN)"
    lines = tuple(f"not simulated of {path}: {line}" for line in switch.not_simulated)
    return FromSwitch(merged, lines, None if marks else unmarked)


def _tell_missing(switch: Configured, tell: Callable[[str], None]) -> None:
    """Tells what the file lacks; raises `InputError` where its queues are not in the order of classes."""
    for line in switch.missing:
        tell(f"{switch.path}: missing: {line}")
    if switch.places != tuple(range(len(switch.places))):
        raise InputError(
            f"{switch.path}: queues of DSCP {_shown(switch)} are not those of classes in order, the best first, each "
            "with a queue of its own; state today.dscp in that order"
        )


def _points(tables: Mapping[str, Any]) -> tuple[int, ...]:
    today = tables.get("today", {})
    points = today.get(DSCP, [0]) if isinstance(today, Mapping) else [0]
    whole = isinstance(points, list) and all(type(point) is int and 0 <= point <= _MOST_DSCP for point in points)
    if not whole or not points or len(set(points)) < len(points):
        raise InputError(
            f"key `today.dscp`: {points!r} is no list of code points; the best class first, such as dscp = [40, 0]"
        )
    return tuple(points)


def _frame(tables: Mapping[str, Any]) -> Frame:
    frame = tables.get("frame", {})
    stated = frame.get("mtu", "1500B") if isinstance(frame, Mapping) else "1500B"
    mtu = size(str(stated))
    return replace(configured.ETHERNET, mtu=mtu, stored=mtu + _LINK, wire=mtu + _LINK + _GAP)


def _switch(switch: Configured) -> dict[str, Any]:
    keys: dict[str, Any] = {"system": SYSTEM, "queues": max(1, switch.free)}
    if switch.buffer is not None:
        keys["buffer"] = dict(switch.buffer)
    if switch.ecn is not None:
        keys["ecn"] = dict(switch.ecn)
    if any(queue.is_lossless for queue in switch.queues):
        keys["pfc"] = True
    return keys


def _today(switch: Configured) -> dict[str, Any]:
    """The ports of today: none is stated where they are one queue, as those of most schemes of today are."""
    if len(switch.places) == 1 and switch.pfc is None:
        return {}
    return {"port": {**switch.port, **({} if switch.pfc is None else {"pfc": dict(switch.pfc)})}}


def _shown(switch: Configured) -> str:
    return ", ".join(map(str, switch.dscps))
