"""The account of packet-hops: each run once, and a fifth of the grid at most."""

import pytest

from priolane.advice.samples import Trial
from priolane.advice.spending import Ledger, Stage
from priolane.advice.trials import Trials


def _trials(**hops: int) -> dict[str, Trials]:
    return {name: {1: Trial({}, taken, {}, {}, 0.5, {}, run=name)} for name, taken in hops.items()}


def test_a_run_that_several_stages_read_is_counted_where_it_ran() -> None:
    ledger = Ledger(budget=1e9, whole=100.0)
    ledger.add(Stage.TODAY, _trials(today=100))
    ledger.add(Stage.RACE, _trials(a=30, b=40))
    ledger.add(Stage.JUDGING, _trials(today=100, a=30, a_on_the_whole_list=110))
    ledger.add_hops(Stage.SENSITIVITY, 7)
    assert {stage: hops for stage, hops in ledger.by_stage.items() if hops} == {
        Stage.TODAY: 100,
        Stage.RACE: 70,
        Stage.JUDGING: 110,
        Stage.SENSITIVITY: 7,
    }
    assert ledger.total == 287


def test_a_fifth_of_the_grid_is_a_whole_list_for_each_candidate() -> None:
    ledger = Ledger(budget=1e9, whole=100.0)
    for each in (100.0, 90.0, 110.0):
        ledger.add_candidates(each)
    assert ledger.grid == 5 * 300
    ledger.add_hops(Stage.RACE, 150)
    assert ledger.left == pytest.approx(150)
    assert ledger.lists_left() == pytest.approx(1.5)
    assert ledger.lists_left(reserved=1.0) == pytest.approx(0.5)
    assert ledger.lists_left(reserved=4.0) == 0
    # A smaller budget leaves less.
    assert Ledger(budget=200.0, whole=100.0, grid=1500.0).lists_left() == pytest.approx(2.0)
