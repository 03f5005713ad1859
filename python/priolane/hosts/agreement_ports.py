"""The quantities by which ports of switches are compared, besides their drops.

longest queue  within 5 packets of the threshold of marks, or of the simulated queue where that is longer, as in slow
               start: of ports that mark. Switches of the kernel do not say how long their queues were
tokens         no port sends more than their rate, over the whole run: where all links have one rate
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from priolane.export.quantity import by_rate
from priolane.model.quantity import rate, size
from priolane.storage.parquet_table import read_parquet
from priolane.storage.run_files import RunPlace

# Packets beyond the threshold that a queue may have.
BEYOND = 5
# Classes of packets of token transports from here on are data and signals.
_DATA_CLASS = 13
# Bytes of a token of real hosts on the wire, and how many may go at once after a pause.
_TOKEN_BYTES, _BURST = 84, 2
_PS_PER_S = 1e12
# Ports are named by their two nodes.
_OF_HOST = re.compile(r"h\d+->")


@dataclass(frozen=True)
class PortQuantity:
    """A quantity of the ports of a run, simulated and measured, and whether they agree."""

    quantity: str
    simulated: float
    measured: float
    tolerance: str
    agrees: bool


def port_quantities(
    scheme: str, records: Sequence[Mapping[str, Any]], runs: Sequence[RunPlace]
) -> Iterator[PortQuantity]:
    """Those of a simulated and a measured run of a scheme, with these records and in these places."""
    merged = records[0]["merged"]
    port, rates = merged["scheme"][scheme].get("port", {}), set(_rates(merged["topology"]))
    full = sum(size(merged["frame"][part]) for part in ("mtu", "link", "gap"))
    if port.get("ecn"):
        yield from _longest_queue(port, rates, full, records)
    if port.get("kind") == "tokens" and len(rates) == 1:
        yield _tokens((port, rates.pop(), full), records, runs)


def _rates(topology: Mapping[str, Any]) -> Iterator[int]:
    """The rate of each kind of link, in bit/s."""
    for value in topology.values():
        if isinstance(value, Mapping) and "rate" in value:
            yield rate(value["rate"])


def _longest_queue(
    port: Mapping[str, Any], rates: set[int], full: int, records: Sequence[Mapping[str, Any]]
) -> Iterator[PortQuantity]:
    """The longest queue of any port, in full packets, if both sides know it."""
    longest = [record["ports"]["switches"]["max_queue_bytes"] for record in records]
    if None in longest:
        return
    simulated, measured = (queue / full for queue in longest)
    threshold = _threshold(port, rates, full)
    limit = max(threshold, simulated) + BEYOND
    of = f"{threshold:.0f}" if threshold >= simulated else f"the simulated {simulated:.0f}"
    tolerance = f"at most {BEYOND} more than {of}"
    yield PortQuantity("longest queue (packets)", simulated, measured, tolerance, measured <= limit)


def _threshold(port: Mapping[str, Any], rates: set[int], full: int) -> float:
    """The largest backlog of a port that is not marked, in full packets; 0 where its table has no link's rate."""
    marks = by_rate(port["ecn"]["at"])
    thresholds = [marks[bps] for bps in rates if bps in marks]
    queues = int(port.get("queues", 1)) if port["ecn"].get("per") == "queue" else 1
    packets = [
        float(mark.packets if mark.packets is not None else (mark.wire_bytes or 0) / full) for mark in thresholds
    ]
    return queues * max(packets, default=0.0)


def _tokens(
    of: tuple[Mapping[str, Any], int, int], records: Sequence[Mapping[str, Any]], runs: Sequence[RunPlace]
) -> PortQuantity:
    """Tokens that the busiest port sent, as a part of what their rate permits in the time of the run."""
    port, bps, full = of
    parts = []
    for record, run, token in zip(records, runs, (size(port["token"]), _TOKEN_BYTES), strict=True):
        # A token, and the packet that it asks for, take the line one after the other.
        permitted = record["stopped_at_ps"] / _PS_PER_S * bps / 8 / (token + full) + _BURST
        parts.append(_most_tokens(run) / permitted)
    simulated, measured = parts
    return PortQuantity("tokens at a port over their rate", simulated, measured, "at most 1", measured <= 1.0)


def _most_tokens(run: RunPlace) -> int:
    """The most tokens that any port of a switch sent."""
    table = read_parquet(run.file("ports.parquet"), ["port", "link", "class", "packets"]).to_pydict()
    sent: dict[int, int] = {}
    for port, link, of, packets in zip(*table.values(), strict=True):
        if of < _DATA_CLASS and not _OF_HOST.match(port):
            sent[link] = sent.get(link, 0) + packets
    return max(sent.values(), default=0)
