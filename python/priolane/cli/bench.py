"""`priolane bench`: how fast the engines are on this machine."""

import argparse
import concurrent.futures
import json
import multiprocessing
from typing import Any

from priolane import _core
from priolane.cli import arguments, show


def add(commands: "arguments.Commands[argparse.ArgumentParser]") -> None:
    """Adds the command."""
    command = commands.add_parser("bench", help="speed of the engines on this machine, against its limit")
    command.add_argument("--json", action="store_true", help="as JSON")
    command.set_defaults(carry_out=carry_out)


def carry_out(chosen: argparse.Namespace) -> int:
    """Measures, then prints one row per scenario."""
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
