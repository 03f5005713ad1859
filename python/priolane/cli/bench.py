"""`priolane bench`: how fast the engines are on this machine."""

import argparse
import concurrent.futures
import json
import multiprocessing
import sys
from typing import Any

from priolane import _core, peer
from priolane.cli import arguments, show


def add(command: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    command.add_argument("--json", action="store_true", help="as JSON")
    command.add_argument(
        "--against", choices=["ns3"], help="run one flow list in ns-3 too (Debian's libns3-dev), in turn"
    )
    command.add_argument(
        "--flows", type=_above_0, default=50, metavar="N", help="with --against: the first N flows (50; all are 2000)"
    )
    command.add_argument(
        "--threads", type=arguments.whole(2, 64), metavar="N", help="one run on N threads beside the same on one"
    )
    command.add_argument(
        "--repeat", type=_above_0, default=3, metavar="K", help="with --against or --threads: pairs of runs (3)"
    )
    command.set_defaults(carry_out=carry_out)


def _above_0(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return number


def carry_out(chosen: argparse.Namespace) -> int:
    """Measures, then prints one row per scenario."""
    if chosen.against:
        return against(chosen)
    if chosen.threads:
        return threads(chosen)
    found = measure(_core.bench_scenarios())
    if chosen.json:
        show.line(json.dumps(found))
        return 0
    scenarios = found["scenarios"]
    columns = list(dict.fromkeys(key for scenario in scenarios for key in scenario))
    show.table(columns, [[show.number(scenario.get(key, "-")) for key in columns] for scenario in scenarios])
    for key, value in found["limit"].items():
        show.line(f"limit {key}: {show.number(value)}")
    return 0


def threads(chosen: argparse.Namespace) -> int:
    """Each scenario on one thread and on several, in turn."""
    request = {"scenarios": _core.bench_scenarios(), "threads": chosen.threads, "repeat": chosen.repeat}
    found: list[dict[str, Any]] = json.loads(_core.bench_threads(json.dumps(request)))
    if chosen.json:
        show.line(json.dumps(found))
        return 0
    columns = list(found[0])
    show.table(columns, [[show.number(row[key]) for key in columns] for row in found])
    return 0


def against(chosen: argparse.Namespace) -> int:
    """Compares with ns-3; where that is not installed, says what would be and is done."""
    try:
        found = peer.compare(chosen.flows, chosen.repeat, _tell)
    except peer.Missing as missing:
        _tell(f"skipped: {missing}")
        return 0
    if chosen.json:
        show.line(json.dumps(found.to_json()))
        return 0
    rows = [
        [name, str(turn), f"{side.packet_hops:,}", f"{side.cpu_s:.3f}", f"{side.hops_per_s / 1e6:.3f}"]
        for turn, pair in enumerate(found.pairs, 1)
        for name, side in zip(("priolane", "ns-3"), pair, strict=True)
    ]
    show.table(["simulator", "run", "packet-hops", "CPU s", "million hops/CPU s"], rows)
    least, median, most = found.ratios
    show.line(f"\npriolane / ns-3, packet-hops per CPU-second: min {least:.0f}, median {median:.0f}, max {most:.0f}")
    show.line(f"{peer.BUILD_NOTE}\n")
    columns = ["flows of", "number", "mean us", "ns-3", "ratio", "p99 us", "ns-3", "ratio"]
    show.table(columns, [_fct_row(size_class) for size_class in found.classes])
    return 0


def _fct_row(size_class: peer.SizeClass) -> list[str]:
    cells = [size_class.name, str(size_class.flows)]
    for ours, theirs in (size_class.mean_s, size_class.p99_s):
        cells += [f"{ours * 1e6:.1f}", f"{theirs * 1e6:.1f}", f"{ours / theirs:.3f}"]
    return cells


def _tell(text: str) -> None:
    print(f"priolane: {text}", file=sys.stderr, flush=True)  # noqa: T201


def measure(names: list[str]) -> dict[str, Any]:
    """Measures each scenario in a process of its own, so that its memory is its own."""
    limit: dict[str, float] = {}
    scenarios: list[dict[str, Any]] = []
    with concurrent.futures.ProcessPoolExecutor(
        max_workers=1, mp_context=multiprocessing.get_context("spawn"), max_tasks_per_child=1
    ) as processes:
        for found in processes.map(one, names):
            limit |= found["limit"]
            scenarios += found["scenarios"]
    return {"limit": limit, "scenarios": scenarios}


def one(name: str) -> dict[str, Any]:
    """Measures one scenario, and the yardstick beside it."""
    answer: dict[str, Any] = json.loads(_core.bench(json.dumps({"scenarios": [name]})))
    return answer
