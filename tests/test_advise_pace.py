"""The budget of an answer: one without room is refused before it is spent, and the run that measures takes a part."""

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from advise_files import FABRIC, made_list, write_fabric, write_flows
from priolane import cli
from priolane._core import InputError
from priolane.advice import pace
from priolane.advice.pace import least_hops, measure_pace
from priolane.advice.request import AdviceContext, Request, read
from priolane.advice.traffic import Traffic
from priolane.advice.trials import FLOWS, Experiment, Trials, hops
from priolane.advice.windows import Windows
from priolane.execution.budget import Budget

CANDIDATES = 20
PER_S = 1e6
"""Packet-hops in a second of the machine whose clock the tests read."""


def _context(folder: Path, budget: str | None = None, minutes: float | None = None) -> AdviceContext:
    """12,000 flows of 20 kB, which are 14 packets each, in 0.1 s between the 48 hosts of `FABRIC`."""
    rows = [(nth * 8_000, nth % 48, (nth + 7) % 48, 20_000) for nth in range(12_000)]
    limit = None if budget is None else Budget.read(budget)
    request = Request(
        Traffic(write_flows(folder, rows)),
        write_fabric(folder, FABRIC),
        folder / "out",
        goals=("p99.small < 1ms",),
        budget=limit,
        minutes=minutes,
    )
    context = read(request, lambda _: None)
    context.flows.write(request.out / FLOWS)
    return context


@pytest.fixture
def spent(monkeypatch: pytest.MonkeyPatch) -> Callable[[], float]:
    """The packet-hops of all runs, which are also the time of the clock."""
    taken = [0.0]
    trials = Experiment.trials

    def counted(experiment: Experiment, out: Path, names: Sequence[str], *more: Any) -> dict[str, Trials]:
        made = trials(experiment, out, names, *more)
        taken[0] += hops(made)
        return made

    monkeypatch.setattr(Experiment, "trials", counted)
    monkeypatch.setattr(pace, "time", SimpleNamespace(perf_counter=lambda: taken[0] / PER_S))
    return lambda: taken[0]


def test_data_takes_two_links_in_a_rack_and_at_least_three_beyond(tmp_path: Path) -> None:
    context = _context(tmp_path)
    # Hosts 0 to 15 are a rack. 1460 B of payload fit a packet: two for 2 kB, one for 1 kB.
    flows = made_list([0, 0], [2_000, 1_000], src=[0, 15], dst=[7, 22])
    assert least_hops(context, flows) == 2 * 2 + 1 * 3


def test_a_budget_without_room_for_the_data_is_refused_before_any_run(
    tmp_path: Path, spent: Callable[[], float]
) -> None:
    context = _context(tmp_path, "20000hops")
    with pytest.raises(InputError, match="leave too few flows to read; at least --budget"):
        measure_pace(context, CANDIDATES)
    assert spent() == 0


def test_minutes_without_room_are_refused_before_they_are_over(
    tmp_path: Path, spent: Callable[[], float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "_PROBE", 2e4)
    # 0.06 s are 6e4 packet-hops at the pace of the clock. The first windows of the list take more.
    budget = 0.06 * PER_S
    with pytest.raises(InputError, match="leave too few flows to read; at least --budget"):
        measure_pace(_context(tmp_path, minutes=0.06 / 60), CANDIDATES)
    assert 0 < spent() < budget


@pytest.mark.parametrize("budget", ["2e6hops", None])
def test_the_run_that_measures_takes_a_part_of_the_budget(
    budget: str | None, tmp_path: Path, spent: Callable[[], float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "_PROBE", 2e4)
    context = _context(tmp_path, budget, minutes=2 / 60)
    whole = 3 * least_hops(context, context.flows)
    found = measure_pace(context, CANDIDATES)
    assert found.budget == pytest.approx(2e6, rel=0.05)
    # A quarter of it is less than the list.
    assert 0 < spent() < 0.3 * found.budget < whole
    # What it says of the whole list is what that takes.
    assert found.whole == pytest.approx(_whole(context), rel=0.15)


def _whole(context: AdviceContext) -> float:
    """The packet-hops of today's scheme on the whole list."""
    now = context.today.candidate
    windows = Windows.over(context.flows, 5)
    experiment = context.experiment("all.toml", [now], windows)
    return hops(experiment.trials(context.request.out / "all", [now.name], context.request.how, context.read))


def test_a_budget_in_seconds_is_refused_before_files_are_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["advise", str(tmp_path / "none.csv"), "--fabric", str(tmp_path / "none.toml"), "--budget", "20s"]
    assert cli.main(words) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert "an answer takes packet-hops" in errors
