"""One flow's life: traced by the compiled module, read back from the files that it leaves."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from priolane import _core
from priolane.model.definition import experiment_name
from priolane.model.experiment import Options
from priolane.storage.parquet_table import read_parquet
from priolane.storage.written_files import writing

# The files of a trace of all flows: hops and state.
NETWORK_TABLES = ("trace-network.parquet", "trace-network-state.parquet")
# Columns of the table of hops that say something of the packet, not of one hop.
_OF_PACKET = (
    "kind",
    "src",
    "dst",
    "offset",
    "payload",
    "wire",
    "again",
    "made_ps",
    "host_level",
    "echo",
    "delivered_ps",
)


@dataclass(frozen=True)
class Packet:
    """A packet of the flow with its hops; `priority` is its class on the wire, times are picoseconds."""

    number: int
    kind: str
    src: int
    dst: int
    offset: int
    payload: int
    wire: int
    again: bool
    made_ps: int
    priority: int
    host_level: int
    echo: bool
    delivered_ps: int | None
    hops: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class Trace:
    """The history of a flow: `state` holds the sender's readings (time in ps, metric, value)."""

    run: str
    scheme: str
    point: Mapping[str, Any]
    seed: int
    digest: str
    stopped_at_ps: int
    flow: Mapping[str, Any]
    seen: Mapping[str, int]
    at: str
    files: tuple[Path, ...]
    packets: tuple[Packet, ...]
    state: tuple[tuple[int, str, float], ...]

    def state_at(self) -> dict[int | None, dict[str, float]]:
        """The readings of each instant by metric."""
        instants: dict[int | None, dict[str, float]] = {}
        for t_ps, metric, value in self.state:
            instants.setdefault(t_ps, {})[metric] = value
        return instants

    def to_json(self) -> dict[str, Any]:
        """Everything, as JSON holds it."""
        return {**asdict(self), "files": [str(path) for path in self.files]}


def table_names(flow: int) -> list[str]:
    """The names of the files of a trace of one flow: hops, state, capture."""
    return [f"trace-{flow}{end}" for end in (".parquet", "-state.parquet", ".pcap")]


def trace_directory(path: str | Path, out: str | Path | None) -> Path:
    """The directory for the files of a trace of an experiment: `out`, or below `runs/`."""
    return Path(out) if out is not None else Path("runs") / f"{experiment_name(path)}-trace"


def trace(  # noqa: PLR0913 - keyword arguments
    path: str | Path,
    flow: int,
    out: str | Path | None = None,
    *,
    options: Options | None = None,
    seed: int | None = None,
    point: Sequence[tuple[str, str]] = (),
    at: str | None = None,
) -> Trace:
    """Runs the one run meant and returns the life of `flow` in it; files go to `out` (default: below `runs/`).

    `point` holds swept keys and the TOML text of their values; `at` names the port at which packets are captured.
    Raises `InputError` before anything is run if several runs could be meant, if the flow or the port does not exist,
    or if files stand in `out` under the names of the trace that no trace wrote.
    """
    directory = trace_directory(path, out)
    request = {"flow": flow, "seed": seed, "point": [list(pair) for pair in point], "at": at}
    with writing(directory, table_names(flow)):
        answer = _core.trace(Path(path), (options or Options()).to_json(), json.dumps(request), directory)
    report: dict[str, Any] = json.loads(answer)
    files = tuple(Path(name) for name in report.pop("files"))
    return Trace(**report, files=files, packets=_packets(files[0]), state=_state(files[1]))


def _packets(path: Path) -> tuple[Packet, ...]:
    hops: dict[int, list[dict[str, Any]]] = {}
    for row in _rows(path):
        hops.setdefault(row["packet"], []).append(row)
    return tuple(_packet(number, rows) for number, rows in hops.items())


def _packet(number: int, rows: Sequence[dict[str, Any]]) -> Packet:
    own = {name: rows[0][name] for name in _OF_PACKET}
    left_out = {*_OF_PACKET, "packet", "class"}
    hops = tuple({name: value for name, value in row.items() if name not in left_out} for row in rows)
    return Packet(number=number, priority=rows[0]["class"], hops=hops, **own)


def _state(path: Path) -> tuple[tuple[int, str, float], ...]:
    return tuple((row["t_ps"], row["metric"], row["value"]) for row in _rows(path))


def _rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a table of the trace."""

    rows: list[dict[str, Any]] = read_parquet(path).to_pylist()
    return rows
