"""Windows of start times, and whether intervals of their jackknife hold what another list gives."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from advise_files import made_list, of_pseudo, steady
from priolane.advice.windows import FEWEST, MOST, Jackknife, Windows, estimate, mean

DRAWS = 400
FLOWS = 200
"""The flows of a window."""
Metric = Callable[[np.ndarray], float]


def test_each_flow_of_a_list_is_in_one_window() -> None:
    draw = np.random.default_rng(3)
    for count in (FEWEST, 7, MOST):
        start = np.sort(draw.integers(10**6, 10**6 + 10**9, 500))
        windows = Windows.over(made_list(start.tolist(), [1.0] * 500), count)
        # Runs begin at 0 and count picoseconds.
        own = windows.of((start - start[0]) * 1000)
        edges = [windows.length_ns * nth for nth in range(count + 2)]
        for number in range(count + 1):
            inside = (start - start[0] >= edges[number]) & (start - start[0] < edges[number + 1])
            assert np.array_equal(own == number, inside)
        # The last flow is in the last window, and no window is longer than it need be.
        assert own.max() == count
        assert windows.end_ns - (start[-1] - start[0] + 1) < count + 1


def test_prefixes_and_halves_are_the_same_windows() -> None:
    windows = Windows(1000, 9)
    start_ps = np.arange(0, 10_000_000, 1_000_000)
    assert windows.of(start_ps).tolist() == list(range(10))
    assert windows.first(4).of(start_ps).tolist() == list(range(10))
    assert (windows.first(4).read, windows.first(4).end_ns, windows.first(40).read) == (4, 5000, 9)
    half = windows.second_half()
    # Windows 5 to 9 of 9 are read, as 1 to 5.
    assert (half.read, half.of(start_ps)[5:].tolist()) == (5, [1, 2, 3, 4, 5])
    assert half.of(start_ps)[4] == 0
    # Twice the load: the same flows, each at half the time.
    assert windows.squeezed(2).of(start_ps // 2).tolist() == list(range(10))


def _mirrored(draw: np.random.Generator, count: int) -> np.ndarray:
    """Windows of as many values, whose means lie as far above 3 as below: they are not skewed."""
    own = draw.normal(0.0, 2.0, (count, 40))
    half = np.abs(draw.normal(0.0, 1.0, count // 2))
    means = draw.permutation(np.concatenate([half, -half, np.zeros(count % 2)]))
    shifted: np.ndarray = own - own.mean(axis=1, keepdims=True) + 3.0 + means[:, None]
    return shifted


def _jackknife(own: np.ndarray) -> Jackknife:
    without = [np.delete(own, nth, axis=0).mean() for nth in range(len(own))]
    return Jackknife(np.asarray([own.mean(), *without]))


def test_the_interval_of_a_mean_is_that_of_the_textbook() -> None:
    draw = np.random.default_rng(1)
    for count in (5, 6, 8, 9):
        own = _mirrored(draw, count)
        result = _jackknife(own)
        # Pseudo-values of a mean over windows of as many flows are the windows' means.
        assert result.pseudo == pytest.approx(own.mean(axis=1).tolist())
        error = stats.sem(own.mean(axis=1)) * stats.t.ppf(0.975, count - 1)
        value, low, high, p = result.difference()
        assert (value, low, high) == pytest.approx((own.mean(), own.mean() - error, own.mean() + error))
        assert p == pytest.approx(stats.ttest_1samp(own.mean(axis=1), 0).pvalue)
        # The mean of another list varies as much: the variance is twice as large.
        assert result.half_width() == pytest.approx(math.sqrt(2) * error)


def test_the_interval_of_skewed_values_is_never_narrower_than_that_of_the_textbook() -> None:
    draw = np.random.default_rng(2)
    for count in (5, 8, 12, MOST):
        own = draw.lognormal(0.0, 1.5, (count, 4))
        error = stats.sem(own.mean(axis=1)) * stats.t.ppf(0.975, count - 1)
        assert _jackknife(own).half_width() >= math.sqrt(2) * error * (1 - 1e-9)


def test_half_an_interval_is_that_of_another_list() -> None:
    for values in ([1, 3] * 5, [3, 1] * 6):
        mean = stats.sem(values) * stats.t.ppf(0.975, len(values) - 1)
        assert of_pseudo(values).half_width() == pytest.approx(math.sqrt(2) * mean)


def test_neighbours_that_depend_on_each_other_widen_the_interval() -> None:
    # 1 1 3 3 1 1 3 3 ...: pairs of neighbours vary as much as single windows, and there are half as many.
    values = [1, 1, 3, 3] * 3
    mean = stats.sem([1, 3] * 3) * stats.t.ppf(0.975, len(values) - 1)
    assert of_pseudo(values).half_width() == pytest.approx(math.sqrt(2) * mean)
    # 1 3 1 3 ...: pairs do not vary at all, and single windows decide.
    other = [1, 3] * 6
    assert of_pseudo(other).half_width() == pytest.approx(
        math.sqrt(2) * stats.sem(other) * stats.t.ppf(0.975, len(other) - 1)
    )


def test_a_floor_is_the_least_width() -> None:
    assert Jackknife(np.zeros(6), 0.02).half_width() == 0.02
    assert estimate(Jackknife(np.zeros(6), 0.02), is_part=True).high == 0.02
    assert estimate(Jackknife(np.zeros(6), 0.02), is_part=True).low == 0
    assert Jackknife(np.zeros(6), 0.01).minus(Jackknife(np.zeros(6), 0.03)).floor == 0.03


def test_quantities_are_given_as_they_are_and_parts_too() -> None:
    result = estimate(of_pseudo(np.log([1e-3, 4e-3, 1e-3, 4e-3, 2e-3]).tolist()), is_part=False)
    # The geometric mean: the fifth root of 32e-15.
    assert result.mean == pytest.approx(2e-3)
    assert result.low is not None
    assert result.high is not None
    assert result.high / 2e-3 == pytest.approx(2e-3 / result.low)
    unfinished = estimate(Jackknife(np.full(6, np.inf)), is_part=False)
    assert (unfinished.mean, unfinished.low, estimate(None, is_part=True).mean) == (None, None, None)


def test_the_mean_of_seeds_keeps_windows_apart() -> None:
    result = mean([of_pseudo([1, 2, 3, 4, 5]), of_pseudo([3, 2, 1, 4, 5], floor=0.5)])
    assert result.pseudo == pytest.approx([2, 2, 2, 4, 5])
    assert (result.all, result.floor, mean([steady(2.0), steady(4.0)]).all) == (3, 0.5, 3)


def _levels(draw: np.random.Generator, count: int, dependence: float, spread: float) -> np.ndarray:
    """The level of each window, an AR(1) process of this standard deviation in its steady state."""
    results = [draw.normal(0, spread)]
    while len(results) < count:
        results.append(dependence * results[-1] + draw.normal(0, spread * math.sqrt(1 - dependence**2)))
    return np.asarray(results)


def _taken(draw: np.random.Generator, count: int, dependence: float, spread: float, metric: Metric) -> Jackknife:
    """The jackknife of a metric of log-normal times by windows, whose levels are an AR(1) process."""
    times = np.exp(draw.normal(0, 1, (count, FLOWS)) + _levels(draw, count, dependence, spread)[:, None])
    values = [metric(times.ravel()), *(metric(np.delete(times, nth, axis=0).ravel()) for nth in range(count))]
    return Jackknife(np.log(np.asarray(values)))


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("mean", np.mean),
        ("p95", lambda times: np.quantile(times, 0.95)),
        ("p99", lambda times: np.quantile(times, 0.99)),
    ],
)
@pytest.mark.parametrize(("count", "dependence", "spread"), [(8, 0.0, 0.0), (16, 0.0, 0.3), (MOST, 0.3, 0.3)])
def test_95_percent_intervals_hold_the_value_of_another_list(
    name: str, metric: Metric, count: int, dependence: float, spread: float
) -> None:
    draw = np.random.default_rng([count, len(name)])
    held = 0
    for _ in range(DRAWS):
        first, other = (_taken(draw, count, dependence, spread, metric) for _ in range(2))
        held += abs(first.all - other.all) <= first.half_width()
    assert 0.90 <= held / DRAWS <= 0.99
