"""`priolane list`: what experiment and scheme files can name, and which names go together."""

import argparse
import json
from typing import TYPE_CHECKING, Any

from priolane import _core
from priolane._core import InputError
from priolane.cli import show
from priolane.cli.brief.screen import Screen

if TYPE_CHECKING:
    from priolane.model.matrix import Matrix

WHAT = (
    "schemes",
    "transports",
    "ports",
    "host",
    "nic",
    "assign",
    "solvers",
    "admit",
    "apps",
    "workloads",
    "topologies",
)
# The rows that transports are set against, by what this command calls their parts.
_ROWS = {"ports": "port", "assign": "assign", "host": "host", "nic": "nic", "admit": "admit"}


def add(command: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    command.add_argument("what", nargs="?", choices=WHAT, metavar="|".join(WHAT))
    command.add_argument(
        "--matrix",
        action="store_true",
        help="which transports go with these parts (left out: with those of every row, and with pricing), and why not",
    )
    command.add_argument("--json", action="store_true", help="as JSON")
    command.add_argument("-v", "--verbose", action="store_true", help="schemes by their parts")
    command.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> int:
    """Prints the entries of one kind as a table, or the matrix."""
    if args.matrix:
        return _matrices(args)
    if args.what is None:
        raise InputError(f"list what? One of {', '.join(WHAT)}; or --matrix")
    entries = json.loads(_core.catalogue()).get(args.what, [])
    if args.json:
        show.json_lines(entries, indent=2)
        return 0
    if args.what == "schemes" and not args.verbose:
        from priolane.cli.brief.listed_schemes import scheme_lines  # noqa: PLC0415 - no other list needs it

        for line in scheme_lines(Screen.of_output()):
            show.line(line)
        show.line("priolane list schemes -v names the parts of each scheme")
        return 0
    columns = list(dict.fromkeys(key for entry in entries for key in entry))
    if not entries:
        show.line(f"no {args.what} yet")
        return 0
    show.table(columns, [[_cell(entry.get(key)) for key in columns] for entry in entries])
    return 0


def _matrices(args: argparse.Namespace) -> int:
    from priolane.model.matrix import matrix  # noqa: PLC0415 - no other list needs it

    if args.what not in (None, *_ROWS):
        raise InputError(f"--matrix sets transports against one of {', '.join(_ROWS)}, not {args.what}")
    rows = [_ROWS[args.what]] if args.what else [*_ROWS.values(), "pricing"]
    matrices = [matrix("transport", row) for row in rows]
    if args.json:
        show.json_lines([_as_json(table) for table in matrices], indent=2)
        return 0
    for nth, table in enumerate(matrices):
        if nth:
            show.line("")
        show.table(
            [f"transport, {table.column}", *table.seconds],
            [
                [first, *("yes" if table.cell(first, second).fits else "no" for second in table.seconds)]
                for first in table.firsts
            ],
        )
        for reason, seconds in table.reasons().items():
            pairs = "; ".join(f"{first} with {', '.join(of)}" for first, of in seconds.items())
            show.line(f"no: {pairs}: {reason}")
    return 0


def _as_json(table: "Matrix") -> dict[str, Any]:
    return {
        "row": table.row,
        "column": table.column,
        "pairs": [
            {table.row: cell.first, table.column: cell.second, "fits": cell.fits, "scheme": dict(cell.rows) or None}
            | {"reason": cell.reason or None}
            for cell in table.cells
        ],
    }


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, list):
        return ", ".join(_cell(item) for item in value)
    if isinstance(value, dict):
        return ", ".join(f"{key} = {_cell(item)}" for key, item in value.items())
    return show.number(value)
