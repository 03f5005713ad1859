"""`priolane run --profile`: where the time of a run goes."""

import argparse
import json
import tempfile
from collections.abc import Iterator
from typing import Any

from priolane._core import InputError
from priolane.cli import show
from priolane.execution.backend import LOCAL, parse_backend
from priolane.model.experiment import Plan, PlannedRun
from priolane.results.numbers import short

# Columns of the table, from the inside of a host outwards.
_PHASES = ("transport", "hosts", "switches", "engine", "setup", "results")


def require_alone(chosen: argparse.Namespace) -> None:
    """Raises `InputError` for choices that `--profile`, which runs on one thread and keeps nothing, has no use for."""
    needless = {
        "--until": chosen.until is not None,
        "--verify": chosen.verify,
        "--threads": chosen.threads != 1,
        "--jobs": chosen.jobs is not None,
        "--on": parse_backend(chosen.on) != LOCAL,
        "--out": chosen.out is not None,
        "--png": chosen.png,
        "--pdf": chosen.pdf,
    }
    for name, is_given in needless.items():
        if is_given:
            raise InputError(f"--profile runs on one thread and keeps no results; leave {name} out")


def profile(grid: Plan, *, as_json: bool) -> None:
    """Profiles the first run of each scheme, one after the other, and prints a table or JSON."""
    found = [_profiled(grid, run) for run in _first_of_each_scheme(grid)]
    if as_json:
        show.json_lines(found)
        return
    show.table(["scheme", "packet-hops", "CPU s", "ns/hop", *(f"{phase} %" for phase in _PHASES)], map(_row, found))
    show.line(f"of the first run of each scheme (seed {found[0]['seed']}); no results are kept")


def _first_of_each_scheme(grid: Plan) -> Iterator[PlannedRun]:
    shown: set[str] = set()
    for run in grid.runs:
        if run.scheme not in shown:
            shown.add(run.scheme)
            yield run


def _profiled(grid: Plan, run: PlannedRun) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="priolane-profile-") as directory:
        found: dict[str, Any] = json.loads(grid.core.profile(run.id, directory))
    return found


def _row(found: dict[str, Any]) -> list[str]:
    shares = {each["phase"]: each["share"] for each in found["shares"]}
    hops, seconds = found["packet_hops"], found["seconds"]
    per_hop = short(seconds * 1e9 / hops) if hops else "-"
    return [found["scheme"], short(hops), short(seconds), per_hop, *(f"{shares[phase]:.0%}"[:-1] for phase in _PHASES)]
