"""`priolane list`: what experiment and scheme files can name."""

import argparse
import json

from priolane import _core
from priolane.cli import show

WHAT = (
    "schemes",
    "transports",
    "ports",
    "host",
    "nic",
    "assign",
    "solvers",
    "admit",
    "apps",
    "workloads",
    "topologies",
)


def add(command: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    command.add_argument("what", choices=WHAT, metavar="|".join(WHAT))
    command.set_defaults(carry_out=carry_out)


def carry_out(chosen: argparse.Namespace) -> int:
    """Prints the entries of one kind as a table."""
    entries = json.loads(_core.catalogue()).get(chosen.what, [])
    columns = list(dict.fromkeys(key for entry in entries for key in entry))
    if not entries:
        show.line(f"no {chosen.what} yet")
        return 0
    show.table(columns, [[_cell(entry.get(key)) for key in columns] for entry in entries])
    return 0


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, list):
        return ", ".join(_cell(item) for item in value)
    if isinstance(value, dict):
        return ", ".join(f"{key} = {_cell(item)}" for key, item in value.items())
    return show.number(value)
