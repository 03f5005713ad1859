"""The files of the runs of a directory: each in the directory of its run, or in a pack of many small runs.

A pack is a tar file, `DIR/runs-<n>.tar`, which `priolane_results::store::packs` describes. `tar -xf` unpacks it into
the directories that runs have otherwise. Where a pack and a directory have a run of the same id, that in the pack
counts.
"""

import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from priolane import _core
from priolane.storage.files import open_regular


@dataclass(frozen=True)
class RunFile:
    """A file of a run, which need not exist."""

    path: Path
    """The path; if a pack has the file, that of the pack with the name in the pack, for messages."""
    pack: Path | None = None
    offset: int = 0
    """The number of bytes of the pack before the file."""
    length: int = 0
    """The length in bytes, if a pack has the file."""

    def is_file(self) -> bool:
        """Whether the file exists."""
        return self.pack is not None or self.path.is_file()

    def size(self) -> int:
        """The length in bytes; raises `OSError` if the file does not exist."""
        return self.path.stat().st_size if self.pack is None else self.length

    def open(self) -> io.BufferedReader:
        """Opens the file for reading; raises `OSError` if it cannot be read, or is not a regular file."""
        if self.pack is None:
            return open_regular(self.path)
        return io.BufferedReader(_Part(open_regular(self.pack), self.offset, self.length))

    def source(self) -> Path | io.BufferedReader:
        """The path or, if a pack has the file, the open file, for readers that take either."""
        return self.path if self.pack is None else self.open()

    def __str__(self) -> str:
        """The path, for messages."""
        return str(self.path)


class _Part(io.RawIOBase):
    """A part of an open file, which is read as a file of its own."""

    def __init__(self, whole: io.BufferedReader, offset: int, length: int) -> None:
        self._whole, self._offset, self._length, self._at = whole, offset, length, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._length}[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        wanted = max(0, min(len(view), self._length - self._at))
        self._whole.seek(self._offset + self._at)
        read = self._whole.readinto(view[:wanted])
        self._at += read
        return read

    def close(self) -> None:
        self._whole.close()
        super().close()


@dataclass(frozen=True)
class RunPlace:
    """The place of the files of one run."""

    directory: Path
    """The directory of runs, or the pack that has the run."""
    run_id: str
    packed: Mapping[str, tuple[int, int]] | None = None
    """The offset and the length of each file by name, if a pack has the run."""

    def file(self, name: str) -> RunFile:
        """A file by its name, which need not exist."""
        path = self.directory / self.run_id / name
        if self.packed is None or name not in self.packed:
            return RunFile(path)
        return RunFile(path, self.directory, *self.packed[name])


class RunFiles:
    """The files of the runs of a directory, whose packs are read when they are first needed."""

    def __init__(self, directory: Path) -> None:
        """`directory` need not exist."""
        self._directory = directory
        self._lengths = self._read_lengths()

    def _read_lengths(self) -> dict[str, int]:
        return {path.name: path.lstat().st_size for path in self._directory.glob("runs-*.tar")}

    @cached_property
    def _packs(self) -> tuple[dict[str, RunPlace], tuple[str, ...]]:
        runs, damage = _core.packed_runs(self._directory)
        return {run_id: RunPlace(pack, run_id, files) for run_id, pack, files in runs}, tuple(damage)

    @property
    def damage(self) -> tuple[str, ...]:
        """The damage of packs that costs runs, in words."""
        return self._packs[1]

    def packed(self) -> Iterable[RunPlace]:
        """The places of all runs in packs."""
        return self._packs[0].values()

    def place(self, run_id: str) -> RunPlace:
        """The place of a run, which need not exist."""
        return self._packs[0].get(run_id) or RunPlace(self._directory, run_id)

    def read_again(self) -> None:
        """Forgets the packs as they were, if one has another length by now or is new."""
        lengths = self._read_lengths()
        if lengths != self._lengths:
            self._lengths = lengths
            self.__dict__.pop("_packs", None)
