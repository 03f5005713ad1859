"""`priolane results`: the table of results again, or a part of that table."""

import argparse

from priolane.cli import arguments, claims, show
from priolane.cli.brief.listed_results import results_lines
from priolane.cli.brief.screen import Screen
from priolane.cli.damage import report_damage
from priolane.report.overview import overview
from priolane.report.overview_files import as_csv, as_json, narrowed
from priolane.results.results import load


def add(command: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    command.add_argument("dir", type=arguments.results, metavar="DIR", help="a directory, or a URL")
    form = command.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="everything as JSON: units, intervals, values by seed")
    form.add_argument("--csv", action="store_true", help="a row for each class, sweep point and scheme, as CSV")
    command.add_argument(
        "--scheme", dest="schemes", nargs="+", default=[], metavar="S", help="these schemes alone (default: all)"
    )
    command.add_argument(
        "--class",
        dest="classes",
        nargs="+",
        default=[],
        metavar="C",
        help="these classes of flows alone, `run` for whole runs (default: all)",
    )
    arguments.add_point(command)
    arguments.add_verbose(command)
    command.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> int:
    """Prints what the directory alone says: the experiment file may be gone."""
    read = load(args.dir).without_damaged()
    view = overview(read)
    view = narrowed(view, schemes=args.schemes, classes=args.classes, point=args.points)
    if args.json:
        show.json_lines(as_json(view))
    elif args.csv:
        show.line(as_csv(view).removesuffix("\n"))
    elif args.verbose:
        from priolane.cli.overview import show as show_table  # noqa: PLC0415 - rich is slow to load

        show_table(view, str(args.dir))
        report = read.judged()
        if report is not None:
            claims.print_claims(report)
            claims.print_warnings(report)
    else:
        for text in results_lines(Screen.of_output(), read, view):
            show.line(text)
    return report_damage([read])
