"""A folder of numbered drafts in a directory of the user."""

import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PREFIX, _SUFFIX = ".priolane-", ".drafts"
# A draft, or the neighbour in which `write_whole` writes it.
_DRAFT = re.compile(r"\d+|\.\d+\..*\.draft")


@contextmanager
def draft_folder(directory: Path) -> Iterator[Path]:
    """A new folder in `directory`, which ends with the context; its files are to be named by whole numbers.

    Folders that killed processes left there are removed first. A folder is locked as long as its process lives. Since
    anybody may have made a folder of such a name, only numbered drafts are removed, and a folder that holds anything
    else stays. Raises `OSError` if the folder cannot be made.
    """
    for left in directory.glob(f"{_PREFIX}*{_SUFFIX}"):
        _remove_left(left)
    folder, handle = _new_folder(directory)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)


def _new_folder(directory: Path) -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(dir=directory, prefix=_PREFIX, suffix=_SUFFIX))
        try:
            handle = _open(folder)
        except FileNotFoundError:
            # Another process took it for one that was left, before it was locked.
            continue
        # A file system without locks keeps what killed processes leave.
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        if folder.is_dir():
            return folder, handle
        os.close(handle)


def _remove_left(folder: Path) -> None:
    """Removes a folder that nobody has locked, if it holds numbered drafts only. A link is not followed."""
    with suppress(OSError):
        handle = _open(folder)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with os.scandir(handle) as entries:
                names = [entry.name for entry in entries]
            if all(map(_DRAFT.fullmatch, names)):
                for name in names:
                    os.unlink(name, dir_fd=handle)
                folder.rmdir()
        finally:
            os.close(handle)


def _open(folder: Path) -> int:
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
