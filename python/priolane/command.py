"""The entry point of the command `priolane`.

It imports little, so that signals are handled and streams are open before the slow imports of the command line begin.
"""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

_INTERRUPTED = 130


def main() -> int:
    """Runs the command line with the arguments of this process; returns its exit code."""
    _open_closed_streams()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)
    signal.signal(signal.SIGTERM, _end)
    from priolane import cli  # noqa: PLC0415 - slow to load

    run: Callable[[], int] = cli.main
    return run()


def _end(number: int, frame: object) -> None:  # noqa: ARG001
    """Ends the process before anything has begun."""
    os.write(2, b"priolane: interrupted\n")
    os._exit(_INTERRUPTED)


def _open_closed_streams() -> None:
    """Opens the null device for standard streams that are closed: a file opened later would take their place."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - open to the end
