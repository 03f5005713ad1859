"""Reading `series.parquet` of a run, which somebody else may have written."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from priolane._core import InputError
from priolane.storage.run_files import RunFile

if TYPE_CHECKING:
    import pyarrow as pa

Filters = list[tuple[str, str, Any]]
_CURE = "run the experiment again"
# Sums of readings stay numbers.
_LARGEST = 1e150


def has_rows(path: RunFile) -> bool:
    """Whether the table is there and has a row; raises `InputError` if the file is not a table."""
    import pyarrow.parquet as pq  # noqa: PLC0415 - slow to load

    if not path.is_file():
        return False
    rows: int = _read(path, lambda: pq.read_metadata(path.source())).num_rows
    return rows > 0


def read_series(path: RunFile, columns: list[str], filters: Filters, until_ps: int) -> "pa.Table":
    """The columns of the rows that `filters` choose.

    Raises `InputError` if the file is not a table of readings: if a column is missing, has another type or a missing
    value, if a reading is not a number, or if one is later than `until_ps`, the end of the run in picoseconds.
    """
    import pyarrow.parquet as pq  # noqa: PLC0415

    table: pa.Table = _read(path, lambda: pq.read_table(path.source(), columns=columns, filters=filters))
    for name in columns:
        if name not in table.column_names or not _KINDS[name](table.schema.field(name).type):
            raise InputError(f"{path}: damaged: it has no column {name!r} of a series; {_CURE}")
        if table.column(name).null_count:
            raise InputError(f"{path}: damaged: the column {name!r} lacks values; {_CURE}")
    for name, ends in {"t_ps": (0, until_ps), "value": (-_LARGEST, _LARGEST)}.items():
        if name in columns and table.num_rows and not _is_within(table.column(name), *ends):
            raise InputError(f"{path}: damaged: the column {name!r} has a value that no run has; {_CURE}")
    return table


def _is_within(column: "pa.ChunkedArray", least: float, most: float) -> bool:
    import pyarrow.compute as pc  # noqa: PLC0415

    # A value that is not a number is neither.
    return bool(pc.all(pc.and_(pc.greater_equal(column, least), pc.less_equal(column, most))).as_py())


def _is_text(kind: Any) -> bool:
    import pyarrow as pa  # noqa: PLC0415

    return bool(pa.types.is_string(kind.value_type if pa.types.is_dictionary(kind) else kind))


def _is_integer(kind: Any) -> bool:
    import pyarrow as pa  # noqa: PLC0415

    return bool(pa.types.is_integer(kind))


def _is_floating(kind: Any) -> bool:
    import pyarrow as pa  # noqa: PLC0415

    return bool(pa.types.is_float64(kind))


_KINDS: Mapping[str, Callable[[Any], bool]] = {
    "t_ps": _is_integer,
    "entity": _is_text,
    "metric": _is_text,
    "value": _is_floating,
}


def _read(path: RunFile, read: Callable[[], Any]) -> Any:
    import pyarrow as pa  # noqa: PLC0415

    try:
        return read()
    # Those of a column that is missing or cannot be compared, and of a file that is no Parquet.
    except (pa.ArrowException, KeyError, ValueError, OSError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{path}: damaged: it is not a table of a run: {reason}; {_CURE}") from error
