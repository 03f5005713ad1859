"""Numbers, ticks and scales of figures, by cases worked out by hand."""

import math
import re

import pytest

from priolane.figure.numbers import (
    THIN,
    Label,
    estimate_text,
    exact_text,
    fixed,
    plain,
    tick_texts,
    value_text,
)
from priolane.figure.plot import Axis
from priolane.figure.scales import LARGEST, Linear, Log, scale_over
from priolane.report.sentences.values import estimate_text as in_a_sentence
from priolane.results.estimate import Estimate
from priolane.results.numbers import interval_decimals


def shown(text: str) -> str:
    """Thin spaces as `_`, minus signs as `-`."""
    return text.replace(THIN, "_").replace("\N{MINUS SIGN}", "-")


@pytest.mark.parametrize(
    ("half", "decimals"),
    [
        # One digit of the half width, two if it begins with 1 or 2.
        (0.004, 3),
        (1.26, 1),
        (0.25, 2),
        (0.3, 1),
        (3.0, 0),
        (2.4, 1),
        (12.0, 0),
        (40.0, -1),
        (123.0, -1),
        (0.0996, 2),  # 0.10
        (0.00002, 3),  # three at most
    ],
)
def test_an_interval_decides_the_decimals(half: float, decimals: int) -> None:
    assert interval_decimals(1000.0, 1000.0 - half, 1000.0 + half) == decimals


def test_an_end_near_a_limit_keeps_two_digits() -> None:
    # Half of 0.92 to 4.3 deserves one decimal; 0.9 would look as if it were the limit.
    assert interval_decimals(2.0, 0.92, 4.3) == 2


@pytest.mark.parametrize(
    ("mean", "low", "high", "unit", "text"),
    [
        (1.011, 1.007, 1.015, "1", "1.011 [1.007,_1.015]"),
        (2.9, 1.9, 4.4, "1", "2.9 [1.9,_4.4]"),
        (0.00176, 0.00165, 0.00187, "s", "1.76_ms [1.65,_1.87]"),
        (361e-6, 260e-6, 460e-6, "s", "360_µs [260,_460]"),
        (0.904, 0.877, 0.931, "part", "90.4_% [87.7,_93.1]"),
        (6.04, 5.87, 6.22, "Gbit/s", "6.04_Gbit/s [5.87,_6.22]"),
        # Three decimals at most, and no two ends that look alike.
        (1.00004, 1.00002, 1.00008, "1", "1.000"),
        (0.00004, 0.00003, 0.00005, "1", "0.000040 [0.000030,_0.000050]"),
        (5.0, 5.0, 5.0, "1", "5.00 [5.00,_5.00]"),
        (-0.5, -0.7, -0.3, "1", "-0.50 [-0.70,_-0.30]"),
        (12345.0, 11000.0, 13690.0, "1", "12_300 [11_000,_13_700]"),
    ],
)
def test_estimates_have_decimals_by_their_interval(mean: float, low: float, high: float, unit: str, text: str) -> None:
    assert shown(estimate_text(Estimate(mean, low, high, 5), unit)) == text
    # Sentences have the same digits, and write the unit behind the interval.
    if low != high:
        sentence = in_a_sentence(Estimate(mean, low, high, 5), unit)
        assert re.findall(r"-?[\d.]+", sentence) == re.findall(
            r"-?[\d.]+", shown(text).replace("_", "" if mean > 1e4 else " ")
        )


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (1.5, "1.50"), (4277.0, "4277"), (10_000.0, "10_000"), (1234567.0, "1_234_567"), (0.0123, "0.0123")],
)
def test_a_number_without_interval_has_three_digits(value: float, text: str) -> None:
    assert shown(plain(value)) == text


def test_a_value_is_told_in_the_unit_that_fits() -> None:
    cases = [(0.0101, "s"), (1.2e-7, "s"), (2500.0, "B"), (0.05, "Gbit/s"), (0.5, "part"), (0.9996e-3, "s")]
    assert [shown(value_text(*case)) for case in cases] == [
        *("10.1_ms", "120_ns", "2.50_kB", "50.0_Mbit/s", "50.0_%", "1.00_ms")
    ]
    assert shown(exact_text(0.01, "s")) == "10_ms"
    assert estimate_text(Estimate(None, None, None, 0)) == "no value"


def test_only_what_nobody_could_read_has_an_exponent() -> None:
    assert (fixed(5e-324, 2), fixed(1e300, 0)) == ("4.94e\N{MINUS SIGN}324", "1.00e+300")
    assert fixed(-0.0001, 2) == "0.00"


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([0.0, 0.5, 1.0], ["0", "0.5", "1.0"]),
        ([0.0, 2.5, 5.0, 7.5], ["0", "2.5", "5.0", "7.5"]),
        ([0.0, 5000.0, 10_000.0], ["0", "5000", f"10{THIN}000"]),
        ([-1.0, 0.0, 1.0], ["\N{MINUS SIGN}1", "0", "1"]),
        ([0.985, 0.99, 0.995], ["0.985", "0.990", "0.995"]),
    ],
)
def test_ticks_of_an_axis_have_one_number_of_decimals(values: list[float], texts: list[str]) -> None:
    assert tick_texts(values) == texts


@pytest.mark.parametrize(
    ("low", "high", "most", "ticks"),
    [
        (0, 10, 5, [0, 2, 4, 6, 8, 10]),
        (0, 9.7, 4, [0, 2.5, 5, 7.5]),
        (0.984, 1.0003, 4, [0.985, 0.99, 0.995, 1.0]),
        (-3, 3, 3, [-2, 0, 2]),
        (0, 1e-6, 2, [0, 5e-7, 1e-6]),
    ],
)
def test_linear_ticks_are_round(low: float, high: float, most: int, ticks: list[float]) -> None:
    assert Linear(low, high).ticks(most) == pytest.approx(ticks)


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (1, 100, [1, 2, 5, 10, 20, 50, 100]),  # 2 decades
        (1, 1000, [1, 10, 100, 1000]),  # 3 decades: powers only
        (3, 24, [5, 10, 20]),
        (1.1, 1.9, [1.2, 1.4, 1.6, 1.8]),  # no 1, 2 or 5 between
        (1e-9, 1e3, [1e-9, 1e-6, 1e-3, 1, 1e3]),  # every third
    ],
)
def test_logarithmic_ticks_are_powers_or_twos_and_fives(low: float, high: float, ticks: list[float]) -> None:
    assert Log(low, high).ticks(4) == pytest.approx(ticks)


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize(
    "values", [[], [0.0], [5e-324, 1e308], [-1e308, 1e308], [1.0, 1.0 + 1e-15], [-3.0, -3.0], [1e-320, 1e-319]]
)
def test_scales_of_any_values_are_finite_and_grow(values: list[float], *, log: bool) -> None:
    scale = scale_over(values, log=log)
    assert scale.low < scale.high
    assert all(math.isfinite(scale.part(value)) for value in (*values, -LARGEST, 0.0, LARGEST))
    ticks = scale.ticks(5)
    assert len(ticks) <= 20
    assert ticks == sorted(ticks)
    assert scale.part(scale.low) == pytest.approx(0, abs=1e-9)
    assert scale.part(scale.high) == pytest.approx(1)


def test_a_unit_stands_once_or_at_each_tick_of_a_long_logarithmic_axis() -> None:
    label = Label.read("FCT p99, small (s)")
    assert (label.before, label.unit, label.after) == ("FCT p99, small", "s", "")
    linear = Axis(label, Linear(0.0, 0.0025))
    assert linear.title == "FCT p99, small (ms)"
    assert [tick.text for tick in linear.ticks(3)] == ["0", "1", "2"]
    long = Axis(label, Log(1e-5, 1e-1))
    assert long.title == "FCT p99, small"
    assert [shown(tick.text) for tick in long.ticks(4)] == ["10_µs", "100_µs", "1_ms", "10_ms", "100_ms"]
    assert Axis(Label.read("Gain"), Log(0.1, 1000)).title == "Gain"
    bare = Axis(Label.read("Slowdown"), Log(1, 10_000)).ticks(4)
    assert [shown(tick.text) for tick in bare] == ["1", "10", "100", "1000", "10_000"]
