"""Proofs that numbers of papers are impossible in what these describe: causes of claims name them."""

import math
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

WORKLOADS = Path(__file__).parent.parent / "workloads"


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
    assert best_effort == 2
    assert weighted == Fraction(7, 3)

    def in_fluid(growth: Fraction) -> float:
        # Windows of 1, g, g^2, ... sum to (g^n - 1) / (g - 1).
        return math.log(1 + packets * float(growth - 1)) / math.log(growth)

    ratio = in_fluid(weighted) / in_fluid(best_effort)
    assert 0.8 < math.log(2) / math.log(7 / 3) < ratio < 1
    for growth in (best_effort, weighted):
        assert _round_trips(packets, growth) - 1 < in_fluid(growth) <= _round_trips(packets, growth)


# Rates of payload: a packet of 1,460 B takes 1,538 B of a link. Three links of 4 us each.
CORE_BPS, HOST_BPS, ONE_WAY_S = 100e9 * 1460 / 1538, 10e9 * 1460 / 1538, 12e-6
FLOWS = 10_000
# TOP §3.3: the miss rate that is printed, and the largest number that our band of 30 % takes for it.
LARGEST_MISS_RATE = 0.041 * 1.3


def _sizes() -> list[tuple[float, float]]:
    """The distribution of IMC10: sizes in bytes, and the part of flows that are not larger."""
    lines = (WORKLOADS / "imc10.csv").read_text(encoding="utf-8").splitlines()
    return [(float(size), float(part)) for size, part in (line.split(",") for line in lines if line[0].isdigit())]


def _least_late(flows: list[tuple[float, float]]) -> int:
    """The fewest flows (deadline, bytes) that any schedule of one direction of the core makes late.

    Those with a deadline up to t that are on time have at most C t bytes, so that at least the fewest flows are late
    whose removal leaves as many: the largest.
    """
    most = 0
    for t in (0.002, 0.005, 0.01, 0.015, 0.02, 0.025, 0.03, 0.035, 0.04, 0.05):
        sizes = sorted((size for deadline, size in flows if deadline <= t), reverse=True)
        excess, removed = sum(sizes) - CORE_BPS / 8 * t, 0
        while excess > 0:
            excess -= sizes[removed]
            removed += 1
        most = max(most, removed)
    return most


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_schedule_with_a_handshake_misses_as_few_deadlines_as_top_prints(seed: int) -> None:
    """TOP Fig. 6: hosts at 0.6 ask the core for 2.4 times its rate, deadlines are exponential with a mean of 1 ms.

    A token scheme sends nothing before a round trip has passed. A flow whose deadline is shorter than that and its own
    time at the line is late. The others share the core.
    """
    random = Random(seed)  # noqa: S311 - a simulation
    steps = list(pairwise(_sizes()))
    mean = sum((part - before) * (size + least) / 2 for (least, before), (size, part) in steps)
    assert mean == pytest.approx(195e3, rel=0.01)
    rate = 2 * 40 * 0.6 * HOST_BPS / 8 / mean
    core: tuple[list[tuple[float, float]], ...] = ([], [])
    hopeless, start = 0, 0.0
    for _ in range(FLOWS):
        start += random.expovariate(rate)
        drawn = 1 - random.random()
        (least, before), (most, part) = next(step for step in steps if step[1][1] >= drawn > step[0][1])
        size = least + (most - least) * (drawn - before) / (part - before)
        alone = ONE_WAY_S + size * 8 / HOST_BPS
        allowed = max(random.expovariate(1e3), 1.25 * alone)
        if allowed < alone + 2 * ONE_WAY_S:
            hopeless += 1
        else:
            core[random.random() < 0.5].append((start + allowed, size))
    assert (hopeless + sum(map(_least_late, core))) / FLOWS > LARGEST_MISS_RATE
