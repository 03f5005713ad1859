"""YAPS (github.com/NetSys/simulator), with pFabric: docs/evidence/simulators.md#against-yaps."""

import csv
import re
from collections.abc import Sequence
from pathlib import Path

from priolane.simulators import ns3
from priolane.simulators.checkout import VALIDATION, Flow, PreparedSimulator, require_all_flows

_MSS = 1460
_HOSTS_PER_RACK = 16
_SPINES = 4

# The parameters of experiments/validation/yaps_pfabric.toml; keys that are left out are 0.
_CONFIG = """init_cwnd: 12
max_cwnd: 15
retx_timeout: 45e-06
queue_size: 36864
propagation_delay: 0.0000002
bandwidth: 10000000000.0
queue_type: 2
flow_type: 2
host_type: 1
load_balancing: 1
cut_through: 0
hdr_size: 40
use_flow_trace: 1
num_flow: {flows}
flow_trace: {trace}
"""

# number, bytes, source, destination, start, end and duration in us, bare duration, slowdown, packets sent / expected //
# received.
_ROW = re.compile(r"^(\d+) (\d+) (\d+) (\d+) [\d.]+ [\d.]+ ([\d.]+) [\d.]+ [\d.]+ (\d+)/\d+//(\d+) ")


class Yaps:
    """pFabric on 144 hosts in YAPS."""

    name = "yaps"
    experiment = "yaps_pfabric.toml"
    program = "simulator"
    build = "autoreconf -i && ./configure && make simulator"
    note = "each data packet that it sent and each ACK counts for every link of its path, dropped or not"
    flows = 1000

    def flow_list(self) -> list[Flow]:
        """The first list of the validation: web search sizes in whole packets."""
        with (VALIDATION / "yaps_pfabric_1.csv").open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        return [Flow(int(row["start_ns"]), int(row["src"]), int(row["dst"]), int(row["bytes"])) for row in rows]

    def columns(self, number: int, flow: Flow) -> dict[str, int | None]:
        """The spine of a flow between racks: (source + destination + number) mod 4."""
        return {"path": None if _links(flow.src, flow.dst) == 2 else (flow.src + flow.dst + number) % _SPINES}

    def prepare(self, program: Path, flows: Sequence[Flow], directory: Path) -> PreparedSimulator:
        """Writes configuration and trace."""
        trace, config = directory / "flows.txt", directory / "yaps.conf"
        rows = [
            f"{number} {flow.start_ns * 1e-9:.9f} 0 0 {flow.bytes // _MSS} 0 0 {flow.src} {flow.dst}\n"
            for number, flow in enumerate(flows)
        ]
        trace.write_text("".join(rows), encoding="utf-8")
        config.write_text(_CONFIG.format(flows=len(flows), trace=trace), encoding="utf-8")
        return PreparedSimulator((str(program), "1", str(config)), directory)

    def read(self, output: str, flows: Sequence[Flow]) -> ns3.SimulatorRun:
        """One line for each flow that ended."""
        times: dict[int, float] = {}
        hops = 0
        for line in output.splitlines():
            row = _ROW.match(line)
            if row is None:
                continue
            number, _, src, dst, fct_us, sent, received = row.groups()
            times[int(number)] = float(fct_us) * 1e-6
            hops += _links(int(src), int(dst)) * (int(sent) + int(received))
        return ns3.SimulatorRun(
            hops, 0.0, tuple(flow.bytes for flow in flows), require_all_flows(times, flows, self.name)
        )


def _links(src: int, dst: int) -> int:
    return 2 if src // _HOSTS_PER_RACK == dst // _HOSTS_PER_RACK else 4
