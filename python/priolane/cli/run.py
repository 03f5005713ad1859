"""`priolane run`: a whole grid, continuing where it stopped."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from priolane.cli import arguments, profile, show
from priolane.cli.finish import add_figures, prepare, present, present_as_json
from priolane.cli.progress import progress
from priolane.experiment import Options, plan
from priolane.grid import run_plan
from priolane.object_store import display_name, open_output
from priolane.results import Results
from priolane.sequential import run_until_decided


def add(command: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    command.add_argument("file", type=Path, metavar="FILE.toml")
    arguments.add_grid(command, arguments.results)
    add_figures(command)
    command.add_argument(
        "--json", action="store_true", help="the results as one JSON object, and nothing else, on standard output"
    )
    command.add_argument(
        "--profile",
        action="store_true",
        help="run the first run of each scheme on one thread, print where its time goes, and keep no results",
    )
    command.set_defaults(execute=execute)


_MOST_WARNINGS = 10
"""Warnings before a run; all of them stand below its results and on its page."""


def _warn(warnings: Sequence[str]) -> None:
    """What may not be meant, before the first run, beside the output."""
    for warning in warnings[:_MOST_WARNINGS]:
        show.note(f"warning: {warning}")
    if len(warnings) > _MOST_WARNINGS:
        show.note(f"warning: {len(warnings) - _MOST_WARNINGS} more, which `priolane check` lists")


def execute(chosen: argparse.Namespace) -> int:
    """Runs the grid, writes figures and page, and prints the table of results."""
    if chosen.profile:
        profile.require_alone(chosen)
        profile.profile(plan(chosen.file, arguments.options(chosen)), as_json=chosen.json)
        return 0
    budget, asked = arguments.until(chosen), arguments.options(chosen)
    tell = show.note if chosen.json else show.line
    grid = plan(chosen.file, asked)
    _warn(grid.warnings)
    with open_output(chosen.out or Path("runs") / chosen.file.stem, arguments.settings(chosen)) as (out, settings):

        def run_with(options: Options) -> Results:
            planned = grid if options == asked else plan(chosen.file, options)
            with progress(near_end=prepare) as watcher:
                return run_plan(planned, out, options, settings, watcher)

        if budget is None:
            results = run_with(asked)
        else:
            results = run_until_decided(run_with, asked, budget, lambda look: tell(str(look)))
        if chosen.json:
            present_as_json(results, chosen)
        else:
            show.line(f"{results.title}: {len(results.runs)} runs in {display_name(results.directory)}")
            present(results, chosen, with_table=True)
    return 0
