"""`priolane reproduce`: a figure of a paper, from its experiment file to its verdicts."""

import argparse
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from priolane import papers
from priolane._core import InputError
from priolane.cli import arguments, show
from priolane.cli.finish import add_figures, present
from priolane.cli.progress import Bar
from priolane.experiment import Options, check, plan
from priolane.grid import run_grid
from priolane.record import counted, read_record, write_record
from priolane.report.readings import ALL, directory_of
from priolane.results import Results
from priolane.until import until_decided

# A line for each figure, whatever its record.
_LIST_WIDTH = 280


def add(command: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    command.add_argument("name", nargs="?", metavar="PAPER/FIG", help="for example nos2/fig6, or nos2/all")
    command.add_argument(
        "--list",
        action="store_true",
        help="every figure and table, or those that PAPER/FIG names, its claims with their recorded verdicts, and its "
        "cost; runs nothing",
    )
    command.add_argument(
        "--record",
        type=arguments.output,
        metavar="DIR",
        help="also write what was found to DIR/PAPER/FIG.json, without times or places, to be kept and compared",
    )
    arguments.add_grid(command)
    add_figures(command)
    command.set_defaults(carry_out=carry_out)


def carry_out(chosen: argparse.Namespace) -> int:
    """Reproduces the named items one after the other."""
    if chosen.list:
        listed = papers.items() if chosen.name is None else papers.find(chosen.name)
        return _list(listed, arguments.options(chosen))
    if chosen.name is None:
        raise InputError("reproduce what? PAPER/FIG such as nos2/fig6; `priolane reproduce --list` shows all")
    wanted = papers.find(chosen.name)
    for item in wanted:
        _reproduce(item, chosen, alone=len(wanted) == 1)
    return 0


def _reproduce(item: papers.Item, chosen: argparse.Namespace, *, alone: bool) -> None:
    if item.experiment is None:
        raise InputError(f"{item.key}: {item.state}")
    base = chosen.out or Path("runs")
    directory = base if alone and chosen.out else base / f"{item.paper}-{item.id}"
    options = arguments.options(chosen)
    # Figures of a paper share the runs that they have in common.
    others = [other for other in base.glob(f"{item.paper}-*") if other != directory and other.is_dir()]
    done: list[Results] = []
    for out, of_reading in _grids(item.experiment, directory, options):
        sources = sorted([*others, *(results.directory for results in done)])
        done.append(_results(item.experiment, out, of_reading, (chosen, tuple(sources))))
    leading = replace(options, seeds=done[0].options.seeds, looks=done[0].options.looks)
    command = ["priolane", "reproduce", item.key, *leading.arguments()]
    rerun = shlex.join([*command, "-o", str(directory)])
    # The page of the leading reading, which is the first, shows the claims under all of them.
    for results in reversed(done):
        reading = "" if results.options.reading is None else f", reading {results.options.reading}"
        show.line(f"{item.key}{reading}: {item.about}; {len(results.runs)} runs")
        present(results, chosen, rerun if results.directory == directory else None)
    if chosen.record is not None:
        show.line(f"record {write_record(chosen.record, item.key, done, shlex.join(command))}")


def _results(
    experiment: Path, out: Path, options: Options, how: tuple[argparse.Namespace, tuple[Path, ...]]
) -> Results:
    """The results of one grid, with more seeds where they are asked for; runs of other directories are taken over."""
    chosen, others = how
    budget, settings = arguments.until(chosen), replace(arguments.settings(chosen), others=others)

    def carry_out_with(asked: Options) -> Results:
        with Bar() as bar:
            return run_grid(experiment, out, asked, settings, bar)

    if budget is None:
        return carry_out_with(options)
    return until_decided(carry_out_with, options, budget, lambda look: show.line(str(look)))


def _grids(experiment: Path, directory: Path, options: Options) -> Iterator[tuple[Path, Options]]:
    """Directory and options of each grid: one, or with `--reading all` one for each reading, the leading one first."""
    if options.reading != ALL:
        yield directory, options
        return
    leading = replace(options, reading=None)
    yield directory, leading
    for reading in plan(experiment, leading).readings:
        if not reading.leads:
            yield directory_of(directory, reading.name), replace(options, reading=reading.name)


def _list(items: Iterable[papers.Item], options: Options) -> int:
    rows = []
    for item in items:
        state, cost = item.state, "-"
        if item.experiment is not None:
            found = check(item.experiment, options)
            claims = len(found["merged"].get("claim", []))
            state, cost = f"{claims} claim{'' if claims == 1 else 's'}: {_recorded(item.key, claims)}", _cost(found)
        rows.append([item.key, item.name, item.about, state, cost])
    show.table(["reproduce", "item", "about", "recorded verdicts", "cost"], rows, _LIST_WIDTH)
    return 0


def _recorded(figure: str, claims: int) -> str:
    """The verdicts in the record that comes with the package."""
    record = read_record(figure)
    if record is None:
        return "none recorded"
    # The record is of another version of the file.
    other = "" if len(record.claims) == claims else f" of then {len(record.claims)} claims"
    return f"{counted(record.counts())}{other} ({record.size})"


def _cost(found: Mapping[str, Any]) -> str:
    """Runs, and what `check` predicts where it does."""
    runs = found.get("runs")
    parts = [f"{len(runs) if isinstance(runs, list) else runs} runs"]
    if isinstance(found.get("packet_hops"), int | float):
        parts.append(f"{found['packet_hops']:.1e} packet-hops")
    if isinstance(found.get("seconds"), int | float):
        parts.append(f"{found['seconds'] / 60:.1f} min of one core")
    return ", ".join(parts)
