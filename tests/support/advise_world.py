"""A network and flows of which theory says what is best.

Small flows come from hosts of their own, bulk flows from others, and all go to two receivers, whose lines alone are
shared. By non-preemptive priority (Cobham 1954) the wait of the best class is the work in progress over 1 less the load
of that class. Under strict priority by size that is the load of small flows; by bytes sent also that of the beginnings
of bulk flows; in one queue all load counts. How hosts sort makes no difference, as no host has flows of both kinds.
"""

import json
import random
from pathlib import Path
from typing import Any

SMALL = (5_000, 10_000, 20_000)
BULK = 200_000
LINE_BPS = 10e9
RECEIVERS = (10, 11)
# Of the lines to the receivers.
SMALL_LOAD, BULK_LOAD = 0.1, 0.7

FABRIC = """

[topology]
kind = "single_switch"
hosts = 12
host_link = { rate = "10Gbps", delay = "1us" }

[switch]
buffer = { dynamic = "4MB", alpha = 1 }
queues = QUEUES

[host]
kernel_module = MODULE
min_rto = "1ms"
sizes_known = true

[metrics]
classes = { small = { to = "20kB" }, bulk = { above = "20kB" } }
"""


def write(
    folder: Path, seed: int, small_flows: int, *, kernel_module: bool = True, queues: int = 3
) -> tuple[Path, Path]:
    """Writes a flow list with about so many small flows and the fabric; returns their paths."""
    draw = random.Random(seed)  # noqa: S311 - flows, not secrets
    capacity = LINE_BPS * len(RECEIVERS) / 8
    mean = sum(SMALL) / len(SMALL)
    span_s = small_flows * mean / (SMALL_LOAD * capacity)
    rows: list[tuple[int, int, int, int]] = []
    for senders, rate, sizes in (
        (range(4), SMALL_LOAD * capacity / mean, SMALL),
        (range(4, 10), BULK_LOAD * capacity / BULK, (BULK,)),
    ):
        at = draw.expovariate(rate)
        while at < span_s:
            rows.append((round(at * 1e9), draw.choice(senders), draw.choice(RECEIVERS), draw.choice(sizes)))
            at += draw.expovariate(rate)
    flows, fabric = folder / "flows.csv", folder / "fabric.toml"
    lines = ["start_ns,src,dst,bytes", *(",".join(map(str, row)) for row in sorted(rows))]
    flows.write_text("\n".join(lines) + "\n", encoding="utf-8")
    text = FABRIC.replace("QUEUES", str(queues)).replace("MODULE", str(kernel_module).lower())
    fabric.write_text(text, encoding="utf-8")
    return flows, fabric


def arguments(folder: Path, *more: str) -> list[str]:
    """The words of the command for the flows and the fabric of a folder."""
    files = [str(folder / "flows.csv"), "--fabric", str(folder / "fabric.toml")]
    return ["advise", *files, "-o", str(folder / "out"), "--jobs", "1", *more]


def asked(*goals: str) -> list[str]:
    """The words of goals."""
    return [word for goal in goals for word in ("--goal", goal)]


def answer(folder: Path) -> dict[str, Any]:
    """The answer that the command left."""
    read: dict[str, Any] = json.loads((folder / "out" / "advice.json").read_text(encoding="utf-8"))
    return read
