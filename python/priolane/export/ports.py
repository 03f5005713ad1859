"""The ports of switches: those of the network that the simulator built, or as the user names them."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from priolane._core import InputError
from priolane.export import quantity
from priolane.export.plan import Network, Port, Switch
from priolane.storage.input_file import read_text_of_user

_MOST_PORTS = 1_024
_LONGEST_NAME = 64
# Names of the systems that are exported to: Ethernet1/1, swp1s0, eth0.100, et-0/0/0:1, enp3s0f0np0, Port_Channel7.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/-]*")
# IFNAMSIZ of Linux has room for a null byte.
_LONGEST_LINUX_NAME = 15


def of_network(read: Mapping[str, Any]) -> tuple[Network, tuple[Switch, ...]]:
    """The network and its kinds of switches, from the JSON of `_core.network`.

    Links to hosts come first among the ports of each. Where switches of one role differ in their ports, each kind has
    a number: `router-1`, `router-2`.
    """
    network = Network(
        hosts=read["hosts"], switches=read["switches"], ports=read["ports"], host_rates=tuple(read["host_rates"])
    )
    kinds = Counter(kind["role"] for kind in read["kinds"])
    numbers: Counter[str] = Counter()
    switches = []
    for kind in read["kinds"]:
        role = kind["role"]
        numbers[role] += 1
        switches.append(
            Switch(
                role=role if kinds[role] == 1 else f"{role}-{numbers[role]}",
                names=tuple(kind["names"]),
                ports=tuple(Port(run["rate"]) for run in kind["ports"] for _ in range(run["count"])),
            )
        )
    return network, tuple(switches)


def named(text: str) -> tuple[Switch, ...]:
    """One switch with ports as the user has them: `48x25Gbps,8x100Gbps`, or a CSV with the columns name and rate."""
    path = Path(text)
    ports = tuple(_of_csv(path) if path.is_file() or text.endswith(".csv") else _of_counts(text))
    if not 1 <= len(ports) <= _MOST_PORTS:
        raise InputError(f"--ports {text}: {len(ports)} ports; a switch has 1 to {_MOST_PORTS}")
    twice = [name for name, count in Counter(port.name for port in ports if port.name).items() if count > 1]
    if twice:
        raise InputError(f"--ports {text}: {twice[0]} is there twice; each port once")
    return (Switch("switch", ("switch",), ports),)


def by_name(switch: Switch, rule: str) -> list[tuple[str, int]]:
    """Names and rates of the ports; `rule` makes a name of a number from 0, as `Ethernet{0}` or `swp{1}` from 1."""
    return [
        (port.name or rule.replace("{0}", str(number)).replace("{1}", str(number + 1)), port.rate)
        for number, port in enumerate(switch.ports)
    ]


def is_name(text: str) -> bool:
    """Whether a text is the name of a port of some system, and nothing that a shell or a configuration could obey."""
    return len(text) <= _LONGEST_NAME and ".." not in text and bool(_NAME.fullmatch(text))


def not_linux(switch: Switch) -> list[str]:
    """The names of ports that Linux gives to no device: longer than 15 bytes, or with `/` or `:`."""
    return [
        port.name
        for port in switch.ports
        if port.name and (len(port.name) > _LONGEST_LINUX_NAME or "/" in port.name or ":" in port.name)
    ]


def _of_csv(path: Path) -> Iterator[Port]:
    rows = csv.DictReader(io.StringIO(read_text_of_user(path, shown=f"--ports {path}"), newline=""))
    try:
        if not {"name", "rate"} <= set(rows.fieldnames or ()):
            raise InputError(f"--ports {path}: the first line has to be name,rate")
        for row in rows:
            name, rate = (row["name"] or "").strip(), (row["rate"] or "").strip()
            if not is_name(name):
                shown = name if len(name) <= _LONGEST_NAME else name[:_LONGEST_NAME] + "..."
                raise InputError(
                    f"--ports {path}: line {rows.line_num}: {shown!a} is not the name of a port; use 1 to "
                    f"{_LONGEST_NAME} letters (a to z, A to Z), digits, `_`, `.`, `:`, `/` or `-`, with a letter or a "
                    "digit in the first place and without `..`"
                )
            yield Port(_port_rate(f"{path}: line {rows.line_num}", rate), name)
    except csv.Error as error:
        raise InputError(f"--ports {path}: line {rows.line_num + 1}: this is not CSV: {error}") from None


def _of_counts(text: str) -> Iterator[Port]:
    for part in text.split(","):
        count, times, rate = part.strip().partition("x")
        if not times or not re.fullmatch("[0-9]{1,4}", count) or not 1 <= int(count) <= _MOST_PORTS:
            raise InputError(
                f"--ports {text}: {part!r} is not COUNTxRATE; write 48x25Gbps,8x100Gbps, or the path of a CSV "
                "with name,rate"
            )
        yield from (Port(_port_rate(text, rate)) for _ in range(int(count)))


def _port_rate(where: str, text: str) -> int:
    try:
        bps = quantity.rate(text)
    except InputError as error:
        raise InputError(f"--ports {where}: {error}") from None
    if bps == 0:
        raise InputError(f"--ports {where}: {text!r} is not a rate above zero, such as 25Gbps")
    return bps
