"""The flows that a host's marks are for (`--match`): ports, addresses of the other side, a cgroup."""

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass

from priolane._core import InputError

_PORTS = re.compile("([0-9]{1,5})(?:-([0-9]{1,5}))?")
_MOST_PORT = 65_535
# A name of systemd's or a container's, below /sys/fs/cgroup.
_CGROUP = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@:-]*(/[A-Za-z0-9_][A-Za-z0-9_.@:-]*){0,15}")
_KEYS = ("port", "address", "cgroup")
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True)
class Match:
    """Flows that have all that is stated; what is empty is not asked for.

    `ports` are ranges, both ends included, of either side. `addresses` are of the other host. `cgroup` is a path below
    /sys/fs/cgroup.
    """

    ports: tuple[tuple[int, int], ...] = ()
    addresses: tuple[Network, ...] = ()
    cgroup: str = ""

    @property
    def port_set(self) -> str:
        """The ports as nftables writes them; empty without any."""
        return ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in self.ports)

    @property
    def sides(self) -> tuple[str, ...]:
        """The ports that a packet is compared by, one after the other: either of its two, or none."""
        return ("destination", "source") if self.ports else ("any",)

    def address_set(self, version: int) -> str:
        """The prefixes of IP version 4 or 6 as nftables writes them; empty without any."""
        return ", ".join(str(each) for each in self.addresses if each.version == version)

    @property
    def cgroup_level(self) -> int:
        """The depth of the cgroup."""
        return self.cgroup.count("/") + 1


def read_match(texts: Iterable[str]) -> Match | None:
    """The flows of all `--match KEY=VALUE`; `None` without any. Raises `InputError` for one that is not right."""
    fields: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if key not in _KEYS or not equals:
            raise InputError(
                f"--match {text}: write port=5000-5010,6379, address=10.0.0.0/8 or cgroup=system.slice/a.service"
            )
        if key in fields:
            raise InputError(f"--match {text}: {key} is there twice; write one {key}= with commas")
        fields[key] = value
    if not fields:
        return None
    cgroup = fields.get("cgroup", "")
    if "cgroup" in fields and (".." in cgroup or not _CGROUP.fullmatch(cgroup)):
        raise InputError(
            "--match cgroup: this is no path below /sys/fs/cgroup of letters, digits, `_`, `.`, `@`, `:` and `-`, such "
            "as system.slice/a.service"
        )
    return Match(
        ports=_ports(fields["port"]) if "port" in fields else (),
        addresses=read_networks("--match address", fields["address"]) if "address" in fields else (),
        cgroup=cgroup,
    )


def read_networks(option: str, text: str) -> tuple[Network, ...]:
    """Prefixes with commas between them, without overlaps; raises `InputError` for any that is none."""
    read: list[Network] = []
    for part in text.split(","):
        try:
            read.append(ipaddress.ip_network(part.strip()))
        except ValueError as error:
            raise InputError(f"{option}: {error}; write prefixes, such as 10.0.0.0/8,fd00::/8") from None
    four = [each for each in read if isinstance(each, ipaddress.IPv4Network)]
    six = [each for each in read if isinstance(each, ipaddress.IPv6Network)]
    if any(each.version == 6 and getattr(each.network_address, "scope_id", None) for each in read):
        raise InputError(f"{option}: an address with a zone (%) is of one link; write a prefix")
    return (*ipaddress.collapse_addresses(four), *ipaddress.collapse_addresses(six))


def _ports(text: str) -> tuple[tuple[int, int], ...]:
    read = []
    for part in text.split(","):
        match = _PORTS.fullmatch(part.strip())
        low, high = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 1 <= low <= high <= _MOST_PORT:
            raise InputError(f"--match port: {part.strip()!a} is no port or range from 1 to {_MOST_PORT}")
        read.append((low, high))
    merged: list[tuple[int, int]] = []
    for low, high in sorted(read):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return tuple(merged)
