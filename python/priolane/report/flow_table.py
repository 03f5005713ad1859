"""Reading `flows.parquet` of a run, which somebody else may have written."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from priolane._core import InputError
from priolane.model.experiment import PlannedRun
from priolane.results.results import Results
from priolane.storage.parquet_table import read_parquet
from priolane.storage.run_files import RunFile

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FLOWS = "flows.parquet"
_CURE = "run the experiment again"
_PS_PER_S = 1e12
_OF_FINISHED = ("bytes", "fct_ps", "bare_fct_ps", "timeouts", "slowdown", "measured")


@dataclass(frozen=True)
class FinishedFlows:
    """The measured flows of a run that finished, by column: bytes of payload, seconds, and the slowdown. `unfinished`
    counts the measured flows that did not finish, `timeouts` the retransmission timeouts of all of them."""

    size: "Floats"
    fct_s: "Floats"
    bare_s: "Floats"
    slowdown: "Floats"
    unfinished: int
    timeouts: int


def finished_flows(results: Results, run: PlannedRun) -> FinishedFlows | None:
    """The flows of a run; `None` where it has no table of flows.

    Raises `InputError` if the file is damaged, or lacks columns of flows.
    """
    import pyarrow.compute as pc  # noqa: PLC0415 - slow to load

    path = results.place(run.id).file(FLOWS)
    table = flow_columns(results, run, _OF_FINISHED)
    if table is None:
        return None
    table = table.filter(pc.and_(table.column("measured"), pc.is_valid(table.column("bytes"))))
    done = table.filter(pc.and_(pc.is_valid(table.column("fct_ps")), pc.is_valid(table.column("slowdown"))))
    done = done.filter(pc.is_valid(done.column("bare_fct_ps")))
    size, fct, bare, slowdown = (positive(done, name, path) for name in ("bytes", "fct_ps", "bare_fct_ps", "slowdown"))
    timeouts = int(pc.sum(table.column("timeouts")).as_py() or 0)
    unfinished = table.num_rows - done.num_rows
    return FinishedFlows(size, fct / _PS_PER_S, bare / _PS_PER_S, slowdown, unfinished, timeouts)


def flow_columns(results: Results, run: PlannedRun, columns: Sequence[str]) -> "pa.Table | None":
    """Columns of the table of flows of a run; `None` where it has no such table.

    Raises `InputError` if the file is damaged, or lacks one of the columns.
    """
    if not any(file["name"] == FLOWS for file in results.records.get(run.id, {}).get("files", [])):
        return None
    return _read(results.checked(run.id, FLOWS), columns)


def _read(path: RunFile, columns: Sequence[str]) -> "pa.Table":
    import pyarrow as pa  # noqa: PLC0415

    special: dict[str, Callable[[Any], bool]] = {"slowdown": pa.types.is_floating, "measured": pa.types.is_boolean}
    kinds = {name: special.get(name, pa.types.is_integer) for name in columns}
    try:
        table = read_parquet(path, list(kinds))
    except (pa.ArrowException, KeyError, ValueError, OSError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{path}: damaged: it is not a table of a run: {reason}; {_CURE}") from error
    for name, is_kind in kinds.items():
        if name not in table.column_names or not is_kind(table.schema.field(name).type):
            raise InputError(f"{path}: damaged: it has no column {name!r} of flows; {_CURE}")
    return table


def positive(table: "pa.Table", name: str, path: RunFile) -> "Floats":
    """A column as numbers above 0."""
    import numpy as np  # noqa: PLC0415

    # `to_numpy`, and `combine_chunks` without a row, load pandas where that is installed.
    if not table.num_rows:
        return np.empty(0)
    column = table.column(name).combine_chunks()
    values: Floats = np.full(len(column), np.nan) if column.null_count else np.from_dlpack(column).astype(np.float64)
    if not bool(np.isfinite(values).all() and (values > 0).all()):
        raise InputError(f"{path}: damaged: the column {name!r} has a value that no flow has; {_CURE}")
    return values
