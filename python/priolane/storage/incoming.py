"""Directories for files that come from elsewhere, until they are whole."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp

_PREFIX = ".incoming-"


@contextmanager
def incoming(parent: Path) -> Iterator[Path]:
    """A new directory in `parent`, which ends with the context. Removes those that killed processes left there.

    A directory is locked as long as its process lives, so another process knows whether it is in use.
    """
    with _locked(parent, fcntl.LOCK_EX):
        for left in parent.glob(f"{_PREFIX}*"):
            _remove_unlocked(left)
        directory = Path(mkdtemp(dir=parent, prefix=_PREFIX))
        handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        yield directory
    finally:
        # A transfer that was abandoned may add a file meanwhile; the next command removes the directory then.
        shutil.rmtree(directory, ignore_errors=True)
        os.close(handle)


def _remove_unlocked(directory: Path) -> None:
    with suppress(OSError), _locked(directory, fcntl.LOCK_EX | fcntl.LOCK_NB):
        shutil.rmtree(directory, ignore_errors=True)


@contextmanager
def _locked(directory: Path, how: int) -> Iterator[None]:
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, how)
        yield
    finally:
        os.close(handle)
