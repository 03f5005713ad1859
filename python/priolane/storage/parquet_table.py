"""Reading a table of a run from its Parquet file."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from priolane.storage.run_files import RunFile

if TYPE_CHECKING:
    import pyarrow as pa

_WORTH_THREADS = 1_000_000


def read_parquet(file: RunFile | Path, columns: Sequence[str] | None = None) -> "pa.Table":
    """The table of the file, or these columns of the table; columns that it lacks are left out.

    `pyarrow.parquet.read_table` loads pyarrow's datasets, and with them pandas where that is installed. That takes
    0.35 s of processor time, a third of a small run.
    """
    import pyarrow.parquet as pq  # noqa: PLC0415 - slow to load

    there = RunFile(file) if isinstance(file, Path) else file
    with pq.ParquetFile(there.source()) as table:
        # Threads double the time of a small table.
        is_large = there.size() > _WORTH_THREADS
        return table.read(columns=None if columns is None else list(columns), use_threads=is_large)
