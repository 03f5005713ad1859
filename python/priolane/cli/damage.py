"""The treatment of damaged runs by commands that only read results: they leave them out, name them, and fail."""

from collections.abc import Iterable

from priolane.cli import DONE, FAILED
from priolane.results.results import Results
from priolane.text.printable import message


def report_damage(read: Iterable[Results]) -> int:
    """Prints a line on standard error for each run that was left out; returns the exit code of the command."""
    lines = dict.fromkeys(what for results in read for what in results.damaged.values())
    for what in lines:
        message(f"failed: {what}; the run is left out")
    return FAILED if lines else DONE
