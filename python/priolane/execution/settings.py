"""The way in which the runs of a grid are carried out."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from priolane.execution.backend import LOCAL, Backend

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from priolane.execution.pool import ProcessPool


def _do_nothing(path: Path) -> None:
    """Ignores what was saved."""


def _give_nothing_up() -> None:
    """Does nothing: no transfer is under way."""


@dataclass(frozen=True)
class Settings:
    """The way in which runs are carried out. No setting changes a result."""

    jobs: int = 1
    on: "Backend | Executor" = LOCAL
    """The place: `jobs` processes of this machine, a cluster, or an executor."""
    engine: str = "auto"
    verify: bool = False
    threads: int = 1
    others: tuple[Path, ...] = ()
    """Directories of grids that may have a run already: it is then taken over."""
    on_saved: Callable[[Path], None] = _do_nothing
    """Told of the note of a grid when it is written, and of the directory of each run when that is in place."""
    give_up: Callable[[], None] = _give_nothing_up
    """Called when the command is interrupted: calls of `on_saved` that still wait raise instead."""
    packs: bool = True
    """Whether small runs of a grid of many go into packs (`run_files`); a store takes directories."""
    pool: "ProcessPool | None" = None
    """Processes of this machine that other grids use too; a grid has its own otherwise."""

    def to_json(self) -> str:
        """The settings of one run, as the compiled module reads them, for a process that writes no packs."""
        return json.dumps(self._of_a_run())

    def of_the_writer(self, *, packs: bool) -> str:
        """The same for the process that writes the directory: with `packs`, small runs go into packs."""
        return json.dumps(self._of_a_run() | {"packs": packs})

    def _of_a_run(self) -> dict[str, Any]:
        others = [str(other) for other in self.others]
        return {"engine": self.engine, "verify": self.verify, "threads": self.threads, "others": others}

    def of_a_unit(self) -> str:
        """The settings of a run that is carried out elsewhere: what is on this machine stays out."""
        return json.dumps({"engine": self.engine, "verify": self.verify, "threads": self.threads})
