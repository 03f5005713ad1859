"""`priolane run`: a whole grid, continuing where it stopped."""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from priolane.cli import arguments, profile, show
from priolane.cli.finish import add_figures, prepare, present, present_as_json
from priolane.cli.progress import progress
from priolane.execution.grid import run_plan
from priolane.execution.output import open_output
from priolane.execution.sequential import run_until_decided
from priolane.model.definition import experiment_name
from priolane.model.experiment import Options, plan
from priolane.results.results import Results


def add(command: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    command.add_argument("file", type=Path, metavar="FILE.toml")
    arguments.add_grid(command, arguments.results)
    add_figures(command)
    arguments.add_verbose(command)
    command.add_argument(
        "--json", action="store_true", help="the results as one JSON object, and nothing else, on standard output"
    )
    command.add_argument(
        "--profile",
        action="store_true",
        help="run the first run of each scheme on one thread, print where its time goes, and keep no results",
    )
    command.set_defaults(execute=execute)


_MOST_WARNINGS, _MOST_WITHOUT_ASKING = 10, 2
"""Warnings before a run, with `-v` and without; all of them stand on its page."""


def _warn(warnings: Sequence[str], most: int) -> None:
    """The settings that may be mistakes, before the first run, beside the output."""
    for warning in warnings[:most]:
        show.note(f"warning: {warning}")
    if len(warnings) > most:
        show.note(f"warning: {len(warnings) - most} more, which `priolane check` lists")


def execute(args: argparse.Namespace) -> int:
    """Runs the grid, writes figures and page, and prints the table of results."""
    if args.profile:
        profile.require_alone(args)
        profile.profile(plan(args.file, arguments.options(args)), as_json=args.json)
        return 0
    began = time.monotonic()
    budget, stated = arguments.until(args), arguments.options(args)
    tell = show.note if args.json else show.line
    grid = plan(args.file, stated)
    _warn(grid.warnings, _MOST_WARNINGS if args.verbose else _MOST_WITHOUT_ASKING)
    with open_output(args.out or Path("runs") / experiment_name(args.file), arguments.settings(args)) as (
        out,
        settings,
    ):

        def run_with(options: Options) -> Results:
            planned = grid if options == stated else plan(args.file, options)
            with progress(near_end=prepare) as watcher:
                return run_plan(planned, out, options, settings, watcher)

        if budget is None:
            results = run_with(stated)
        else:
            results = run_until_decided(run_with, stated, budget, lambda look: tell(str(look)))
        if args.json:
            present_as_json(results, args)
        else:
            present(results, args, seconds=time.monotonic() - began)
    return 0
