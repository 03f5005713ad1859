import os
import signal
from pathlib import Path

import pytest

import factories
import fake_core
from priolane import _core
from priolane.execution import prediction
from priolane.results.results import Results, load

# A shell that starts pytest in the background has it ignore SIGINT, and so would all that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests marked `soak` take half a minute of a core or more: `make soak` runs them, not `make test`."""
    if "PRIOLANE_SOAK" in os.environ:
        return
    for item in items:
        if item.get_closest_marker("soak") is not None:
            item.add_marker(pytest.mark.skip(reason="make soak runs it"))


@pytest.fixture
def results(tmp_path: Path) -> Results:
    return load(factories.make_results(tmp_path / "grid"))


@pytest.fixture
def core(monkeypatch: pytest.MonkeyPatch) -> fake_core.FakeCore:
    """The compiled module replaced by one that answers from hand-made results and records what it is asked."""
    fake = fake_core.FakeCore()
    for name in ("verdicts", "catalogue", "bench_scenarios", "thresholds", "trace", "run_unit"):
        monkeypatch.setattr(_core, name, getattr(fake, name))
    monkeypatch.setattr(_core, "Experiment", fake)
    monkeypatch.setattr(prediction, "calibration", lambda: prediction.Calibration(1.0, 0.0, 0.05))
    monkeypatch.setattr(prediction, "_pace", lambda: 1e9)
    return fake
