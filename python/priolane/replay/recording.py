"""A part of a run: the packets of all flows, traced by the compiled module and read back as columns."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from priolane import _core
from priolane.model.experiment import Options
from priolane.storage.parquet_table import read_parquet

Column = npt.NDArray[Any]

# Stands for an instant that never came, in columns of instants.
NEVER = -1

_INSTANTS = ("made_ps", "delivered_ps", "queued_ps", "start_ps", "end_ps", "arrived_ps", "removed_ps")
_NUMBERS = (
    "flow",
    "packet",
    "hop",
    "offset",
    "payload",
    "wire",
    "link",
    "class",
    "host_level",
    "queue",
    "ahead_packets",
    "ahead_bytes",
)
_FLAGS = ("again", "marked")
_WORDS = ("kind", "fate")


@dataclass(frozen=True)
class Part:
    """The extent of a recording: packets that are sent from `from_ps` to before `until_ps`, until there are `most_hops`
    hops.

    `flows` are those whose senders' state is read; `seed` and `point` choose the run as `priolane.trace` does.
    """

    flows: tuple[int, ...]
    from_ps: int
    until_ps: int
    most_hops: int
    seed: int | None = None
    point: tuple[tuple[str, str], ...] = ()

    def to_json(self) -> str:
        """As the compiled module reads it."""
        return json.dumps(
            {
                "senders": self.flows,
                "from_ps": self.from_ps,
                "until_ps": self.until_ps,
                "most_hops": self.most_hops,
                "seed": self.seed,
                "point": [list(pair) for pair in self.point],
            }
        )


@dataclass(frozen=True)
class Recording:
    """A part of a run.

    `hops` has the columns of `trace-network.parquet`, `state` those of `trace-network-state.parquet`, as arrays;
    instants that never came are -1. `full_ps` is when the first packet was sent that is missing because there were
    `most_hops` hops, if one was.
    """

    run: str
    scheme: str
    point: Mapping[str, Any]
    seed: int
    digest: str
    stopped_at_ps: int
    full_ps: int | None
    nodes: Sequence[Mapping[str, Any]]
    links: Sequence[Mapping[str, Any]]
    flows: Sequence[Mapping[str, Any]]
    files: tuple[Path, ...]
    part: Part
    hops: Mapping[str, Column]
    state: Mapping[str, Column]

    @property
    def ends_ps(self) -> int:
        """The end of the shown time: that of the part, of the run, or of the last packet that is whole."""
        ends = [self.part.until_ps, self.stopped_at_ps]
        return min(ends if self.full_ps is None else [*ends, self.full_ps])


def record(path: Path, part: Part, out: Path, options: Options | None = None) -> Recording:
    """Runs the one run meant with all flows traced; its tables go to `out`.

    Raises `InputError` before anything is run if several runs could be meant, or a flow does not exist.
    """
    answer = _core.trace_network(path, (options or Options()).to_json(), part.to_json(), out)
    report: dict[str, Any] = json.loads(answer)
    files = tuple(Path(name) for name in report.pop("files"))
    return Recording(**report, files=files, part=part, hops=_hops(files[0]), state=_state(files[1]))


def _hops(path: Path) -> dict[str, Column]:
    table = _table(path)
    columns: dict[str, Column] = {}
    for name in _INSTANTS:
        columns[name] = table[name].fill_null(2**63).to_numpy().astype(np.uint64).view(np.int64)
        columns[name][columns[name] == np.int64(-(2**63))] = NEVER
    for name in _NUMBERS:
        columns[name] = table[name].to_numpy().astype(np.int64)
    for name in _FLAGS:
        columns[name] = table[name].to_numpy().astype(bool)
    for name in _WORDS:
        columns[name] = np.array(table[name].to_pylist(), dtype=object)
    return columns


def _state(path: Path) -> dict[str, Column]:
    table = _table(path)
    return {
        "flow": table["flow"].to_numpy(),
        "t_ps": table["t_ps"].to_numpy().astype(np.int64),
        "metric": np.array(table["metric"].to_pylist(), dtype=object),
        "value": table["value"].to_numpy(),
    }


def _table(path: Path) -> Any:

    return read_parquet(path)
