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


def execute(chosen: argparse.Namespace) -> int:
    """Prints the entries of one kind as a table, or the matrix."""
    if chosen.matrix:
        return _matrices(chosen)
    if chosen.what is None:
        raise InputError(f"list what? One of {', '.join(WHAT)}; or --matrix")
    entries = json.loads(_core.catalogue()).get(chosen.what, [])
    if chosen.json:
        show.json_lines(entries, indent=2)
        return 0
    if chosen.what == "schemes" and not chosen.verbose:
        from priolane.cli.brief.listed_schemes import scheme_lines  # noqa: PLC0415 - no other list needs it

        for line in scheme_lines(Screen.of_output()):
            show.line(line)
        show.line("priolane list schemes -v names the parts of each scheme")
        return 0
    columns = list(dict.fromkeys(key for entry in entries for key in entry))
    if not entries:
        show.line(f"no {chosen.what} yet")
        return 0
    show.table(columns, [[_cell(entry.get(key)) for key in columns] for entry in entries])
    return 0


def _matrices(chosen: argparse.Namespace) -> int:
    from priolane.model.matrix import matrix  # noqa: PLC0415 - no other list needs it

    if chosen.what not in (None, *_ROWS):
        raise InputError(f"--matrix sets transports against one of {', '.join(_ROWS)}, not {chosen.what}")
    rows = [_ROWS[chosen.what]] if chosen.what else [*_ROWS.values(), "pricing"]
    found = [matrix("transport", row) for row in rows]
    if chosen.json:
        show.json_lines([_as_json(one) for one in found], indent=2)
        return 0
    for nth, one in enumerate(found):
        if nth:
            show.line("")
        show.table(
            [f"transport, {one.column}", *one.seconds],
            [
                [first, *("yes" if one.cell(first, second).fits else "no" for second in one.seconds)]
                for first in one.firsts
            ],
        )
        for reason, seconds in one.reasons().items():
            pairs = "; ".join(f"{first} with {', '.join(of)}" for first, of in seconds.items())
            show.line(f"no: {pairs}: {reason}")
    return 0


def _as_json(one: "Matrix") -> dict[str, Any]:
    return {
        "row": one.row,
        "column": one.column,
        "pairs": [
            {one.row: cell.first, one.column: cell.second, "fits": cell.fits, "scheme": dict(cell.rows) or None}
            | {"reason": cell.reason or None}
            for cell in one.cells
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
