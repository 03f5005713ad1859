"""The predicted cost of commands, and its calibration."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import priolane
from priolane.execution import calibration, prediction
from priolane.execution.prediction import LOAD, PAGE, PANEL, SERIES_PANELS, START, WORKER, Calibration
from priolane.model.experiment import Options, plan

FIXED = Calibration(ratio=1.5, least_s=0.01, piece_s=0.02)


@pytest.fixture
def fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prediction, "calibration", lambda: FIXED)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "x.toml"
    path.write_text("[[panel]]\n[[panel]]\n", encoding="utf-8")
    return path


@pytest.mark.usefixtures("core", "fixed")
def test_check_tells_what_runs_take_with_their_tables(file: Path) -> None:
    result = priolane.check(file)
    # The double says 90 s, 16 runs and 1.5e8 packet-hops.
    assert result["seconds"] == pytest.approx(1.5 * 90 + 16 * 0.01)
    assert result["ns_per_hop"] == pytest.approx(135.16e9 / 1.5e8)


@pytest.mark.usefixtures("core", "fixed")
def test_a_command_waits_for_its_runs_in_turn_and_for_its_page() -> None:
    by_name = {"seconds": 100.0, "runs": 16, "alone": 0, "merged": {"panel": [{}, {}, {}]}}
    alone, both = (prediction.from_check(by_name, processes) for processes in (1, 2))
    page_s = (LOAD + PAGE + 3 * PANEL) * 0.02
    assert alone.cpu_s == alone.wait_s == pytest.approx(100 + page_s + START * 0.02)
    assert both.cpu_s == pytest.approx(100 + page_s + (START + 2 * WORKER) * 0.02)
    assert both.wait_s == pytest.approx(50 + page_s + (START / 2 + WORKER) * 0.02)
    # Pages of runs with series have more panels.
    sampled = by_name | {"merged": {"panel": [{}, {}, {}], "sample_every": "10us"}}
    assert prediction.from_check(sampled, 1).figures_s == pytest.approx(page_s + SERIES_PANELS * PANEL * 0.02)
    # More processes than runs are of no use.
    assert prediction.from_check(by_name | {"runs": 1}, 8).wait_s == pytest.approx(alone.wait_s)


@pytest.mark.usefixtures("core", "fixed")
def test_figures_side_by_side_share_what_they_load_and_runs_that_are_the_same(file: Path) -> None:
    grid = plan(file)
    alone, two = (prediction.from_plans(plans, 2) for plans in ([grid], [grid, plan(file)]))
    # Costs of the double are 0 to 4, at a pace of 1e9.
    costs = sum(nth % 5 for nth in range(16))
    assert alone.runs_s == two.runs_s == pytest.approx(1.5 * costs / 1e9 + 16 * 0.01)
    assert two.figures_s - alone.figures_s == pytest.approx((PAGE + 2 * PANEL) * 0.02)
    assert two.wait_s == pytest.approx(two.cpu_s / 2)


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """The paces that something was measured at, in a cache of the test's own."""
    paces: list[float] = []

    def measure(pace: float) -> tuple[float, float, float]:
        paces.append(pace)
        return 1.25, 0.004, 0.03

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(calibration, "measure", measure)
    monkeypatch.setattr(prediction, "_pace", lambda: 2e9)
    prediction.calibration.cache_clear()
    yield paces
    prediction.calibration.cache_clear()


def test_a_machine_is_measured_once(measured: list[float], tmp_path: Path) -> None:
    for _ in range(2):
        assert prediction.calibration() == Calibration(1.25, 0.004, 0.03)
        prediction.calibration.cache_clear()
    assert measured == [2e9]
    (path,) = (tmp_path / "cache" / "priolane").iterdir()
    for text in ("", "{}", "[]", '{"ratio": 1}'):
        path.write_text(text, encoding="utf-8")
        assert prediction.calibration().least_s == 0.004
        prediction.calibration.cache_clear()
    assert len(measured) == 5
    assert json.loads(path.read_text(encoding="utf-8"))["ratio"] == 1.25


def test_without_a_cache_it_is_measured_each_time(measured: list[float], tmp_path: Path) -> None:
    (tmp_path / "cache").touch()
    for _ in range(2):
        assert prediction.calibration().ratio == 1.25
        prediction.calibration.cache_clear()
    assert len(measured) == 2


def test_what_is_measured_is_of_real_runs() -> None:
    pace = prediction._pace()
    ratio, least_s, piece_s = calibration.measure(pace)
    # Runs take no less than their instructions do from caches; more than ten times as long would be another cause.
    assert 1 <= ratio < 10
    typical = plan(Path(prediction.__file__).parent.parent / "experiments" / "recipes" / "first.toml", Options(seeds=1))
    assert 0 < least_s < ratio * typical.costs[0] / pace
    assert 0 < piece_s < 1
