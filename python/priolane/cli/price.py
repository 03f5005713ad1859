"""`priolane price`: what tenants owe, were promised and got; or what a weight is worth (`priolane price calibrate`)."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from priolane.cli import arguments, show
from priolane.cli.progress import progress
from priolane.execution.grid import run_grid
from priolane.results import prices
from priolane.results.numbers import short
from priolane.results.prices import RunBills, WeightValue
from priolane.results.report import point_text
from priolane.results.results import Results
from priolane.study import catalogue

_CALIBRATE = "calibrate"
_WEIGHT, _LOAD = "group.ds.w", "group.ds.load.value"
# Rows of machines and of flows that are printed unless all are asked for.
_FEW = 12


def add(command: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    command.add_argument(
        "file", metavar="PLAN.toml", help=f"an experiment with [price]; or {_CALIBRATE}: P1 from measured rate ratios"
    )
    command.add_argument("--json", action="store_true", help="everything as JSON")
    command.add_argument("--all", action="store_true", help="every machine and flow, not only those that owe most")
    arguments.add_grid(command)
    command.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> int:
    """Runs the grid where it is not there yet, and prints its bills."""
    return _calibrate(args) if args.file == _CALIBRATE else _bills(args)


def _bills(args: argparse.Namespace) -> int:
    path = Path(args.file)
    promises = prices.promised_rates(path, arguments.options(args))
    results = _run(path, args, args.out)
    runs = list(prices.bills(results, promises))
    if args.json:
        show.json_lines([run.as_dict() for run in runs], indent=2)
        return 0
    for run in runs:
        _show(run, everything=args.all)
    return 0


def _run(path: Path, args: argparse.Namespace, out: Path | None) -> Results:
    with progress() as watcher:
        settings = arguments.settings(args)
        return run_grid(path, out, arguments.options(args), settings, watcher)


def _show(run: RunBills, *, everything: bool) -> None:
    where = f", {point_text(run.point)}" if run.point else ""
    show.line(f"{run.scheme}, seed {run.seed}{where}")
    columns = ["group", "cos", "machines", "flows that pay", "P0", "P1", "P2", "owed", "got, bit/s", "promised, bit/s"]
    show.table(columns, [_group(row) for row in prices.sum_by_group(run)])
    _rows("machine", run.machines, everything=everything)
    _rows("flow", run.flows, everything=everything)
    if run.utility is not None:
        show.line(f"utility: {run.utility:.4f} of the optimum's")
    if run.reason is not None:
        show.line(f"no promised rates: {run.reason}")
    if run.overbooked:
        show.line(f"warning: minimum rates do not fit {', '.join(run.overbooked)}: promised in proportion")


def _group(row: Mapping[str, Any]) -> list[str]:
    money = [f"{row[part]:.6g}" for part in ("base", "weight", "rate", "total")]
    return [row["group"], row["cos"], str(row["machines"]), str(row["flows"]), *money, *_rates(row["bps"], row)]


def _rates(got: float | None, row: Mapping[str, Any]) -> list[str]:
    promised_rates = row.get("promised_bps")
    return ["-" if got is None else short(got), "-" if promised_rates is None else short(promised_rates)]


def _rows(what: str, rows: Sequence[Mapping[str, Any]], *, everything: bool) -> None:
    if not rows:
        return
    ranked = rows if everything else sorted(rows, key=lambda row: -row["total"])[:_FEW]
    name = "host" if what == "machine" else "flow"
    columns = [what, "group", "cos", "theta, bit/s", "w", "seconds", "owed", "got, bit/s", "promised, bit/s"]
    cells = [
        [
            f"{name}{row[name]}",
            row["group"],
            row["cos"],
            short(float(row["theta_bps"])),
            f"{row['w']:g}",
            f"{row['seconds']:.4g}",
            f"{row['total']:.6g}",
            *_rates(row["rate_bps"], row),
        ]
        for row in ranked
    ]
    show.table(columns, cells)
    if len(ranked) < len(rows):
        show.line(f"... and {len(rows) - len(ranked)} more {what}s that owe no more; --all prints them")


def _calibrate(args: argparse.Namespace) -> int:
    values = [*_weight_values("paccp/calibrate_full", None, args), *_weight_values("paccp/calibrate", _LOAD, args)]
    fits = prices.fitted_p1(values)
    if args.json:
        fitted = [{"scheme": scheme, "load": load, "p1_over_p0": p1} for scheme, load, p1 in fits]
        rows = [asdict(value) for value in values]
        show.json_lines({"paper": prices.PAPER_P1, "measured": rows, "fitted": fitted}, indent=2)
        return 0
    columns = ["scheme", "load", "w", "rate over BE's", "P1 / P0", "seeds"]
    cells = [
        [
            value.scheme,
            _load(value.load),
            f"{value.w:g}",
            f"{value.ratio:.3f}",
            f"{value.p1:.3f}",
            str(value.seeds),
        ]
        for value in values
    ]
    show.table(columns, cells)
    paper = f"the paper: {prices.PAPER_P1:g} P0, from w = 2 at high load"
    for scheme, load, p1 in fits:
        show.line(f"{scheme}, load {_load(load)}: P1 = {p1:.3f} P0 fits all weights best ({paper})")
    spread = sorted(value.p1 for value in values)
    if spread:
        show.line(f"left open: P1 / P0 is {spread[0]:.3f} to {spread[-1]:.3f} over weights and loads; P0, P2 are free")
    return 0


def _weight_values(name: str, load: str | None, args: argparse.Namespace) -> list[WeightValue]:
    (item,) = catalogue.find(name)
    if item.experiment is None:
        raise FileNotFoundError(f"the experiment {name}")
    out = args.out / item.id if args.out else None
    return prices.weight_values(_run(item.experiment, args, out), _WEIGHT, load)


def _load(load: float | None) -> str:
    return "full" if load is None else f"{load:g}"
