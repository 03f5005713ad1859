"""csg-htsim (github.com/Broadcom/csg-htsim), with NDP: docs/evidence/simulators.md#against-htsim."""

import re
from collections.abc import Sequence
from pathlib import Path

from priolane._core import RunFailed
from priolane.simulators import fat_tree, ns3
from priolane.simulators.checkout import Flow, PreparedSimulator, require_all_flows

_SHIFT = 67
_PACKET = 9000
_PACKETS = 2000
_BITS_PER_US = 100_000

_END = re.compile(r"^Flow \S+ flow_id (\d+) finished at ([\d.e+]+) total bytes \d+", re.MULTILINE)
_SENT = re.compile(r"^New: (\d+) Rtx: (\d+) Bounced: \d+", re.MULTILINE)


class Htsim:
    """NDP on a fat-tree of 128 hosts in csg-htsim: host h sends 18 MB to host h + 67 (mod 128)."""

    name = "htsim"
    experiment = "htsim_ndp_alone.toml"
    program = "sim/datacenter/htsim_ndp"
    build = "make -C sim && make -C sim/datacenter htsim_ndp"
    note = "each data packet that it sent counts three times for every link of its path, with one ACK and one pull"
    flows = fat_tree.HOSTS

    def flow_list(self) -> list[Flow]:
        """A flow from each host, 10 ns after the one before."""
        return [
            Flow(10 * host, host, (host + _SHIFT) % fat_tree.HOSTS, _PACKET * _PACKETS)
            for host in range(fat_tree.HOSTS)
        ]

    def columns(self, number: int, flow: Flow) -> dict[str, int | None]:  # noqa: ARG002
        """None: packets are sprayed."""
        return {}

    def prepare(self, program: Path, flows: Sequence[Flow], directory: Path) -> PreparedSimulator:
        """Writes the connection matrix."""
        matrix = fat_tree.write_matrix(directory, flows)
        # Ten times what the flows take alone: timers go on until then.
        end_us = 100 + 10 * 8 * max(flow.bytes for flow in flows) // _BITS_PER_US
        options = f"-nodes {fat_tree.HOSTS} -strat perm -q 8 -cwnd 15 -mtu {_PACKET} -linkspeed {_BITS_PER_US} -seed 1"
        command = (str(program), "-tm", str(matrix), "-o", "/dev/null", "-end", str(end_us), *options.split())
        return PreparedSimulator(command, directory)

    def read(self, output: str, flows: Sequence[Flow]) -> ns3.SimulatorRun:
        """A line for each flow that ended, and the packets of all."""
        ends = {int(number) - 1: float(end_us) * 1e-6 for number, end_us in _END.findall(output)}
        ended = require_all_flows(ends, flows, self.name)
        sent = _SENT.search(output)
        if sent is None:
            raise RunFailed(f"{self.name} told no number of packets: {output[-200:]!r}")
        packets = int(sent[1]) + int(sent[2])
        hops = 3 * fat_tree.hops(packets, flows)
        times = tuple(end - flow.start_ns * 1e-9 for end, flow in zip(ended, flows, strict=True))
        return ns3.SimulatorRun(hops, 0.0, tuple(flow.bytes for flow in flows), times)
