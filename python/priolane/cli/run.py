"""`priolane run`: a whole grid, continuing where it stopped."""

import argparse
from pathlib import Path

from priolane.cli import arguments, show
from priolane.cli.finish import add_figures, present
from priolane.cli.progress import Bar
from priolane.experiment import Options
from priolane.grid import run_grid
from priolane.results import Results
from priolane.until import until_decided


def add(command: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    command.add_argument("file", type=Path, metavar="FILE.toml")
    arguments.add_grid(command)
    add_figures(command)
    command.set_defaults(carry_out=carry_out)


def carry_out(chosen: argparse.Namespace) -> int:
    """Runs the grid, then writes figures and page."""
    budget, settings = arguments.until(chosen), arguments.settings(chosen)

    def carry_out_with(options: Options) -> Results:
        with Bar() as bar:
            return run_grid(chosen.file, chosen.out, options, settings, bar)

    options = arguments.options(chosen)
    if budget is None:
        results = carry_out_with(options)
    else:
        results = until_decided(carry_out_with, options, budget, lambda look: show.line(str(look)))
    show.line(f"{results.title}: {len(results.runs)} runs in {results.directory}")
    present(results, chosen)
    return 0
