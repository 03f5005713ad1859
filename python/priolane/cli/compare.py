"""`priolane compare`: two results side by side."""

import argparse
from pathlib import Path

from priolane._core import InputError
from priolane.cli import arguments, show
from priolane.compare import compare
from priolane.report.model import point_text, short
from priolane.results import load


def add(commands: "arguments.Commands[argparse.ArgumentParser]") -> None:
    """Adds the command."""
    command = commands.add_parser("compare", help="two results side by side, paired by scheme, point and seed")
    command.add_argument("first", type=Path, metavar="DIR")
    command.add_argument("second", type=Path, metavar="DIR")
    command.set_defaults(carry_out=carry_out)


def carry_out(chosen: argparse.Namespace) -> int:
    """Prints one row per scheme, sweep point, size class and metric."""
    found = compare(load(chosen.first), load(chosen.second))
    if found.runs == 0:
        raise InputError(f"{chosen.first} and {chosen.second} have no run in common (scheme, sweep point and seed)")
    rows = [
        [
            change.scheme,
            point_text(change.point),
            change.size_class,
            change.metric,
            short(change.first),
            short(change.second),
            f"{short(change.second / change.first)} [{short(min(change.ratios))}, {short(max(change.ratios))}]",
        ]
        for change in found.changes
    ]
    heading = [
        "scheme",
        "point",
        "class",
        "metric",
        str(chosen.first),
        str(chosen.second),
        "ratio [least, most of a seed]",
    ]
    show.table(heading, rows)
    show.line(f"{found.runs} runs in both, {found.same_digest} of them identical to the bit")
    if found.only_first or found.only_second:
        show.line(f"{found.only_first} only in {chosen.first}, {found.only_second} only in {chosen.second}")
    return 0
