"""The command `priolane`. Exit codes: 0 done, 2 bad input (nothing written), 130 interrupted, 1 anything else."""

import argparse
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager

from priolane import __version__
from priolane._core import InputError, RunFailed, Stopped
from priolane.cli import (
    analyze,
    bench,
    channels,
    check,
    compare,
    import_,
    list_,
    plan,
    price,
    report,
    reproduce,
    run,
    thresholds,
    trace,
)
from priolane.cli.text import make_encodable, require_utf8

_COMMANDS = (
    run,
    check,
    reproduce,
    report,
    compare,
    import_,
    list_,
    trace,
    thresholds,
    channels,
    plan,
    price,
    analyze,
    bench,
)
DONE, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


def parser() -> argparse.ArgumentParser:
    """The command line, one subcommand per module of this package."""
    top = argparse.ArgumentParser(
        prog="priolane", description="Packet-level simulation of datacenter priority scheduling."
    )
    top.add_argument("--version", action="version", version=f"priolane {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in _COMMANDS:
        module.add(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; bad input gives one line on standard error. SIGTERM is handled as SIGINT is."""
    try:
        with _interruptible():
            return _main(arguments)
    except (KeyboardInterrupt, Stopped):
        return _say("interrupted: complete runs are kept, the same command continues", INTERRUPTED)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Makes the first SIGINT or SIGTERM raise `KeyboardInterrupt`, and ignores those after it.

    What follows an interrupt takes a few seconds at most. A second signal would only cut it off half-way, and leave
    workers that wait for each other.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # What the parent process ignores, as a shell does for jobs in the background, stays ignored.
    signals = [each for each in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(each) is not signal.SIG_IGN]

    def interrupt(number: int, frame: object) -> None:  # noqa: ARG001
        for each in signals:
            signal.signal(each, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = {each: signal.signal(each, interrupt) for each in signals}
    try:
        yield
    finally:
        for each, handler in before.items():
            if signal.getsignal(each) is interrupt:
                signal.signal(each, handler)


def _main(arguments: Sequence[str] | None) -> int:
    make_encodable(sys.stdout)
    chosen = parser().parse_args(arguments)
    try:
        require_utf8(chosen)
        code: int = chosen.carry_out(chosen)
        sys.stdout.flush()
    except InputError as error:
        return _say(f"error: {error}", BAD_INPUT)
    except BrokenPipeError:
        _give_up_output()
        return FAILED
    except (RunFailed, OSError, BrokenExecutor) as error:
        _give_up_output()
        return _say(f"failed: {error}", FAILED)
    return code


def _give_up_output() -> None:
    """What standard output could not take is dropped: Python would try again at its exit, and have its own code."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(line: str, code: int) -> int:
    print(f"priolane: {line}", file=sys.stderr)  # noqa: T201
    return code
