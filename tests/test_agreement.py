"""The distance of measurements from simulations: tolerances, flows alone, and quantities beyond a tolerance."""

import json
from pathlib import Path

import numpy as np
import pytest

from priolane._core import InputError
from priolane.hosts import agreement
from priolane.model.experiment import PlannedRun

RUN = PlannedRun(id="0" * 16, scheme="dctcp", seed=1)
US = 1e-6


def _flows(fct: list[float], classes: list[int] | None = None) -> agreement.Flows:
    """Flows of 1 MB that start a second after each other."""
    of_one = np.zeros(len(fct)) if classes is None else np.array(classes)
    return agreement.Flows(np.arange(len(fct), dtype=float), np.array(fct), np.full(len(fct), 1e6), of_one, of_one)


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
    (row,) = agreement._alone(RUN, _flows([100 * US]), _flows([seen * US]), late=1 * US)
    assert row.agrees is agrees
    assert row.quantity == "farthest of 1 flows alone (s)"
    assert row.tolerance == "3 % + 1 us"


def test_the_farthest_flow_is_judged_by_its_own_tolerance() -> None:
    # 2 us of 10 us are beyond 1.3 us; 20 us of 1000 us are within 31 us.
    expected, seen = _flows([10 * US, 1000 * US]), _flows([12 * US, 1020 * US])
    (row,) = agreement._alone(RUN, expected, seen, late=1 * US)
    assert row.simulated == pytest.approx(10 * US)
    assert not row.agrees
    assert row.ratio == pytest.approx(1.2)


def test_classes_keep_their_order_where_the_simulation_tells_them_apart() -> None:
    # Classes 0 and 1 differ by 10 % in the simulation, which says nothing; class 2 takes three times as long.
    classes = [0, 0, 1, 2]
    expected = _flows([0.9, 1.1, 1.1, 3.0], classes)
    (row,) = agreement._order(RUN, expected, _flows([1.2, 1.2, 1.0, 2.0], classes), late=1 * US)
    assert (row.simulated, row.measured, row.agrees) == (2.0, 2.0, True)
    (row,) = agreement._order(RUN, expected, _flows([1.2, 1.2, 1.0, 1.1], classes), late=1 * US)
    assert (row.simulated, row.measured, row.agrees) == (2.0, 1.0, False)
    assert list(agreement._order(RUN, _flows([1.0, 2.0]), _flows([2.0, 1.0]), late=1 * US)) == []


@pytest.mark.parametrize(("slow", "agrees"), [(3.2, True), (3.25, False), (2.85, True), (2.8, False)])
def test_shares_of_weights_may_be_off_by_five_per_cent(slow: float, *, agrees: bool) -> None:
    # Three to one: the second has a quarter, and 1 / 4.2 is 4.8 % less.
    classes = [0, 1]
    (row,) = agreement._shares(RUN, _flows([1.0, 3.0], classes), _flows([1.0, slow], classes))
    assert row.agrees is agrees
    assert row.quantity == "farthest of 2 shares"
    assert row.simulated == pytest.approx(0.25)


def test_rows_become_json() -> None:
    row = agreement.Row(RUN, "packets dropped", 0.0, 3.0, "none", agrees=False)
    (read,) = json.loads(agreement.as_json([row], []))["quantities"]
    assert (read["scheme"], read["ratio"], read["measured"], read["agrees"]) == ("dctcp", None, 3.0, False)


@pytest.mark.parametrize(("seen", "agrees"), [(1.04e9, True), (1.06e9, False), (0.96e9, True), (None, False)])
def test_the_rate_of_endless_flows_may_be_off_by_five_per_cent(seen: float | None, *, agrees: bool) -> None:
    records = [{"rates": {"classes": {"all": {"mean": mean}}}} for mean in (1e9, seen)]
    (row,) = agreement._rates(RUN, records)
    assert (row.quantity, row.simulated, row.agrees) == ("mean rate of endless flows (Gbit/s)", 1.0, agrees)
    assert list(agreement._rates(RUN, [records[0], {}])) == []


def test_other_runs_are_not_compared(tmp_path: Path) -> None:
    class Grid:
        """Results with one run."""

        def __init__(self, run: str) -> None:
            self.runs, self.directory = [PlannedRun(id=run, scheme="a", seed=1)], tmp_path

    with pytest.raises(InputError, match="have other runs"):
        agreement.compare(Grid("a"), Grid("b"))  # type: ignore[arg-type]
