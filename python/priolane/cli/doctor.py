"""`priolane doctor`: what this machine can run, and how to mend what it cannot."""

import argparse
from dataclasses import asdict

from priolane.cli import show
from priolane.hosts.machine import Check, Machine, examine

# Beside those of all commands (`priolane.cli`): something is missing without which no experiment runs.
UNFIT = 3


def add(command: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    command.description = (
        "What this machine has of what priolane takes or can use, and the cure of what is missing. "
        f"Exit code {UNFIT} if experiments cannot be run, 0 otherwise, whatever else is missing."
    )
    command.add_argument("--json", action="store_true", help="as JSON")
    command.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> int:
    """Examines this machine and prints a line for each check."""
    checks = examine(Machine())
    if args.json:
        show.json_lines([asdict(check) for check in checks])
    else:
        _print(checks)
    return UNFIT if any(check.needed and not check.ok for check in checks) else 0


def _print(checks: list[Check]) -> None:
    purpose = ""
    for check in checks:
        if check.purpose != purpose:
            purpose = check.purpose
            show.line(f"for {purpose}:")
        state = "ok" if check.ok else "missing"
        show.line(f"  {state:8}{check.name:20}{check.seen}")
        if not check.ok:
            show.line(f"{'':10}{'':20}{check.cure}")
