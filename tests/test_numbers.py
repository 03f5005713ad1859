"""Numbers as people read them, and what claims ask in words."""

import dataclasses
from collections.abc import Sequence

import pytest
from test_sentences import claim as claim_of

from priolane.results.estimate import Average, Estimate
from priolane.results.numbers import format_value
from priolane.results.report import MeasuredQuantity, Side, _criterion, spread


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (9.04e-4, "s", "904 us"),
        (0.00176, "s", "1.76 ms"),
        (3e-10, "s", "0.300 ns"),
        (0.0, "s", "0 ns"),
        (384_500.0, "B", "384 kB"),
        (12.0, "B", "12.0 B"),
        (0.25, "Gbit/s", "250 Mbit/s"),
        (1.67, "1", "1.67"),
    ],
)
def test_values_are_told_in_the_unit_that_fits(value: float, unit: str, text: str) -> None:
    assert format_value(value, unit) == text


def test_an_interval_is_in_the_unit_of_its_mean() -> None:
    assert Estimate(0.0011, 0.0009, 0.0013, 5).format("s") == "1.10 ms [0.900, 1.30]"
    assert Estimate(0.0011, None, None, 1).format("s") == "1.10 ms"
    assert Estimate(None, None, None, 0).format("s") == "no value"


def _spread(*, measured: Sequence[MeasuredQuantity], contrasts: Sequence[MeasuredQuantity] = ()) -> str:
    claim = claim_of({"kind": "order"})
    return spread(dataclasses.replace(claim, measured=tuple(measured), contrasts=tuple(contrasts)))


def _value(what: str, mean: float, unit: str, *sides: Side) -> MeasuredQuantity:
    average = Average.GEOMETRIC if sides else Average.ARITHMETIC
    return MeasuredQuantity(what, {}, Estimate(mean, None, None, 1, average), unit, sides=sides)


def test_many_values_are_told_by_their_ends_each_in_its_unit() -> None:
    values = [_value("fct.all.top", mean, "s") for mean in (4.28e-4, 1e-3, 1.75e-3)]
    assert _spread(measured=values) == "3 values, 428 us to 1.75 ms"


def test_a_baseline_is_not_counted_beside_what_is_compared_with_it() -> None:
    sides = (Side("gain", "small", "pias", {}), Side("gain", "small", "dctcp", {}))
    ratio = _value("gain.small.pias / gain.small.dctcp", 3.06, "1", *sides)
    gains = [_value("gain.small.pias", 3.06, "1"), _value("gain.small.dctcp", 1.0, "1")]
    assert _spread(measured=gains, contrasts=[ratio]) == "1 ratio, 3.06"


@pytest.mark.parametrize(
    ("claim", "unit", "text"),
    [
        ({"kind": "order"}, "1", "in this order"),
        ({"kind": "equal", "within": 0.1}, "1", "equal within 10 %"),
        ({"kind": "ratio", "paper": 1.67, "within": 0.25}, "1", "1.67 within 25 %"),
        ({"kind": "bound", "above": None, "below": 6.4e-4}, "s", "below 640 us"),
        ({"kind": "bound", "above": 0.0, "below": 0.5}, "1", "above 0, below 0.500"),
        ({"kind": "trend", "goes": "down"}, "1", "falls"),
        (
            {"kind": "equal", "within": 0.15, "most": True, "points": [{}] * 6},
            "1",
            "equal within 15 %, at more than half of 6 points",
        ),
    ],
)
def test_a_claim_says_what_it_asks(claim: dict[str, object], unit: str, text: str) -> None:
    assert _criterion(claim, unit) == text
