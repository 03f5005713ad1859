"""The places where the runs of a grid are carried out: the values of `--on` and `run(on=...)`."""

import re
from dataclasses import dataclass
from typing import Literal

from priolane._core import InputError

FORMS = "local, dask://HOST:PORT, dask-local:N, slurm or slurm:N"
_HOST_PORT = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^\s/:\[\]]+):(\d{1,5})")
_MOST_WORKERS = 1000


@dataclass(frozen=True)
class Backend:
    """A place that carries out runs."""

    kind: Literal["local", "dask", "dask-local", "slurm"] = "local"
    address: str = ""
    """Of the scheduler, HOST:PORT, with `dask`."""
    count: int = 1
    """Workers with `dask-local`, jobs with `slurm`."""

    def __str__(self) -> str:
        """As it is written after `--on`."""
        if self.kind == "dask":
            return f"dask://{self.address}"
        return self.kind if self.kind == "local" else f"{self.kind}:{self.count}"


LOCAL = Backend()


def parse_backend(text: str) -> Backend:
    """Reads a place as it is written after `--on`; raises `InputError` if it is none."""
    kind, colon, rest = text.partition(":")
    if text == "local":
        return LOCAL
    if text == "slurm":
        return Backend("slurm")
    if kind == "dask" and rest.startswith("//"):
        match = _HOST_PORT.fullmatch(rest[2:])
        if match and 1 <= int(match[2]) <= 65535:
            return Backend("dask", address=rest[2:])
        raise InputError(f"--on {text}: this is no address of a scheduler; write it as in dask://10.0.0.7:8786")
    if colon and kind in ("dask-local", "slurm"):
        count = int(rest) if rest.isdecimal() else 0
        if 1 <= count <= _MOST_WORKERS:
            return Backend("dask-local" if kind == "dask-local" else "slurm", count=count)
        what = "workers" if kind == "dask-local" else "jobs"
        raise InputError(f"--on {text}: {rest!r} is not a number of {what} from 1 to {_MOST_WORKERS}, as in {kind}:4")
    raise InputError(f"--on {text}: there is no such place; write {FORMS}")
