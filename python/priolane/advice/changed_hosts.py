"""The hosts that are changed first, as `--changed` names them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from priolane._core import InputError
from priolane.model.experiment import network_of

_PART = re.compile(r"rack(?P<rack>\d{1,6})|(?P<first>\d{1,6})(?:-(?P<last>\d{1,6}))?", re.ASCII)


def racks_of(topology: Mapping[str, Any]) -> Sequence[int]:
    """The rack of each host of a topology."""
    keys = {
        "title": "Racks",
        "schemes": ["newreno"],
        "time": {"measure": "1ms"},
        "topology": topology,
        "group": [{"name": "all", "hosts": "*", "app": "permutation", "size": "1kB"}],
    }
    racks: list[int] = network_of(keys)["racks"]
    return racks


def read_hosts(text: str, racks: Sequence[int]) -> tuple[int, ...]:
    """The hosts that `--changed` names: `all`, hosts and ranges such as `0-15,20`, or racks such as `rack1`.

    `racks` has the rack of each host.

    Raises `InputError` for what names no host.
    """
    if text == "all":
        return tuple(range(len(racks)))
    changed: list[int] = []
    for part in text.removeprefix("hosts=").split(","):
        hosts = _hosts(part.strip(), racks)
        if not hosts:
            raise InputError(
                f"--changed {part}: this names none of {len(racks)} hosts in {max(racks) + 1} racks. Use all, hosts "
                "such as 0-15,20, or racks such as rack0."
            )
        changed += hosts
    return tuple(dict.fromkeys(changed))


def _hosts(part: str, racks: Sequence[int]) -> Sequence[int]:
    """The hosts of a rack or range; none for a text that is neither, or names a host that does not exist."""
    named = _PART.fullmatch(part)
    if named is None:
        return ()
    if named["rack"]:
        return [host for host, rack in enumerate(racks) if rack == int(named["rack"])]
    first, last = int(named["first"]), int(named["last"] or named["first"])
    return range(first, last + 1) if last < len(racks) else ()
