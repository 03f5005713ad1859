"""`priolane bench`: how fast the engines are on this machine."""

import argparse
import json

from priolane import _core
from priolane.cli import arguments, show


def add(commands: "arguments.Commands[argparse.ArgumentParser]") -> None:
    """Adds the command."""
    command = commands.add_parser("bench", help="speed of the engines on this machine, against its limit")
    command.add_argument("--json", action="store_true", help="as JSON")
    command.set_defaults(carry_out=carry_out)


def carry_out(chosen: argparse.Namespace) -> int:
    """Measures, then prints one row per scenario."""
    text = _core.bench("{}")
    if chosen.json:
        show.line(text)
        return 0
    found = json.loads(text)
    scenarios = found["scenarios"]
    columns = list(dict.fromkeys(key for scenario in scenarios for key in scenario))
    show.table(columns, [[show.number(scenario.get(key, "-")) for key in columns] for scenario in scenarios])
    for key, value in found["limit"].items():
        show.line(f"limit {key}: {show.number(value)}")
    return 0
