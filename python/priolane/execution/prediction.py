"""Predictions of the time that commands take on this machine.

    run      = ratio x what the compiled module predicts + least
    figures  = LOAD + PAGE + panels x PANEL, a grid; many grids load what draws once
    command  = START + (runs + figures) / processes

The compiled module predicts instructions, and measures the pace of a short run whose data stay in caches. `ratio` is
how much longer a run of an experiment took, tables and all, and `least` what the smallest run takes. What Python does
is told in units of a piece of Python that is timed. These three are measured once on a machine, and kept below the
user's cache.
"""

import json
import os
import sys
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from priolane import _core
from priolane.model import experiment
from priolane.model.definition import Source
from priolane.model.experiment import Options, Plan, plan
from priolane.model.folders import SMALLEST
from priolane.storage import files

# In units of `calibration.piece_s`. Fitted to CPU times of `report` for two to four panels: 0.9 s and 0.43 s for each
# panel, where a piece took 0.021 s. START and WORKER are instructions counted under callgrind, 2.5 times those of a
# piece's loop, as code that runs once meets no cache.
START, WORKER, LOAD, PAGE, PANEL = 1.6, 1.3, 30.0, 8.0, 20.0
# Panels of a page that shows series: what a port has queued and sent.
SERIES_PANELS = 2


@dataclass(frozen=True)
class Calibration:
    """The measurements on this machine: `ratio` as above, CPU seconds of the smallest run and of a piece of Python."""

    ratio: float
    least_s: float
    piece_s: float


@dataclass(frozen=True)
class Prediction:
    """CPU seconds of a command: of its runs, of its figures, and of its start with that of its workers.

    `wait_s` is how long it takes where each of its processes has a core of its own.
    """

    runs_s: float
    figures_s: float
    start_s: float
    wait_s: float

    @property
    def cpu_s(self) -> float:
        """All of it."""
        return self.runs_s + self.figures_s + self.start_s


def check(source: Source, options: Options | None = None) -> dict[str, Any]:
    """The merged experiment, its grid and its predicted cost; raises `InputError` if it is not right.

    `seconds` are those of one core for all runs, their tables included.
    """
    answer = experiment.check(source, options)
    measured = calibration()
    runs = answer["runs"] + answer["alone"]
    answer["seconds"] = measured.ratio * answer["seconds"] + runs * measured.least_s
    answer["ns_per_hop"] = answer["seconds"] * 1e9 / max(answer["packet_hops"], 1)
    return answer


def from_check(answer: Mapping[str, Any], processes: int) -> Prediction:
    """A command that runs and draws what `check` found, in so many processes; its page is drawn by one, after the last
    run."""
    piece_s = calibration().piece_s
    panels = _drawn(answer["merged"])
    workers = min(processes, int(answer["runs"] + answer["alone"]))
    start_s = (START + (WORKER * workers if workers > 1 else 0)) * piece_s
    figures_s = (LOAD + PAGE + PANEL * panels) * piece_s
    wait_s = start_s / workers + answer["seconds"] / workers + figures_s
    return Prediction(answer["seconds"], figures_s, start_s, wait_s)


def from_plans(plans: Sequence[Plan], processes: int) -> Prediction:
    """A command that runs and draws several grids side by side. Runs that grids have in common count once."""
    measured = calibration()
    costs = {run.id: cost for grid in plans for run, cost in zip(grid.all_runs, grid.costs, strict=True)}
    runs_s = measured.ratio * sum(costs.values()) / _pace() + len(costs) * measured.least_s
    panels = sum(_panels(grid.source) for grid in plans)
    pieces = LOAD * processes + PAGE * len(plans) + PANEL * panels
    start_s = (START + WORKER * processes) * measured.piece_s
    figures_s = pieces * measured.piece_s
    return Prediction(runs_s, figures_s, start_s, (start_s + runs_s + figures_s) / processes)


def _panels(source: Path) -> int:
    import tomllib  # noqa: PLC0415 - where many grids are asked for

    return _drawn(tomllib.loads(source.read_text(encoding="utf-8")))


def _drawn(experiment: Mapping[str, Any]) -> int:
    """The panels of a page: those of the file, and those of series."""
    return len(experiment.get("panel", [])) + (SERIES_PANELS if "sample_every" in experiment else 0)


@cache
def calibration() -> Calibration:
    """The measurements on this machine with this build, made now if there are none."""
    path = files.cache() / f"calibration-{_machine()}.json"
    with suppress(OSError, ValueError, TypeError):
        return Calibration(**json.loads(path.read_text(encoding="utf-8")))
    from priolane.execution.calibration import measure  # noqa: PLC0415 - once on a machine

    measured = Calibration(*measure(_pace()))
    # A cache that cannot be written is measured again.
    with suppress(OSError):
        files.write_whole(path, json.dumps(asdict(measured)))
    return measured


def _machine() -> str:
    """A name for what the measurements are of: processor, system, Python and the compiled module."""
    processor = ""
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        processor = next((line for line in lines if line.startswith("model name")), "")
    size = Path(_core.__file__).stat().st_size
    named = (processor, *os.uname(), sys.version, _core.version(), _core.BUILD, str(size))
    return f"{zlib.crc32(repr(named).encode()):08x}"


@cache
def _pace() -> float:
    """Instructions per second that the compiled module measures now."""
    options = Options(seeds=1)
    return sum(plan(SMALLEST, options).costs) / float(experiment.check(SMALLEST, options)["seconds"])
