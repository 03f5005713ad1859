"""The training of a profile-guided build: the bench's own scenarios and the first flows of each transport's."""

import json

from priolane import _core

TRANSPORTS = ["expresspass", "top", "pfabric", "phost", "ndp", "homa", "hpcc"]
PORTS = ["strict", "wfq", "dynamic", "trimming", "pfc", "tokens"]
FLOWS = 150


def main() -> None:
    """Runs each scenario once; what it measures of a build with counters in it says nothing."""
    on_ports = [f"dctcp_leafspine144_{port}" for port in PORTS]
    under_others = [f"{transport}_leafspine144" for transport in TRANSPORTS]
    scenarios = [*_core.bench_scenarios(), *on_ports, *under_others]
    _core.bench(json.dumps({"scenarios": scenarios, "repeat": 1, "flows": FLOWS}))


if __name__ == "__main__":
    main()
