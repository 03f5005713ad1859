"""How far measurements are from simulations: tolerances, flows alone, and what is beyond."""

import json
from pathlib import Path

import numpy as np
import pytest

from priolane import agreement
from priolane._core import InputError
from priolane.experiment import PlannedRun

RUN = PlannedRun(id="0" * 16, scheme="dctcp", seed=1)
US = 1e-6


def test_a_flow_is_alone_if_none_is_under_way_while_it_is() -> None:
    # From 0 to 10, 5 to 6, 20 to 30, 30 to 31, and one that never ends.
    start = np.array([5.0, 0.0, 20.0, 30.0, 40.0])
    fct = np.array([1.0, 10.0, 10.0, 1.0, np.nan])
    assert agreement._meets_nobody(start, fct).tolist() == [False, False, True, True, True]


def test_a_long_flow_meets_those_that_come_much_later() -> None:
    start = np.array([0.0, 1.0, 50.0])
    fct = np.array([100.0, 1.0, 1.0])
    assert not agreement._meets_nobody(start, fct).any()


@pytest.mark.parametrize(("seen", "agrees"), [(103.9, True), (104.1, False), (96.1, True), (95.9, False)])
def test_a_flow_alone_may_be_off_by_three_per_cent_and_what_the_machine_is_late_by(
    seen: float, *, agrees: bool
) -> None:
    # 3 % of 100 us and 100 us at scale 100.
    flows = (np.array([0.0]), np.array([100 * US]), np.array([seen * US]))
    (row,) = agreement._alone(RUN, flows, np.array([True]), late=1 * US)
    assert row.agrees is agrees
    assert row.quantity == "farthest of 1 flows alone (s)"
    assert row.tolerance == "3 % + 1 us"


def test_the_farthest_flow_is_judged_by_its_own_tolerance() -> None:
    # 2 us of 10 us are beyond 1.3 us; 20 us of 1000 us are within 31 us.
    flows = (np.array([0.0, 1.0]), np.array([10 * US, 1000 * US]), np.array([12 * US, 1020 * US]))
    (row,) = agreement._alone(RUN, flows, np.array([True, True]), late=1 * US)
    assert row.simulated == pytest.approx(10 * US)
    assert not row.agrees
    assert row.ratio == pytest.approx(1.2)


def test_rows_become_json() -> None:
    row = agreement.Row(RUN, "packets dropped", 0.0, 3.0, "none", agrees=False)
    (read,) = json.loads(agreement.as_json([row]))
    assert (read["scheme"], read["ratio"], read["measured"], read["agrees"]) == ("dctcp", None, 3.0, False)


def test_other_runs_are_not_compared(tmp_path: Path) -> None:
    class Grid:
        """Results with one run."""

        def __init__(self, run: str) -> None:
            self.runs, self.directory = [PlannedRun(id=run, scheme="a", seed=1)], tmp_path

    with pytest.raises(InputError, match="have other runs"):
        agreement.compare(Grid("a"), Grid("b"))  # type: ignore[arg-type]
