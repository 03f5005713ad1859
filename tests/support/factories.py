"""A finished grid as the lab leaves it, small and made by hand, for tests of what Python does with one."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from priolane import _core

FIXTURES = Path(__file__).parent.parent / "fixtures"
LOAD = "group.all.load.value"
SCHEMES = ("dctcp", "nos2", "pias", "es8")
LOADS = (0.5, 0.8)
SEEDS = (1, 2)
MEAN_FCT_S = {"dctcp": 0.0040, "nos2": 0.0030, "pias": 0.0032, "es8": 0.0029}


def report(panels: int | None = None) -> dict[str, Any]:
    """A report of four panels, or its first `panels`: figures take most of the time of what writes a page."""
    whole: dict[str, Any] = json.loads((FIXTURES / "report.json").read_text(encoding="utf-8"))
    return whole | {"panels": whole["panels"][:panels]}


def make_results(directory: Path, panels: int | None = None) -> Path:
    """Writes a whole grid (4 schemes, 2 loads, 2 seeds) and its report below `directory`."""
    runs = [
        {"id": f"{nth:016x}", "scheme": scheme, "point": {LOAD: load}, "seed": seed}
        for nth, (load, seed, scheme) in enumerate(
            (load, seed, scheme) for load in LOADS for seed in SEEDS for scheme in SCHEMES
        )
    ]
    grid = {
        "source": str(directory / "fig6.toml"),
        "title": "NOS2 Fig. 6: Web Search",
        "options": {"sets": [["time.measure", '"2s"']], "seeds": 2, "schemes": None, "size": "quick"},
        "runs": runs,
        "warnings": ["the port buffer of the paper is unknown: see docs/assumptions.md#buffers"],
        "outputs": ["report.json"],
    }
    directory.mkdir(parents=True, exist_ok=True)
    write(directory / "grid.json", grid)
    write(directory / "report.json", report(panels))
    for run in runs:
        make_run(directory / str(run["id"]), run)
    return directory


def make_run(directory: Path, run: dict[str, Any]) -> None:
    """Writes the files of one run."""
    directory.mkdir()
    flows = pa.table(
        {
            "flow": pa.array([0, 1, 2], pa.uint32()),
            "src": pa.array([3, 4, 5], pa.uint32()),
            "dst": pa.array([6, 7, 8], pa.uint32()),
            "bytes": pa.array([1460, 50_000, 2_000_000], pa.uint64()),
            "fct_ps": pa.array([40_000_000, 900_000_000, None], pa.uint64()),
            "bare_fct_ps": pa.array([36_000_000, 375_000_000, 1_700_000_000], pa.uint64()),
            "slowdown": pa.array([1.1, 2.4, None], pa.float64()),
            "timeouts": pa.array([0, 0, 1], pa.uint32()),
            "measured": pa.array([True, True, True]),
        }
    )
    pq.write_table(flows, directory / "flows.parquet")
    ports = pa.table({"port": ["leaf0->spine1"], "class": pa.array([0], pa.uint8()), "packets": pa.array([7])})
    pq.write_table(ports, directory / "ports.parquet")
    write(directory / "run.json", record(run) | {"files": files(directory)})


def write(path: Path, value: dict[str, Any]) -> None:
    """Writes a JSON file as priolane does, with its checksum."""
    path.write_text(_core.with_checksum(json.dumps(value)), encoding="utf-8")


def edit(path: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Changes what a JSON file says, its checksum included."""
    value = json.loads(path.read_text(encoding="utf-8"))
    value.pop("file_sha256", None)
    write(path, change(value))


def files(directory: Path) -> list[dict[str, Any]]:
    """The part of `run.json` about the tables beside it."""
    tables = sorted(directory.glob("*.parquet"))
    return [
        {"name": t.name, "bytes": t.stat().st_size, "sha256": hashlib.sha256(t.read_bytes()).hexdigest()}
        for t in tables
    ]


def record(run: dict[str, Any]) -> dict[str, Any]:
    """The content of one `run.json`."""
    load = run["point"][LOAD]
    mean = MEAN_FCT_S.get(run["scheme"], 0.003) * (1 + load) * (1 + run["seed"] / 100)
    return {
        "run": run["id"],
        "version": "0.1.0+0123456789abcdef",
        "title": "NOS2 Fig. 6: Web Search",
        "scheme": run["scheme"],
        "point": run["point"],
        "seed": run["seed"],
        "merged": merged(run["scheme"], load),
        "digest": f"{int(run['id'], 16) + 1:064x}",
        "stopped_at_ps": 2_050_000_000_000,
        "counters": {"packet_hops": 1_234_567, "drops": 3, "marks": 4_567, "lost": 0, "timeouts": 2},
        "load": {"asked": load, "offered_host": load * 0.99, "offered_core": load * 0.74},
        "warnings": [],
        "priorities": [
            priority_row(0, 0, 897, 0),
            priority_row(1, 1, 100, 2),
        ],
        "summary": {
            "all": {
                "flows": 1000,
                "unfinished": 0,
                "mean_fct_s": mean,
                "p99_fct_s": 9 * mean,
                "mean_slowdown": 3.1,
            },
            "mice": {
                "flows": 800,
                "unfinished": 0,
                "mean_fct_s": mean / 9,
                "p99_fct_s": mean,
                "mean_slowdown": 2.2,
            },
        },
    }


def priority_row(request: int, served: int, packets: int, inversions: int) -> dict[str, Any]:
    """One row of "are my priorities honoured?"."""
    return {
        "asked": request,
        "served": served,
        "flows": 10,
        "packets": packets,
        "bytes": 1500 * packets,
        "inversions": inversions,
        "share": inversions / packets,
    }


def merged(scheme: str, load: float) -> dict[str, Any]:
    """A merged experiment, shortened."""
    return {
        "title": "NOS2 Fig. 6: Web Search",
        "paper": "NOS2 (GLOBECOM 2019)",
        "figure": "Fig. 6",
        "quote": "mice: ES-8 best, PIAS worst, NOS2 between; the opposite for elephants",
        "schemes": list(SCHEMES),
        "scheme": {scheme: {"transport": {"kind": "window", "min_rto": "10ms"}}},
        "seeds": 2,
        "time": {"warmup": "50ms", "measure": "2s", "drain": True},
        "topology": {"kind": "leaf_spine", "leaves": 4, "spines": 3, "hosts_per_leaf": 30},
        "group": [{"name": "all", "app": "poisson", "sizes": "web_search", "load": {"value": load}}],
    }


def make_trace(directory: Path, flow: int) -> dict[str, Any]:
    """Writes the files of a trace of two packets, the first of which is lost, and returns its report."""
    directory.mkdir(parents=True, exist_ok=True)
    files = [directory / f"trace-{flow}{end}" for end in (".parquet", "-state.parquet", ".pcap")]
    data = {"kind": "data", "src": 0, "dst": 1, "offset": 0, "payload": 1460, "wire": 1538, "made_ps": 5_000_000}
    rows = [
        {**data, **hop_row(0, 5_000_000, 7_230_400), "packet": 0, "again": False, "delivered_ps": None},
        {**data, **hop_row(1, 7_230_400, None), "packet": 0, "again": False, "delivered_ps": None},
        {
            **data,
            **hop_row(0, 9_000_000, 10_067_200),
            "packet": 1,
            "kind": "ack",
            "src": 1,
            "dst": 0,
            "again": True,
            "made_ps": 9_000_000,
            "delivered_ps": 10_067_200,
        },
    ]
    pq.write_table(pa.Table.from_pylist(rows), files[0])
    state = [
        {"t_ps": 10_067_200, "metric": metric, "value": value}
        for metric, value in (("cwnd_bytes", 14_600.0), ("srtt_ps", 6_500_000.0), ("alpha", 0.0625))
    ]
    pq.write_table(pa.Table.from_pylist(state), files[1])
    files[2].write_bytes(b"")
    return {
        "run": "00000000000000ff",
        "scheme": "nos2",
        "point": {LOAD: 0.5},
        "seed": 1,
        "digest": "d" * 64,
        "stopped_at_ps": 1_000_000_000,
        "flow": {
            "id": flow,
            "src": 0,
            "dst": 1,
            "bytes": 1460,
            "start_ps": 5_000_000,
            "class_asked": 2,
            "fct_ps": None,
            "fct_acked_ps": None,
            "ports": ["h0->s0", "s0->h1"],
        },
        "seen": {
            "packets": 2,
            "again": 1,
            "hops": 3,
            "dropped": 0,
            "lost": 1,
            "marked": 1,
            "readings": 3,
            "captured": 2,
            "expired": 0,
        },
        "at": "h0->s0",
        "files": [str(path) for path in files],
    }


def hop_row(hop: int, queued_ps: int, arrived_ps: int | None) -> dict[str, Any]:
    """A row of a trace for one hop; the second waits 1.25 us behind three packets and is lost."""
    waited = 1_250_000 * hop
    return {
        "hop": hop,
        "port": ("h0->s0", "s0->h1")[hop],
        "link": 3 * hop,
        "class": 2,
        "host_level": 2 + hop,
        "queue": 2,
        "queued_ps": queued_ps,
        "ahead_packets": 3 * hop,
        "ahead_bytes": 4614 * hop,
        "start_ps": queued_ps + waited,
        "end_ps": queued_ps + waited + 1_230_400,
        "arrived_ps": arrived_ps,
        "ecn": True,
        "congested": hop == 1,
        "marked": hop == 1,
        "echo": False,
        "fate": "lost" if arrived_ps is None else "arrived",
        "reason": "random loss of the link" if arrived_ps is None else None,
    }
