"""Running an experiment from Python."""

import concurrent.futures
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from priolane.execution.backend import parse_backend
from priolane.execution.grid import run_grid
from priolane.execution.notebook_bar import NotebookBar, in_notebook
from priolane.execution.settings import Settings
from priolane.model.definition import Source
from priolane.model.experiment import Options, as_seeds
from priolane.model.toml import toml_text
from priolane.results.results import Results


def run(
    experiment: Source,
    out: str | Path | None = None,
    *,
    jobs: int = 1,
    sets: Mapping[str, Any] | None = None,
    seeds: int | Sequence[int] | None = None,
    on: str | concurrent.futures.Executor = "local",
) -> Results:
    """Runs the whole grid of an experiment and returns its results.

    `experiment` is the path of a file, a mapping with the keys of one, or an `Experiment`. Values are kept as a file
    below the results, with copies of the files that they name.

    Results go to `out`, a directory (default: `runs/` and the experiment's name) or the URL of an object store
    (docs/clusters.md). Runs that are complete there already are not repeated,
    so a grid that was stopped continues. `jobs` processes work side by side; a script needs no
    `if __name__ == "__main__":` guard for them. `on` names another place as `--on` does ("dask://HOST:PORT",
    "dask-local:N", "slurm:N"), or is any executor; its workers need not see the files of this machine. `sets` maps
    dotted keys of the experiment to new values. `seeds` replaces the file's: 5 for the seeds 1 to 5, [7, 8, 9] for
    these. A notebook shows the progress below the cell.

    Raises `InputError` before anything is written if the experiment is not right, `RunFailed` if a run breaks an
    invariant, `OSError` if the place cannot be written or another process is filling it, `KeyboardInterrupt` on
    Ctrl-C; complete runs are kept in each case.
    """
    options = Options(
        sets=tuple((key, toml_text(value)) for key, value in (sets or {}).items()),
        seeds=as_seeds(seeds),
    )
    watcher = NotebookBar() if in_notebook() else None
    return run_grid(
        experiment, out, options, Settings(jobs=jobs, on=parse_backend(on) if isinstance(on, str) else on), watcher
    )
