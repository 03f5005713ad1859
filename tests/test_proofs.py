"""Proofs that numbers of papers are impossible in what these describe: causes of claims name them."""

import math
from fractions import Fraction

import pytest


def test_three_flows_on_one_link_end_at_nine() -> None:
    """NOS2 Fig. 1: flows of 1, 3 and 5 units start together. The paper prints 10 for the last one, and a mean of 5."""
    sizes = [1, 3, 5]
    # A link that never idles has done all work at its sum, whatever the order; the shortest first has the least mean.
    ends = [sum(sizes[: place + 1]) for place in range(len(sizes))]
    assert ends == [1, 4, 9]
    assert Fraction(sum(ends), len(ends)) == Fraction(14, 3)
    # The print has the last flow end at 10: one unit of idling, and (1 + 4 + 10) / 3 = 5.
    assert Fraction(1 + 4 + 10, 3) == 5


def test_shares_of_data_mining_are_more_than_all_flows() -> None:
    """NOS2 §V-A and §V-B: 80 % mice, 20 % elephants, and 4 % between 100 kB and 10 MB are exclusive classes."""
    assert 80 + 20 + 4 > 100


def _round_trips(packets: int, growth: Fraction) -> int:
    """The round trips of slow start that deliver as many packets, from a window of one."""
    window, sent, trips = Fraction(1), Fraction(0), 0
    while sent < packets:
        sent, window, trips = sent + window, window * growth, trips + 1
    return trips


def _growth(weight: int) -> Fraction:
    """The growth of a window in a round trip of slow start: PACCP Eq. 13, second line."""
    return (3 - Fraction(3) ** (1 - weight)) / 2 + 1


@pytest.mark.parametrize("packets", [7, 20, 68, 700, 20_000])
def test_a_weight_of_two_saves_less_than_a_fifth_of_slow_start(packets: int) -> None:
    """PACCP §V-C claims less than 0.8 of the time for small and medium flows of DS; Eq. 13 gives 0.82 at best."""
    best_effort, weighted = _growth(1), _growth(2)
    assert (best_effort, weighted) == (2, Fraction(7, 3))

    def in_fluid(growth: Fraction) -> float:
        # Windows of 1, g, g^2, ... sum to (g^n - 1) / (g - 1).
        return math.log(1 + packets * float(growth - 1)) / math.log(growth)

    ratio = in_fluid(weighted) / in_fluid(best_effort)
    assert 0.8 < math.log(2) / math.log(7 / 3) < ratio < 1
    for growth in (best_effort, weighted):
        assert _round_trips(packets, growth) - 1 < in_fluid(growth) <= _round_trips(packets, growth)
