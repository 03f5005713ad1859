"""Reading the text files that a user names in a command or in another file.

Python code reads a user's file only through `read_text_of_user`, which has the bounds of the Rust readers
(`priolane_source::disk`): a regular file, at most `MOST_BYTES`, in UTF-8.
"""

import os
import stat
from pathlib import Path

from priolane._core import InputError

# The limit of experiment, scheme and topology files in `priolane_source::disk`.
MOST_BYTES = 1 << 20
_SPECIAL = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def read_text_of_user(path: Path, *, shown: str | None = None, most_bytes: int = MOST_BYTES) -> str:
    """Returns the text of the regular file at `path`, which a user named.

    `shown` is the name of the file in messages, such as `--headroom FILE` (default: `path`). `most_bytes` is the
    largest size that is read, in bytes (default: 1 MiB). The call never waits for another process: a FIFO is refused,
    even if it replaces a regular file in the meantime.

    Raises `InputError` with one sentence on what is wrong and one on what to use, if the path names anything but a
    regular file, if the file cannot be read, if the file is larger than `most_bytes`, or if it is not UTF-8.
    """
    name = str(path) if shown is None else shown
    data = _read_bytes(path, name, most_bytes)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{name}: line {line}: byte {error.start} is not UTF-8. Use a text file in UTF-8.") from None


def _read_bytes(path: Path, name: str, most_bytes: int) -> bytes:
    if "\0" in str(path):
        raise InputError(f"{name}: the path has a null character. Use the path of a readable text file.")
    try:
        # Opening a device can have effects, such as rewinding a tape.
        _refuse_special(path.stat().st_mode, name)
        # Opening a FIFO would wait for a writer without O_NONBLOCK. Reads of regular files ignore the flag.
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
        with os.fdopen(handle, "rb") as stream:
            _refuse_special(os.fstat(stream.fileno()).st_mode, name)
            data = stream.read(most_bytes + 1)
    except OSError as error:
        raise InputError(
            f"{name}: the file cannot be read: {error.strerror}. Use the path of a readable text file."
        ) from None
    if len(data) > most_bytes:
        raise InputError(f"{name}: the file is larger than {most_bytes} bytes. Use a file of at most that size.")
    return data


def _refuse_special(mode: int, name: str) -> None:
    if not stat.S_ISREG(mode):
        kind = next((text for is_kind, text in _SPECIAL if is_kind(mode)), "a special file")
        raise InputError(f"{name}: the path names {kind}, not a regular file. Use the path of a text file.")
