"""`priolane check`: is the experiment right, what would run, and what would it cost?"""

import argparse
import json
import os
from pathlib import Path

from priolane.cli import arguments, show
from priolane.experiment import check
from priolane.report.numbers import told


def add(command: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    command.add_argument("file", type=Path, metavar="FILE.toml")
    command.add_argument("--json", action="store_true", help="everything as JSON")
    arguments.add_options(command)
    command.set_defaults(carry_out=carry_out)


def carry_out(chosen: argparse.Namespace) -> int:
    """Prints the merged experiment, then one line per number, then the warnings."""
    found = check(chosen.file, arguments.options(chosen))
    if chosen.json:
        show.line(json.dumps(found, indent=2, ensure_ascii=False))
        return 0
    show.line(json.dumps(found.pop("merged", {}), indent=2, ensure_ascii=False))
    warnings = [*found.pop("warnings", []), *_beyond_memory(int(found["bytes"]))]
    for key, value in found.items():
        if not isinstance(value, list | dict):
            show.line(f"{key}: {show.number(value)}{_MEANINGS.get(key, '')}")
    show.line(f"threads: {_threads(int(found['runs']), os.cpu_count() or 1)}")
    for warning in warnings:
        show.line(f"warning: {warning}")
    return 0


_MEANINGS = {
    "bytes": " of memory, the run with most",
    "seconds": " of one core, all runs",
    "ns_per_hop": " measured here",
}


def _beyond_memory(predicted: int) -> list[str]:
    """What to say of a run that this machine has no memory for."""
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if predicted <= there:
        return []
    return [f"a run is predicted to take {told(predicted, 'B')} of memory, this machine has {told(there, 'B')}"]


def _threads(runs: int, cores: int) -> str:
    """How many threads a run has unless told otherwise, and why."""
    if runs >= cores:
        return f"1 a run: {runs} runs keep {cores} cores busy, and threads of one run wait for each other"
    return f"1 a run; --threads {cores // max(runs, 1)} would use all {cores} cores, as there are {runs} runs"
