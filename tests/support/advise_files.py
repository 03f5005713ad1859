"""Small files and values that the tests of `priolane advise` share: fabrics, flow lists, jackknives."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from priolane.advice.flow_list import FlowList
from priolane.advice.windows import Jackknife

FABRIC = """[topology]
kind = "leaf_spine"
leaves = 3
spines = 2
hosts_per_leaf = 16
host_link = { rate = "25Gbps", delay = "1us" }
fabric_link = { rate = "100Gbps", delay = "1us" }
[switch]
buffer = { dynamic = "12MB", alpha = 1 }
queues = 3
"""
EVERYTHING = """pfc = true
int = true
trimming = true
token_limiter = true
rank_queues = true
[host]
min_rto = "1ms"
kernel_module = true
user_stack = true
sizes_known = true
"""


def write_fabric(folder: Path, text: str = FABRIC) -> Path:
    """Writes a fabric file."""
    path = folder / "fabric.toml"
    path.write_text(text, encoding="utf-8")
    return path


def write_flows(folder: Path, rows: Sequence[Sequence[object]], header: str = "start_ns,src,dst,bytes") -> Path:
    """Writes a flow list."""
    path = folder / "flows.csv"
    lines = [header, *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_recorded(folder: Path, count: int = 400) -> Path:
    """Writes a list of flows of three sizes between the hosts of `FABRIC`."""
    draw = random.Random(1)  # noqa: S311 - flows, not secrets
    rows = [(nth * 1000, nth % 48, (nth + 7) % 48, draw.choice((2_000, 30_000, 3_000_000))) for nth in range(count)]
    return write_flows(folder, rows)


def made_list(start_ns: Sequence[float], nbytes: Sequence[float], **columns: Any) -> FlowList:
    """A list without a file, of as few flows as a test needs: from host 0 to host 1 unless columns say otherwise."""
    count = len(start_ns)
    at = np.asarray(start_ns, dtype=float)
    after = tuple(columns.pop("after", ()))
    of = {
        "src": np.zeros(count),
        "dst": np.ones(count),
        **{name: np.asarray(column) for name, column in columns.items()},
    }
    columns_of = {"start_ns": at, "bytes": np.asarray(nbytes, dtype=float), **of}
    return FlowList(Path("made.csv"), columns_of, at, np.zeros(count, dtype=np.int64), after=after)


def of_pseudo(pseudo: Sequence[float], floor: float = 0.0) -> Jackknife:
    """The jackknife that has these pseudo-values: their mean is the value, and each window's is what it adds."""
    values = np.asarray(pseudo, dtype=float)
    count, mean = len(values), values.mean()
    return Jackknife(np.concatenate([[mean], (count * mean - values) / (count - 1)]), floor)


def steady(value: float, windows: int = 5) -> Jackknife:
    """A value that each window has: its interval has no width."""
    return Jackknife(np.full(windows + 1, value))
