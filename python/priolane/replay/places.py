"""The places of the nodes of a network in the picture: hosts below, beside those of their rack, switches above them."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

Place = tuple[float, float]

# More hosts than these are not drawn one by one: only those that packets of the recording come from or go to.
MOST_HOSTS = 64


def places(nodes: Sequence[Mapping[str, Any]], links: Sequence[Mapping[str, Any]], busy: set[int]) -> dict[int, Place]:
    """The place of each node that is drawn: x and y from 0 to 1, y from the hosts up.

    `busy` are the numbers of the nodes that packets pass.
    """
    hosts = [number for number, node in enumerate(nodes) if node["tier"] == 0]
    shown = hosts if len(hosts) <= MOST_HOSTS else [host for host in hosts if host in busy]
    switch_of = {link["from"]: link["to"] for link in links if nodes[link["from"]]["tier"] == 0}
    in_order = sorted(shown, key=lambda host: (switch_of[host], host))
    # Racks stand apart by half a host.
    gaps = 0.0
    along: dict[int, float] = {}
    for nth, host in enumerate(in_order):
        if nth and switch_of[host] != switch_of[in_order[nth - 1]]:
            gaps += 0.5
        along[host] = nth + gaps
    width = max(along.values(), default=0.0) + 1.0
    places_of = {host: ((at + 0.5) / width, 0.0) for host, at in along.items()}
    top = max(node["tier"] for node in nodes)
    for tier in range(1, top + 1):
        places_of |= _tier(nodes, links, places_of, (tier, top))
    return places_of


def _tier(
    nodes: Sequence[Mapping[str, Any]],
    links: Sequence[Mapping[str, Any]],
    below: Mapping[int, Place],
    tier_of: tuple[int, int],
) -> dict[int, Place]:
    """The places of the switches of a tier: over the middle of what is below them, if that keeps them apart."""
    tier, top = tier_of
    switches = [number for number, node in enumerate(nodes) if node["tier"] == tier]
    middles: dict[int, float] = {}
    for switch in switches:
        under = [below[link["to"]][0] for link in links if link["from"] == switch and link["to"] in below]
        if under:
            middles[switch] = sum(under) / len(under)
    apart = sorted(middles.values())
    step = 1.0 / len(switches)
    near = any(right - left < min(0.05, step / 2) for left, right in pairwise(apart))
    if near or len(middles) < len(switches):
        return {switch: ((nth + 0.5) * step, tier / top) for nth, switch in enumerate(switches)}
    return {switch: (middle, tier / top) for switch, middle in middles.items()}
