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


def require_alone(args: argparse.Namespace) -> None:
    """Raises `InputError` for choices that `--profile`, which runs on one thread and keeps nothing, has no use for."""
    needless = {
        "--until": args.until is not None,
        "--verify": args.verify,
        "--threads": args.threads != 1,
        "--jobs": args.jobs is not None,
        "--on": parse_backend(args.on) != LOCAL,
        "--out": args.out is not None,
        "--png": args.png,
        "--pdf": args.pdf,
    }
    for name, is_given in needless.items():
        if is_given:
            raise InputError(f"--profile runs on one thread and keeps no results; leave {name} out")


def profile(grid: Plan, *, as_json: bool) -> None:
    """Profiles the first run of each scheme, one after the other, and prints a table or JSON."""
    profiles = [_profiled(grid, run) for run in _first_of_each_scheme(grid)]
    if as_json:
        show.json_lines(profiles)
        return
    show.table(["scheme", "packet-hops", "CPU s", "ns/hop", *(f"{phase} %" for phase in _PHASES)], map(_row, profiles))
    show.line(f"of the first run of each scheme (seed {profiles[0]['seed']}); no results are kept")


def _first_of_each_scheme(grid: Plan) -> Iterator[PlannedRun]:
    shown: set[str] = set()
    for run in grid.runs:
        if run.scheme not in shown:
            shown.add(run.scheme)
            yield run


def _profiled(grid: Plan, run: PlannedRun) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="priolane-profile-") as directory:
        measured: dict[str, Any] = json.loads(grid.core.profile(run.id, directory))
    return measured


def _row(measured: dict[str, Any]) -> list[str]:
    shares = {each["phase"]: each["share"] for each in measured["shares"]}
    hops, seconds = measured["packet_hops"], measured["seconds"]
    per_hop = short(seconds * 1e9 / hops) if hops else "-"
    return [
        measured["scheme"],
        short(hops),
        short(seconds),
        per_hop,
        *(f"{shares[phase]:.0%}"[:-1] for phase in _PHASES),
    ]
