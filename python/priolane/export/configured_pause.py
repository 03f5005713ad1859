"""Lossless queues of a configured switch: where they pause, their headroom, the memory, and the watchdog."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from priolane._core import InputError
from priolane.export.configured_rows import Rows
from priolane.export.present import Row

_ACTIONS = ("drop", "forward")
_CURE = 'state port.pfc = { classes = [0], xoff = "1/8", headroom_least = "40kB" }'


@dataclass(frozen=True)
class Paused:
    """`queues` are those that a pause holds, `limits` the keys of `pfc` besides the classes.

    `memory` is that of the switch in bytes, headroom included, `None` if the file has no size.
    """

    queues: tuple[int, ...]
    limits: Mapping[str, Any]
    memory: int | None

    def keys(self, dscps: Sequence[int], numbers: Sequence[int]) -> dict[str, Any]:
        """The key `pfc` of a port: the classes are the places of code points whose queues are lossless."""
        places = range(len(dscps))
        return {"classes": [place for place in places if numbers[place] in self.queues], **self.limits}


def read(rows: Rows, ports: list[str], numbers: Iterable[int], missing: list[str]) -> Paused | None:
    """The lossless ones among queues of the first port; `None` if there is none whose limits are stated."""
    name = ports[0]
    paused = rows.lossless_queues(name)
    lossless = [number for number in numbers if number in paused]
    profiles: dict[int, tuple[str, Row]] = {}
    for number in lossless:
        group = _group(rows, name, number, paused[number])
        row = rows.profile("BUFFER_PG", name, group)
        if row is None or not rows.number(*row, "xoff"):
            what = "has no profile" if row is None else f"has {row[0]}, which has no xoff"
            missing.append(
                f"priority {paused[number]} of {name} is paused, and BUFFER_PG|{name}|{group} {what}: the switch "
                f"calculates headroom, or the configuration is wrong; {_CURE}"
            )
        else:
            profiles[number] = row
    if not profiles:
        return None
    where, profile = next(iter(profiles.values()))
    limits = _limits(rows, where, profile, missing)
    if limits is None:
        return None
    limits["headroom_least"] = f"{_most_headroom(rows, ports, profiles, where)}B"
    watchdog = _watchdog(rows, ports)
    if watchdog is not None:
        limits["watchdog"] = watchdog
    return Paused(tuple(profiles), limits, _memory(rows, profile, missing))


def _group(rows: Rows, name: str, number: int, priority: int) -> int:
    """The priority group of a lossless queue: that of a class that leads to it, or the number of its priority."""
    maps = rows.present.maps(name)
    groups = maps.groups or {}
    leading = [key for key, queue in maps.queues.items() if int(queue) == number]
    return next((int(groups[key]) for key in leading if key in groups), priority)


def _limits(rows: Rows, where: str, profile: Row, missing: list[str]) -> dict[str, Any] | None:
    exponent, fixed, xon, offset = (
        rows.number(where, profile, key) for key in ("dynamic_th", "static_th", "xon", "xon_offset")
    )
    if exponent is None and fixed is None:
        missing.append(f"{where} has neither dynamic_th nor static_th: {_CURE}")
        return None
    limits: dict[str, Any] = {
        "xoff": str(Fraction(2) ** exponent) if exponent is not None else f"{fixed}B",
        "headroom": "charged",
    }
    if offset is not None:
        limits["xon_below"] = f"{offset}B"
        if xon:
            rows.unread.say(f"{where}: xon {xon}: a class is resumed xon_offset below the threshold alone")
    elif fixed is not None and xon is not None and xon < fixed:
        limits["xon_below"] = f"{fixed - xon}B"
    else:
        rows.unread.say(f"{where}: xon {xon or 0} without xon_offset: a class is resumed 3 kB below the threshold")
    return limits


def _most_headroom(rows: Rows, ports: list[str], queues: Iterable[int], where: str) -> int:
    """The largest xoff of the lossless priority groups, which all have; others are listed."""
    largest: dict[str, int] = {}
    for port in ports:
        paused = rows.lossless_queues(port)
        for number in queues:
            row = rows.profile("BUFFER_PG", port, _group(rows, port, number, paused.get(number, number)))
            if row is not None:
                largest[row[0]] = rows.number(*row, "xoff") or 0
    if len(largest) > 1:
        rows.unread.say(
            f"{', '.join(sorted(largest))}: lossless classes have several profiles: all have the largest xoff, and "
            f"else what {where} states"
        )
    return max(largest.values())


def _memory(rows: Rows, profile: Row, missing: list[str]) -> int | None:
    """The size of the pool, and the headroom beside it."""
    pool = rows.pool(profile)
    size = None if pool is None else rows.number(*pool, "size")
    if pool is None or size is None:
        missing.append(
            "the pool of lossless queues has no size: the switch calculates it; state [switch] "
            'buffer = { dynamic = "12MB", alpha = 1 }, with the size that `show buffer information` prints'
        )
        return None
    where, row = pool
    shared = rows.number(where, row, "xoff")
    if shared is not None:
        rows.unread.say(f"{where}: xoff {shared}: headroom that ports share; simulated each port has its own of it")
        return size + shared
    return size + _headroom(rows)


def _headroom(rows: Rows) -> int:
    """The headroom of all lossless priority groups, which is not part of the pool."""
    profiles = rows.present.table("BUFFER_PROFILE")
    total = 0
    for key, row in rows.present.table("BUFFER_PG").items():
        name = row.get("profile", "")
        xoff = rows.number(f"BUFFER_PROFILE|{name}", profiles[name], "xoff") if name in profiles else None
        first, _, last = key.rpartition("|")[2].partition("-")
        if xoff and first.isdecimal() and (not last or last.isdecimal()):
            total += xoff * (int(last or first) - int(first) + 1)
    return total


def _watchdog(rows: Rows, ports: list[str]) -> dict[str, str] | None:
    """The watchdog of the ports; ports without one, and actions that are not simulated, are listed."""
    table = rows.present.table("PFC_WD")
    name = next((name for name in ports if name in table), None)
    if name is None:
        return None
    row = table[name]
    others = [port for port in ports if table.get(port) != row]
    if others:
        rows.unread.say(f"PFC_WD: {len(others)} ports such as {others[0]} differ from {name}: all are simulated alike")
    for port in ports:
        if port in table:
            rows.unread.use("PFC_WD", port, "action", "detection_time", "restoration_time")
    action = row.get("action", "drop")
    after, restore = (rows.number(f"PFC_WD|{name}", row, f"{what}_time") for what in ("detection", "restoration"))
    if action not in _ACTIONS:
        if action != "alert":
            raise InputError(f"{rows.present.path}: PFC_WD|{name}: action is {action[:40]!r}; drop, forward or alert")
        rows.unread.say(f"PFC_WD|{name}: action alert: it changes no packet")
        return None
    if not after:
        rows.unread.say(f"PFC_WD|{name}: detection_time is not stated: no watchdog is simulated")
        return None
    # pfcwd restores after twice the time of detection unless it is told otherwise.
    return {"after": f"{after}ms", "action": action, "restore": f"{restore or 2 * after}ms"}
