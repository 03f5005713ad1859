"""`priolane report`: weigh a finished grid again and draw its page."""

import argparse

from priolane.cli import arguments
from priolane.cli.finish import add_figures, present
from priolane.execution.output import open_output
from priolane.execution.settings import Settings
from priolane.results.results import load


def add(command: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    command.add_argument("dir", type=arguments.results, metavar="DIR", help="a directory, or a URL")
    add_figures(command)
    arguments.add_verbose(command)
    command.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> int:
    """Draws from what is in the directory alone: the experiment file may be gone."""
    with open_output(args.dir, Settings(), refresh=True) as (directory, _):
        results = load(directory)
        results.verify()
        present(results, args)
    return 0
