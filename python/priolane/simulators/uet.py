"""uet-htsim (github.com/ultraethernet/uet-htsim), with NSCC: docs/evidence/simulators.md#against-uet-htsim."""

import re
from collections.abc import Sequence
from pathlib import Path

from priolane._core import RunFailed
from priolane.simulators import fat_tree, ns3
from priolane.simulators.checkout import Flow, PreparedSimulator, require_all_flows

_SHIFT = 67
_PACKET = 4150
_HEADER = 64
_PACKETS = 2000
_BITS_PER_US = 100_000

_END = re.compile(r"^Flow \S+ flowId (\d+) uecSrc \d+ finished at ([\d.e+]+) ", re.MULTILINE)
_SENT = re.compile(r"^New: (\d+) Rtx: (\d+) RTS: (\d+) Bounced: \d+ ACKs: (\d+) NACKs: (\d+) ", re.MULTILINE)


class Uet:
    """NSCC on a fat-tree of 128 hosts in uet-htsim: host h sends 2,000 packets to host h + 67 (mod 128)."""

    name = "uet-htsim"
    experiment = "uet_nscc_alone.toml"
    program = "htsim/sim/build/datacenter/htsim_uec"
    build = "cd htsim/sim && cmake -S . -B build && cmake --build build"
    note = (
        "each data packet, ACK, and NACK counts once for every link of its path; it acknowledges 16 kB at once, "
        "and priolane each packet"
    )
    flows = fat_tree.HOSTS

    def flow_list(self) -> list[Flow]:
        """A flow from each host, all at once: uet-htsim reads the start of a flow in two units."""
        size = (_PACKET - _HEADER) * _PACKETS
        return [Flow(0, host, (host + _SHIFT) % fat_tree.HOSTS, size) for host in range(fat_tree.HOSTS)]

    def columns(self, number: int, flow: Flow) -> dict[str, int | None]:  # noqa: ARG002
        """None: packets are sprayed."""
        return {}

    def prepare(self, program: Path, flows: Sequence[Flow], directory: Path) -> PreparedSimulator:
        """Writes the connection matrix."""
        matrix = fat_tree.write_matrix(directory, flows)
        # Ten times what the flows take alone: timers go on until then.
        end_us = 100 + 10 * 8 * max(flow.bytes for flow in flows) // _BITS_PER_US
        options = f"-nodes {fat_tree.HOSTS} -linkspeed {_BITS_PER_US} -mtu {_PACKET} -sender_cc_only -seed 1"
        options += " -load_balancing_algo oblivious"
        command = (
            str(program),
            "-tm",
            str(matrix),
            "-o",
            str(directory / "log"),
            "-end",
            str(end_us),
            *options.split(),
        )
        return PreparedSimulator(command, directory)

    def read(self, output: str, flows: Sequence[Flow]) -> ns3.SimulatorRun:
        """A line for each flow that ended, and the packets of all."""
        ends = {int(number) - 1: float(end_us) * 1e-6 for number, end_us in _END.findall(output)}
        ended = require_all_flows(ends, flows, self.name)
        sent = _SENT.search(output)
        if sent is None:
            raise RunFailed(f"{self.name} told no number of packets: {output[-200:]!r}")
        packets = sum(map(int, sent.groups()))
        times = tuple(end - flow.start_ns * 1e-9 for end, flow in zip(ended, flows, strict=True))
        hops = fat_tree.hops(packets, flows)
        return ns3.SimulatorRun(hops, 0.0, tuple(flow.bytes for flow in flows), times)
