import signal
from pathlib import Path

import pytest

import core_double
import made
from priolane import _core, prediction
from priolane.results import Results, load

# A shell that starts pytest in the background has it ignore SIGINT, and so would all that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def results(tmp_path: Path) -> Results:
    return load(made.make_results(tmp_path / "grid"))


@pytest.fixture
def core(monkeypatch: pytest.MonkeyPatch) -> core_double.CoreDouble:
    """The compiled module replaced by one that answers from hand-made results and records what it is asked."""
    double = core_double.CoreDouble()
    for name in ("verdicts", "check", "catalogue", "bench_scenarios", "thresholds", "trace", "run_unit"):
        monkeypatch.setattr(_core, name, getattr(double, name))
    monkeypatch.setattr(_core, "Plan", double.plan)
    monkeypatch.setattr(prediction, "calibration", lambda: prediction.Calibration(1.0, 0.0, 0.05))
    monkeypatch.setattr(prediction, "_pace", lambda: 1e9)
    return double
