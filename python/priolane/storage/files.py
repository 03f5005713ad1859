"""Writing files so that a reader never sees half of one, one writer of a directory, JSON that is going to be shown."""

import errno
import fcntl
import json
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import Any

from priolane.text.printable import is_printable, printable

# The largest JSON file of results that is read, as in the compiled module.
MOST_JSON_BYTES = 256 << 20
LOCK_FILE = ".grid.lock"
_HEAD_BYTES = 4_000
_HOLDER_CHARACTERS = 200
_DRAFT = ".draft"
# Of the escapes of JSON, those that can stand for a character that no terminal shows.
_ESCAPE = re.compile(r"\\[bfru]")


class WriteError(OSError):
    """A file could not be written: what is on the disk is as before."""

    def __init__(self, path: Path, cause: OSError) -> None:
        """`path` is what was to be written, `cause` why it was not."""
        super().__init__(cause.errno, cause.strerror, str(path))

    def __reduce__(self) -> tuple[type["WriteError"], tuple[Path, OSError]]:
        """The constructor and its arguments, for the way from a worker to its parent."""
        return WriteError, (Path(self.filename), OSError(self.errno, self.strerror))

    def __str__(self) -> str:
        """One line: what, why, and what to do."""
        return f"cannot write {self.filename}: {self.strerror}; fix this and run the command again"


class DirectoryInUse(OSError):
    """Another process is filling a directory."""

    def __init__(self, directory: Path, holder: str) -> None:
        """`holder` is what the other process says of itself."""
        super().__init__(errno.EWOULDBLOCK, holder, str(directory))

    def __reduce__(self) -> tuple[type["DirectoryInUse"], tuple[Path, str]]:
        """The constructor and its arguments, for the way from a worker to its parent."""
        return DirectoryInUse, (Path(self.filename), self.strerror or "")

    def __str__(self) -> str:
        """One line: who, where, and what to do."""
        return f"{self.filename}: {self.strerror} is filling it now; wait for it, or choose another directory with -o"


def cache() -> Path:
    """The directory for files that priolane can make or fetch again: `$XDG_CACHE_HOME/priolane`, or
    `~/.cache/priolane`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "priolane"


@contextmanager
def sole_writer(directory: Path) -> Iterator[None]:
    """Keeps other grids out of `directory`, which is made if it is missing, while the context lasts.

    Raises `DirectoryInUse` if another process has it. The operating system releases the lock when the process ends, and
    the lock file that is left locks nothing.
    """
    import socket  # noqa: PLC0415 - imports much, and short commands write nothing

    path = directory / LOCK_FILE
    try:
        directory.mkdir(parents=True, exist_ok=True)
        handle = _open_lock(path)
        stream = os.fdopen(handle, "r+", encoding="utf-8", errors="replace")
    except OSError as error:
        raise WriteError(path, error) from error
    with stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            stream.seek(0)
            holder = printable(" ".join(stream.read(_HOLDER_CHARACTERS).split()))
            raise DirectoryInUse(directory, holder or "another process") from error
        except OSError as error:
            raise WriteError(path, error) from error
        try:
            stream.seek(0)
            stream.truncate()
            stream.write(f"process {os.getpid()} on {socket.gethostname()}")
            stream.flush()
        except OSError as error:
            raise WriteError(path, error) from error
        yield


def _open_lock(path: Path) -> int:
    """Opens a file that is locked and written, and makes it if it is missing.

    A link in its place, symbolic or hard, could lead to somebody else's file. Raises `OSError` for a link and for
    anything but a regular file, and waits for nobody.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
        os.close(handle)
        raise OSError(errno.EINVAL, "the path names a link or no regular file", str(path))
    return handle


def open_regular(path: Path) -> BufferedReader:
    """Opens the regular file at `path` for reading bytes, without waiting for another process.

    Raises `OSError` if it cannot be opened, or is anything but a regular file: opening a FIFO would wait for a writer.
    """
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "the path does not name a regular file", str(path))
    return os.fdopen(handle, "rb")


def read_head(path: Path) -> bytes:
    """The first 4,000 bytes of the regular file at `path`, in which priolane marks what it wrote.

    They are empty if `path` is a link or anything else, or cannot be read.
    """
    if path.is_symlink():
        return b""
    try:
        with open_regular(path) as stream:
            return stream.read(_HEAD_BYTES)
    except OSError:
        return b""


def read_regular(path: Path, most_bytes: int) -> str:
    """The text in UTF-8 of the regular file at `path`, of which `most_bytes` bytes are read at most.

    Raises as `open_regular`, `OSError` for a larger file, and `UnicodeDecodeError` for other text.
    """
    with open_regular(path) as stream:
        data = stream.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    return data.decode()


def write_whole(path: Path, content: str | bytes) -> None:
    """Writes `content` to a temporary neighbour of `path`, makes it durable and renames it to `path`.

    Raises `WriteError`, with nothing left behind, if the disk is full or must not be written.
    """
    try:
        _write_whole(path, content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise WriteError(path, error) from error


def _write_whole(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_left_drafts(path)
    handle, draft = _new_draft(path)
    with os.fdopen(handle, "wb") as stream:
        try:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
            draft.chmod(0o644)
            draft.replace(path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise


def _new_draft(path: Path) -> tuple[int, Path]:
    """Makes a temporary neighbour of `path`, which is locked while this process has it open."""
    import tempfile  # noqa: PLC0415 - imports much, and short commands write nothing

    while True:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=_DRAFT)
        # A file system without locks keeps what killed processes leave.
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink > 0:
            return handle, Path(name)
        # Another process took it for one that was left, before it was locked.
        os.close(handle)


def _remove_left_drafts(path: Path) -> None:
    """Removes the temporary neighbours of `path` that killed processes left: nobody has locked them."""
    prefix = f".{path.name}."
    for entry in os.scandir(path.parent):
        if not (entry.name.startswith(prefix) and entry.name.endswith(_DRAFT)):
            continue
        # What is gone, or is no regular file, is nobody's draft; a locked one is somebody's.
        with suppress(OSError), open_regular(Path(entry.path)) as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            Path(entry.path).unlink()


def to_json(value: Any) -> str:
    """`value` as JSON, with lines for people."""
    return json.dumps(value, indent=1, ensure_ascii=False)


def ascii_json(value: Any) -> str:
    """`value` as JSON for programs: lines, and characters beyond ASCII escaped."""
    return json.dumps(value, indent=1) + "\n"


def parse_json(text: str) -> Any:
    """Reads JSON that anybody may have written.

    Characters that no page, drawing or terminal shows become the replacement character. Raises `ValueError` for what
    is not JSON, for the numbers `NaN` and `Infinity`, which JSON does not have, and for values that are nested too
    deeply to be read.
    """
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
        # A text of printable characters without such escapes has printable values.
        return value if _ESCAPE.search(text) is None and is_printable(text) else _printable(value)
    except RecursionError:
        raise ValueError("its values are nested too deeply") from None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number of JSON")


def _printable(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list):
        return [_printable(item) for item in value]
    if isinstance(value, dict):
        return {_printable(key): _printable(item) for key, item in value.items()}
    return value
