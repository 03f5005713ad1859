"""The command `priolane`. Exit codes: 0 done, 2 bad input (nothing written), 130 interrupted, 1 anything else.

`doctor` and `linux` have one more, 3: this machine cannot run experiments, or testbeds.
"""

import argparse
import os
import sys
from collections.abc import Collection, Sequence
from importlib import import_module
from typing import NoReturn

from priolane import __version__
from priolane._core import InputError, RunFailed, Stopped
from priolane.cli.interrupts import INTERRUPTED, interruptible
from priolane.cli.text import make_encodable, require_utf8
from priolane.text.printable import message, printable_line

# The commands and what each is for. Each is the module of its name here.
COMMANDS = {
    "run": "run an experiment's whole grid; resumes where it stopped",
    "check": "validate an experiment; print it merged, its grid and its predicted cost",
    "reproduce": "run a paper's figure and compare it with what the paper says",
    "results": "print the table of results again: every scheme and class of flows, with intervals",
    "report": "draw the figures and the page of finished results",
    "compare": "which metrics moved between two results, and whether beyond noise",
    "import": "make a flow list of another tool's flows; see docs/importing.md",
    "list": "the names that files can use",
    "keys": "the keys of a part: type, range, unit, default, example, source",
    "trace": "one flow's packets, queues, classes and window over time; a pcap",
    "thresholds": "demotion thresholds from flow sizes and load",
    "advise": "which scheme to configure for recorded flows, a fabric and goals",
    "channels": "channels of delay for virtual priorities (PrioPlus)",
    "plan": "what a scheme takes to deploy, and what flows require",
    "export": "what to load into switches and hosts for a scheme; see docs/export.md",
    "price": "bills of machines and flows, promised rates, distance from the optimum",
    "analyze": "closed forms of priority by size or by deadline (Firapam)",
    "doctor": "what this machine can run, and how to mend what it cannot",
    "linux": "run an experiment on real queues: hosts in network namespaces of this machine",
    "bench": "speed of the engines on this machine, against its limit",
}
# Modules that may not have the name of their command: a keyword, and the name of a built-in type.
_MODULES = {"import": "import_", "list": "list_"}
DONE, FAILED, BAD_INPUT = 0, 1, 2
# What knows which directories have runs. A command that has not loaded it has written none.
_LAYOUT = "priolane.storage.directory"


class CommandParser(argparse.ArgumentParser):
    """A parser that answers a mistake with one line, and not with all options before it."""

    def error(self, message: str) -> NoReturn:
        """Says what is wrong, and where the options are, and ends with exit code 2."""
        self.exit(
            BAD_INPUT, printable_line(f"{self.prog}: error: {message}; {self.prog} --help lists the options") + "\n"
        )


def parser(commands: Collection[str]) -> argparse.ArgumentParser:
    """The command line. Of all commands, those of `commands` are imported and have their own arguments."""
    top = CommandParser(prog="priolane", description="Packet-level simulation of datacenter priority scheduling.")
    top.add_argument("--version", action="version", version=f"priolane {__version__}")
    added = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, about in COMMANDS.items():
        command = added.add_parser(name, help=about)
        if name in commands:
            import_module(f"priolane.cli.{_MODULES.get(name, name)}").add(command)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; bad input gives one line on standard error. SIGTERM is handled as SIGINT is."""
    if _LAYOUT in sys.modules:
        sys.modules[_LAYOUT].forget_written()
    try:
        with interruptible():
            return _main(arguments)
    except (KeyboardInterrupt, Stopped):
        kept = ": complete runs are kept, the same command continues" if _keeps_runs() else ""
        return _print_error(f"interrupted{kept}", INTERRUPTED)


def _keeps_runs() -> bool:
    """Whether a directory that this command has written has complete runs."""
    layout = sys.modules.get(_LAYOUT)
    return layout is not None and layout.keeps_runs()


def _main(arguments: Sequence[str] | None) -> int:
    make_encodable(sys.stdout)
    words = sys.argv[1:] if arguments is None else arguments
    # The options before a command, --help and --version, take no value.
    called = [word for word in words if not word.startswith("-")][:1]
    if not words:
        parser(called).print_help()
        return DONE
    args = parser(called).parse_args(words)
    try:
        require_utf8(args)
        code: int = args.execute(args)
        sys.stdout.flush()
    except InputError as error:
        return _print_error(f"error: {error}", BAD_INPUT)
    except BrokenPipeError:
        _give_up_output()
        return FAILED
    except _failures() as error:
        _give_up_output()
        kept = "; complete runs are kept" if _keeps_runs() else ""
        return _print_error(f"failed: {error}{kept}", FAILED)
    return code


def _failures() -> tuple[type[Exception], ...]:
    """The exceptions by which a command may fail. Python asks when there is an exception: `concurrent.futures` is slow
    to load."""
    from concurrent.futures import BrokenExecutor  # noqa: PLC0415

    return RunFailed, OSError, BrokenExecutor


def _give_up_output() -> None:
    """Drops the text that standard output could not take: Python would try again at its exit, and have its own code."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_error(line: str, code: int) -> int:
    message(line)
    return code
