"""`priolane report`: weigh a finished grid again and draw its page."""

import argparse
from pathlib import Path

from priolane.cli.finish import present
from priolane.results import load


def add(command: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    command.add_argument("dir", type=Path, metavar="DIR")
    command.set_defaults(carry_out=carry_out)


def carry_out(chosen: argparse.Namespace) -> int:
    """Draws from what is in the directory alone: the experiment file may be gone."""
    results = load(chosen.dir)
    results.verify()
    present(results)
    return 0
