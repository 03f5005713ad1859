"""The measurements that calibrate predictions: short runs, and a piece of Python, on this machine."""

import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from priolane.execution.settings import Settings
from priolane.model.experiment import Options, Plan, plan
from priolane.model.folders import SMALLEST

# A run of a fifth of a second.
_TYPICAL = Path(__file__).parent.parent / "experiments" / "recipes" / "first.toml"
_OPTIONS = Options(seeds=1)
_ATTEMPTS = 3


def measure(pace: float) -> tuple[float, float, float]:
    """The ratio of a run's time to that of its instructions at `pace`, at least 1; then the CPU seconds of the smallest
    run, and of a piece of Python. They are medians of a few attempts."""
    smallest, typical = plan(SMALLEST, _OPTIONS), plan(_TYPICAL, _OPTIONS)
    least_s = statistics.median(_run_s(smallest))
    took_s = statistics.median(_run_s(typical))
    ratio = (took_s - least_s) * pace / typical.costs[0]
    return max(1.0, ratio), least_s, statistics.median(piece_s() for _ in range(_ATTEMPTS))


def _run_s(grid: Plan) -> Iterator[float]:
    """CPU seconds of the first run of a grid, each time it is tried."""
    for _ in range(_ATTEMPTS):
        with tempfile.TemporaryDirectory() as directory:
            opened = grid.core.open(directory, Settings().to_json())
            begun = time.process_time()
            opened.run(grid.runs[0].id)
            yield time.process_time() - begun


def piece_s() -> float:
    """CPU seconds of a piece of Python."""
    begun = time.process_time()
    names: dict[str, int] = {}
    words = []
    for number in range(100_000):
        name = f"{number % 97}"
        names[name] = names.get(name, 0) + number
        if number % 50 == 0:
            words.append(name.upper())
    words.sort()
    return time.process_time() - begun
