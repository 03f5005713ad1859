"""The fat-tree of 128 hosts (k = 8) in the programs of the htsim family: connection matrix and links of a path."""

from collections.abc import Sequence
from pathlib import Path

from priolane.simulators.checkout import Flow

HOSTS = 128
_HOSTS_PER_RACK = 4
_HOSTS_PER_POD = 16


def write_matrix(directory: Path, flows: Sequence[Flow]) -> Path:
    """Writes the flows, numbered from 1, with starts in picoseconds; returns the file."""
    rows = [
        f"{flow.src}->{flow.dst} id {number} start {1000 * flow.start_ns} size {flow.bytes}\n"
        for number, flow in enumerate(flows, 1)
    ]
    matrix = directory / "flows.cm"
    matrix.write_text(f"Nodes {HOSTS}\nConnections {len(flows)}\n" + "".join(rows), encoding="utf-8")
    return matrix


def hops(packets: int, flows: Sequence[Flow]) -> int:
    """The packet-hops of `packets` packets that the flows sent in proportion to their bytes."""
    total = sum(flow.bytes for flow in flows)
    return packets * sum(_links(flow) * flow.bytes for flow in flows) // total


def _links(flow: Flow) -> int:
    if flow.src // _HOSTS_PER_RACK == flow.dst // _HOSTS_PER_RACK:
        return 2
    return 4 if flow.src // _HOSTS_PER_POD == flow.dst // _HOSTS_PER_POD else 6
