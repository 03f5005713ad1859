"""The properties of the devices that the user states besides the experiment."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from priolane._core import InputError
from priolane.export import code_points
from priolane.export.match import Match, Network
from priolane.export.plan import ExportPlan
from priolane.export.present import Present
from priolane.storage.input_file import read_text_of_user

# Speeds are in Mbit/s, the others in bytes: none has more digits.
_NUMBER = re.compile("[0-9]{1,18}")
Qdisc = Literal["ets", "htb"]


@dataclass(frozen=True)
class Headroom:
    """Headroom of a lossless class at a port (a row of SONiC's pg_profile_lookup.ini): bytes, as the file has them."""

    size: int
    xon: int
    xoff: int
    xon_offset: int | None


@dataclass(frozen=True)
class Deployment:
    """Options of `priolane export`.

    `qdisc` is what Linux ports are made of. `memory` is that of the switch's packets in bytes, `None` if not known.
    `headroom` is by rate in Mbit/s for cables of the length `cable`, which is SONiC's text such as `40m`.
    `present` is the configuration that a switch of SONiC has now, and `free` are code points that nobody sends there:
    they may lose their queues. `scheme` are the words that name the scheme to `priolane export`, for notes.

    Of hosts: `match` are the flows that are marked (`None`: all), `group` the group of the experiment that these are of
    (`None`: all groups), `idle` the seconds after which bytes sent count from zero, `prefixes` the addresses of the
    datacenter, which get its congestion control.
    """

    qdisc: Qdisc = "ets"
    memory: int | None = None
    cable: str = ""
    headroom: dict[int, Headroom] | None = None
    present: Present | None = None
    free: tuple[int, ...] = ()
    scheme: tuple[str, ...] = ()
    match: Match | None = None
    group: str | None = None
    idle: int | None = None
    prefixes: tuple[Network, ...] = ()

    def placed(self, plan: ExportPlan, points: tuple[int, ...] | None = None) -> ExportPlan:
        """The plan with the code points that are stated, and with the ports of the present configuration.

        Beside a present configuration, 0 stays with other traffic if no points are stated.
        """
        if self.present is not None:
            plan = replace(plan, switches=(self.present.switch,), ports_are_named=True)
            points = code_points.beside_others(plan) if points is None else points
        return plan if points is None else code_points.with_points(plan, points)


def read_headroom(path: Path, cable: str) -> dict[int, Headroom]:
    """Rows of a platform's pg_profile_lookup.ini for one length of cable; raises `InputError` if it has none."""
    lines = read_text_of_user(path, shown=f"--headroom {path}").splitlines()
    by_speed, cables = {}, set()
    for number, line in enumerate(lines, 1):
        cells = line.split("#")[0].split()
        if not cells:
            continue
        if len(cells) not in (6, 7) or not all(map(_NUMBER.fullmatch, [cells[0], *cells[2:5], *cells[6:]])):
            raise InputError(
                f"--headroom {path}: line {number} is not a row of speed, cable, size, xon, xoff, threshold "
                "and perhaps xon_offset"
            )
        cables.add(cells[1])
        if cells[1] == cable:
            size, xon, xoff = map(int, cells[2:5])
            by_speed[int(cells[0])] = Headroom(size, xon, xoff, int(cells[6]) if len(cells) == 7 else None)
    if not by_speed:
        raise InputError(f"--headroom {path}: no row for --cable {cable}; it has {_listed(cables)}")
    return by_speed


def _listed(cables: Iterable[str]) -> str:
    return ", ".join(sorted(cables)) or "no rows"
