"""The windows of disturbances: as many as a fifth of the grid has, and those that decide where a budget has more."""

import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scipy import stats

from advise_files import of_pseudo
from priolane.advice import sensitivity
from priolane.advice.candidate import Candidate
from priolane.advice.goals import read_goals
from priolane.advice.outcomes import Outcome, outcomes
from priolane.advice.sensitivity import Disturbance, Finding, Undisturbed, budget_to_decide, examine
from priolane.advice.spending import Ledger
from priolane.advice.terminal import holds
from priolane.advice.windows import Windows
from priolane.execution.budget import Budget

ADVISED = Candidate("a", "a", "", {"base": "dctcp"}, 1)
GOALS, _ = read_goals(["p99.small < 1ms", "goodput.bulk > 1Gbps"])
ALL = Windows(1000, 24, all=24)
PER_WINDOW = 100
"""The packet-hops of a run for each window, the first one included."""


def _outcomes(tail_ms: Sequence[float], goodput_gbps: Sequence[float]) -> tuple[Outcome, ...]:
    """The outcomes of a candidate whose windows add these values."""
    values = {
        "fct_p99.small": of_pseudo([math.log(value * 1e-3) for value in tail_ms]),
        "goodput.bulk": of_pseudo([math.log(value * 1e9) for value in goodput_gbps]),
    }
    return outcomes(GOALS, {"a": values})["a"]


WIDE = (0.8, 1.2, 0.9, 1.1, 0.6)
SURE, MISSED = (0.1, 0.11, 0.1, 0.11, 0.1), (9.0, 9.1, 9.0, 9.1, 9.0)


def test_as_much_of_the_list_is_needed_as_makes_the_interval_narrow_enough() -> None:
    # Goodputs of 9 Gbit/s meet their goal.
    unsure, whole = _outcomes(WIDE, MISSED), _outcomes((0.82, 0.93, 0.87, 0.9, 0.85), MISSED)
    asked = Undisturbed([ADVISED], whole, ALL)
    margin, narrow = unsure[0].margin, whole[0].margin
    assert margin is not None
    assert narrow is not None
    # The interval of the whole list is that of 5 windows, and of n windows wider by the root and by Student's t.
    half = {n: narrow.half_width() * math.sqrt(25 / (n + 1)) * _quantile(n - 1) / _quantile(4) for n in range(5, 25)}
    fits = [n for n, width in half.items() if 1.1 * width <= abs(margin.all)]
    assert 5 < fits[0] < 24
    assert sensitivity._needed(unsure, asked, 0.2) == (fits[0] + 1) / 25
    # What read more already is not asked for less.
    assert sensitivity._needed(unsure, asked, 0.9) == 23.0 / 25
    # Not even the whole list is enough for a value at the bound.
    assert sensitivity._needed(_outcomes((1.2, 0.8, 1.3, 0.75, 0.999), MISSED), asked, 0.2) == math.inf
    # Goals that are surely met, or one that is surely missed, need no more.
    assert sensitivity._needed(_outcomes(SURE, MISSED), asked, 0.2) == 0
    assert sensitivity._needed(_outcomes(MISSED, WIDE), asked, 0.2) == 0


def _quantile(freedom: int) -> float:
    """The quantile of Student's t, from scipy's distribution."""
    return float(stats.t.ppf(0.975, freedom))


def _examined(
    monkeypatch: pytest.MonkeyPatch, budget: float | None, needed: float
) -> tuple[tuple[Finding, ...], list[tuple[str, int]], Ledger]:
    """The findings of two disturbances, the runs by windows, and the account; `open` needs `needed` windows."""
    ran: list[tuple[str, int]] = []

    def run(_: Any, disturbance: Disturbance, __: Any, windows: Windows, ___: Any) -> Finding:
        ran.append((disturbance.name, windows.count))
        is_open = disturbance.name == "open" and windows.count < needed
        return Finding(
            disturbance,
            {"a": _outcomes(WIDE if is_open else SURE, MISSED)},
            hops=PER_WINDOW * (windows.count + 1),
            part=windows.part,
            read=windows.count,
            of=windows.all,
            needed=(needed + 1) / 25 if is_open else 0.0,
        )

    tried = (Disturbance("open", "more load", "more load"), Disturbance("closed", "noise", "noise"))
    monkeypatch.setattr(sensitivity, "disturbances", lambda *_: tried)
    monkeypatch.setattr(sensitivity, "remembered", lambda *_: ())
    monkeypatch.setattr(sensitivity, "begin", lambda *_: None)
    monkeypatch.setattr(sensitivity, "_examine", run)
    stated = None if budget is None else Budget(budget, "hops")
    context = SimpleNamespace(request=SimpleNamespace(budget=stated), needs_whole_list=False, fabric=None, flows=None)
    # A list takes 25 windows. A fifth of the grid has room for 1.13 of them, which are 5 windows for each disturbance.
    whole = 25 * PER_WINDOW
    ledger = Ledger(1e9 if budget is None else budget, whole, grid=5 * 1.13 * whole)
    found = examine(cast(Any, context), Undisturbed([ADVISED], (), ALL), ALL, GOALS, ledger)
    return found, ran, ledger


def test_a_stated_budget_goes_to_what_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    fifth = [("open", 11), ("closed", 11)]
    # Minutes keep to the fifth.
    found, ran, _ = _examined(monkeypatch, None, needed=20)
    assert (ran, found[0].is_open) == (fifth, True)
    found, ran, ledger = _examined(monkeypatch, 1e9, needed=20)
    assert ran == [*fifth, ("open", 20)]
    assert not any(finding.is_open for finding in found)
    assert ledger.total == PER_WINDOW * (12 + 12 + 21)
    # What no part decides runs on all windows once, as its values may differ there.
    found, ran, _ = _examined(monkeypatch, 1e9, needed=math.inf)
    assert (ran, found[0].is_open) == ([*fifth, ("open", 24)], False)
    # No budget has more than its packet-hops.
    assert _examined(monkeypatch, PER_WINDOW * 44.0, needed=20)[1] == fifth


def test_the_answer_names_windows_and_the_budget_that_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    found, _, ledger = _examined(monkeypatch, None, needed=20)
    chosen = SimpleNamespace(candidate=ADVISED)
    judging = SimpleNamespace(chosen=chosen, sensitivity=found, spent=ledger)
    # 24 windows have run, and 21 would decide: 4500. The race needs (1.13 + 1) lists of 2500 in three quarters: 7100.
    assert budget_to_decide(found, ledger) == pytest.approx(7100)
    assert holds(cast(Any, judging)) == (
        "goals are surely met with noise; not shown to hold with more load: these runs read the first 48 % of the "
        "list; --budget 7.1e+03hops would read enough to decide more load"
    )
    # That budget does it.
    again, ran, _ = _examined(monkeypatch, 7100, needed=20)
    assert (ran[-1], again[0].is_open) == (("open", 20), False)
    few, _, ledger = _examined(monkeypatch, None, needed=math.inf)
    judging = SimpleNamespace(chosen=chosen, sensitivity=few, spent=ledger)
    assert holds(cast(Any, judging)).endswith("hops would read all of it for more load")
    read, _, ledger = _examined(monkeypatch, 1e9, needed=math.inf)
    judging = SimpleNamespace(chosen=chosen, sensitivity=read, spent=ledger)
    assert holds(cast(Any, judging)).endswith("these runs read the whole list; more load would take a longer list")
