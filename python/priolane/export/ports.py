"""The ports of an experiment's switches: from its topology, or as the user names them."""

import csv
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from priolane._core import InputError
from priolane.export import quantity
from priolane.export.plan import Port, Switch
from priolane.input_file import read_text_of_user

_MOST_PORTS = 1_024


def switches(topology: Mapping[str, Any], base: Path) -> tuple[Switch, ...]:
    """The switches of a topology, those with hosts first; links to hosts come first among the ports of each.

    Files that it names are relative to `base`.
    """
    kind = topology["kind"]
    if kind == "file":
        return tuple(_of_file(base / topology["path"]))
    found = _KINDS.get(kind)
    if found is None:
        raise InputError(f"topology.kind = {kind!r} is not known here; name the ports of your switch with --ports")
    return tuple(
        Switch(role, count, tuple(Port(_rate(topology[link])) for link, ports in links for _ in range(ports)))
        for role, count, links in found(topology)
    )


def host_rates(topology: Mapping[str, Any], base: Path) -> tuple[int, ...]:
    """Rates of the links of hosts, the slowest first."""
    if topology["kind"] != "file":
        return (_rate(topology["host_link"]),)
    kinds, links = _read_file(base / topology["path"])
    return tuple(sorted({bps for a, b, bps in links if "host" in (kinds.get(a), kinds.get(b))}))


def named(text: str) -> tuple[Switch, ...]:
    """One switch with ports as the user has them: `48x25Gbps,8x100Gbps`, or a CSV with the columns name and rate."""
    path = Path(text)
    ports = tuple(_of_csv(path) if path.is_file() or text.endswith(".csv") else _of_counts(text))
    if not 1 <= len(ports) <= _MOST_PORTS:
        raise InputError(f"--ports {text}: {len(ports)} ports; a switch has 1 to {_MOST_PORTS}")
    twice = [name for name, count in Counter(port.name for port in ports if port.name).items() if count > 1]
    if twice:
        raise InputError(f"--ports {text}: {twice[0]} is there twice; each port once")
    return (Switch("switch", 1, ports),)


def by_name(switch: Switch, rule: str) -> list[tuple[str, int]]:
    """Names and rates of the ports; `rule` makes a name of a number from 0, as `Ethernet{0}` or `swp{1}` from 1."""
    return [
        (port.name or rule.replace("{0}", str(number)).replace("{1}", str(number + 1)), port.rate)
        for number, port in enumerate(switch.ports)
    ]


_Tiers = list[tuple[str, int, list[tuple[str, int]]]]


def _leaf_spine(of: Mapping[str, Any]) -> _Tiers:
    pair = of["links_per_pair"]
    return [
        ("leaf", of["leaves"], [("host_link", of["hosts_per_leaf"]), ("fabric_link", of["spines"] * pair)]),
        ("spine", of["spines"], [("fabric_link", of["leaves"] * pair)]),
    ]


def _fat_tree(of: Mapping[str, Any]) -> _Tiers:
    k = of["k"]
    return [
        ("edge", k * k // 2, [("host_link", k // 2), ("fabric_link", k // 2)]),
        ("aggregation", k * k // 2, [("fabric_link", k)]),
        ("core", k * k // 4, [("fabric_link", k)]),
    ]


def _three_tier(of: Mapping[str, Any]) -> _Tiers:
    pods, leaves, aggs, cores = of["pods"], of["leaves_per_pod"], of["aggs_per_pod"], of["cores"]
    return [
        ("leaf", pods * leaves, [("host_link", of["hosts_per_leaf"]), ("pod_link", aggs)]),
        ("aggregation", pods * aggs, [("pod_link", leaves), ("core_link", cores // aggs)]),
        ("core", cores, [("core_link", pods)]),
    ]


def _dragonfly(of: Mapping[str, Any]) -> _Tiers:
    groups = of.get("g") or of["a"] * of["h"] + 1
    links = [("host_link", of["p"]), ("local_link", of["a"] - 1), ("global_link", of["h"])]
    return [("router", groups * of["a"], links)]


def _dumbbell(of: Mapping[str, Any]) -> _Tiers:
    return [(side, 1, [("host_link", of[side]), ("bottleneck", 1)]) for side in ("left", "right")]


def _single_switch(of: Mapping[str, Any]) -> _Tiers:
    return [("switch", 1, [("host_link", of["hosts"])])]


_KINDS = {
    "leaf_spine": _leaf_spine,
    "fat_tree": _fat_tree,
    "three_tier": _three_tier,
    "dragonfly": _dragonfly,
    "dumbbell": _dumbbell,
    "single_switch": _single_switch,
}


def _rate(link: Mapping[str, str]) -> int:
    return quantity.rate(link["rate"])


def _of_file(path: Path) -> Iterator[Switch]:
    """A switch for each one of the file."""
    kinds, links = _read_file(path)
    to_hosts: defaultdict[str, list[int]] = defaultdict(list)
    others: defaultdict[str, list[int]] = defaultdict(list)
    for a, b, bps in links:
        for here, there in ((a, b), (b, a)):
            (to_hosts if kinds.get(there) == "host" else others)[here].append(bps)
    names = sorted((name for name, kind in kinds.items() if kind == "switch"), key=lambda name: name not in to_hosts)
    for name in names:
        yield Switch(name, 1, tuple(Port(bps) for bps in [*to_hosts[name], *others[name]]))


def _read_file(path: Path) -> tuple[dict[str, str], list[tuple[str, str, int]]]:
    """Kinds of nodes by name, and links with their rates."""
    kinds, links = {}, []
    for row in csv.reader(read_text_of_user(path, shown=f"topology.path {path}").splitlines()):
        cells = [cell.strip() for cell in row]
        if cells[:1] == ["node"]:
            kinds[cells[1]] = cells[2]
        elif cells[:1] == ["link"]:
            links.append((cells[1], cells[2], quantity.rate(cells[3])))
    return kinds, links


def _of_csv(path: Path) -> Iterator[Port]:
    rows = csv.DictReader(read_text_of_user(path, shown=f"--ports {path}").splitlines())
    if not {"name", "rate"} <= set(rows.fieldnames or ()):
        raise InputError(f"--ports {path}: the first line has to be name,rate")
    for row in rows:
        name, rate = (row["name"] or "").strip(), (row["rate"] or "").strip()
        if not name or any(letter.isspace() or letter in "|\"'`$;&<>\\" for letter in name):
            raise InputError(f"--ports {path}: line {rows.line_num}: {name!r} is no name of a port")
        yield Port(_port_rate(f"{path}: line {rows.line_num}", rate), name)


def _of_counts(text: str) -> Iterator[Port]:
    for part in text.split(","):
        count, times, rate = part.strip().partition("x")
        if not times or not count.isdecimal() or not 1 <= int(count) <= _MOST_PORTS:
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
