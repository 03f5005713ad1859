"""`priolane run`: a whole grid, continuing where it stopped."""

import argparse
from pathlib import Path

from priolane.cli import arguments, show
from priolane.cli.finish import present
from priolane.cli.progress import Bar
from priolane.grid import run_grid


def add(command: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    command.add_argument("file", type=Path, metavar="FILE.toml")
    arguments.add_grid(command)
    command.set_defaults(carry_out=carry_out)


def carry_out(chosen: argparse.Namespace) -> int:
    """Runs the grid, then writes figures and page."""
    with Bar() as bar:
        results = run_grid(
            chosen.file,
            chosen.out,
            arguments.options(chosen),
            arguments.settings(chosen),
            bar,
        )
    show.line(f"{results.title}: {len(results.runs)} runs in {results.directory}")
    present(results)
    return 0
