"""The files of the runs of a directory: each in the directory of its run, or in a pack of many small runs.

A pack is a tar file, `DIR/runs-<n>.tar`, which `priolane_results::store::packs` describes. `tar -xf` unpacks it into
the directories that runs have otherwise. Where a pack and a directory have a run of the same id, that in the pack
counts.
"""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

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

    def open(self) -> io.BufferedReader | io.BytesIO:
        """Opens the file for reading; raises `OSError` if it cannot be read, or is not a regular file."""
        if self.pack is None:
            return open_regular(self.path)
        with open_regular(self.pack) as stream:
            stream.seek(self.offset)
            return io.BytesIO(stream.read(self.length))

    def __str__(self) -> str:
        """The path, for messages."""
        return str(self.path)


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
    """The files of the runs of a directory, whose packs are read once."""

    def __init__(self, directory: Path) -> None:
        """`directory` need not exist."""
        self._directory = directory

    @cached_property
    def _packed(self) -> dict[str, RunPlace]:
        return {run_id: RunPlace(pack, run_id, files) for run_id, pack, files in _core.packed_runs(self._directory)}

    def place(self, run_id: str) -> RunPlace:
        """The place of a run, which need not exist."""
        return self._packed.get(run_id) or RunPlace(self._directory, run_id)
