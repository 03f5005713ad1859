"""Experiments in which nothing may be found: equal hosts, equal flows."""

import itertools
import sys
from dataclasses import astuple
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))

from null_experiments import OWN, Cell, cells, experiment, factors, is_odd, judge, rejected, run, topology

TWO = Cell("newreno", "fifo_small", 2, "10Gbps", "endless")
INCAST = Cell("newreno", "fifo_small", 15, "10Gbps", "incast")
SHARING = [
    *(
        Cell(scheme, port, 2, rate, "endless")
        for scheme, port in [
            ("dctcp", "fifo_small"),
            ("d2tcp", "fifo_small"),
            ("paccp_dctcp", "fifo_small"),
            ("dcqcn", "fifo_small"),
            ("ledbat", "fifo_small"),
            ("swift", "fifo_large"),
            ("timely", "fifo_large"),
            ("newreno", "fifo_small"),
            ("cubic", "fifo_small"),
            ("paccp", "fifo_small"),
        ]
        for rate in factors()["rate"]
    ),
    # At 10 Gbit/s, eight packets fill the path, and one flow keeps nearly all of the rate.
    Cell("hpcc", "fifo_small", 2, "100Gbps", "endless"),
]
MANY_SEEDS = {"newreno", "cubic", "paccp"}
"""Schemes whose shares of a run vary so much that their interval takes 120 seeds, not 24."""
NO_JITTER = 'host.send_jitter="0ns"'


def test_any_two_values_of_different_factors_meet_in_a_cell() -> None:
    read = factors()
    results = [cell for cell in cells(read) if cell.scheme in read["schemes"]["fair"]]
    fair, senders = read["traffic"]["fair"], read["senders"]
    for traffic in (fair, read["traffic"]["unequal"]):
        axes = [read["schemes"]["fair"], [*read["port"]], senders, read["rate"], traffic]
        own = [astuple(cell) for cell in results if cell.traffic in traffic]
        for (i, axis), (j, other) in itertools.combinations(enumerate(axes), 2):
            assert {(cell[i], cell[j]) for cell in own} == {*itertools.product(axis, other)}
    assert len(cells(read)) <= 200
    assert len({str(cell) for cell in cells(read)}) == len(cells(read))


def test_two_endless_flows_share_equally_on_average() -> None:
    result = run(TWO, factors(), 24, [])
    _, low, high = result.first_share
    assert 0.45 < low < high < 0.55


def test_without_a_random_time_of_departure_one_of_two_gets_everything() -> None:
    """The results of the test before this one."""
    result = run(TWO, factors(), 6, [NO_JITTER])
    shares = result.values[:, 0] / result.values.sum(axis=1)
    assert all(share < 0.1 or share > 0.9 for share in shares)


def test_the_number_of_a_host_does_not_decide_its_completion_time_in_an_incast() -> None:
    result = run(INCAST, factors(), 20, [])
    assert abs(result.correlation) < 0.15
    assert result.p > 0.01
    assert result.shares.max() / result.shares.min() < 1.2


def test_what_follows_the_number_of_a_host_is_found() -> None:
    draw = np.random.default_rng(7)
    noise = draw.normal(1.0, 0.1, (40, 8))
    assert not rejected([judge(TWO, noise)])
    biased = judge(INCAST, noise + 0.02 * np.arange(8))
    assert biased.correlation > 0.2
    assert rejected([judge(TWO, noise), biased]) == [biased]
    assert rejected([judge(TWO, np.tile([1.0, 2.0], (24, 1)))])
    assert not rejected([judge(TWO, np.ones((24, 2)))])


def test_holm_finds_something_among_many_null_cells_in_at_most_one_of_twenty_designs() -> None:
    draw = np.random.default_rng(8)
    designs = [[judge(TWO, draw.normal(1.0, 0.1, (40, 8))) for _ in range(86)] for _ in range(200)]
    # At most 0.05, and 17 of 200 is beyond the 97.5 % quantile of the binomial distribution.
    assert sum(bool(rejected(design)) for design in designs) <= 17


@pytest.mark.parametrize("senders", [8, 15])
def test_the_number_of_a_host_says_nothing_about_its_link(senders: int) -> None:
    hosts = np.arange(1, senders + 1)
    odd = np.array([is_odd(host, senders) for host in range(1, senders + 1)])
    assert hosts[odd].mean() == hosts[~odd].mean()
    assert abs(odd.sum() - senders / 2) < 1


def test_cells_differ_in_what_they_are_named_by() -> None:
    read = factors()
    lines = topology(Cell("dctcp", "pfc", 8, "100Gbps", "half_packet")).splitlines()
    # Half a packet of 1538 B at 100 Gbit/s takes 61.52 ns.
    assert lines[-8:-6] == ["link,h1,s,100000Mbps,1061520ps", "link,h2,s,100000Mbps,1000000ps"]
    lines = topology(Cell("dctcp", "pfc", 8, "10Gbps", "ppm")).splitlines()
    assert lines[-9:-6] == [
        "link,h0,s,10000Mbps,1000000ps",
        "link,h1,s,10001Mbps,1000000ps",
        "link,h2,s,9999Mbps,1000000ps",
    ]
    assert len({experiment(cell, read) for cell in cells(read)}) == len(cells(read))


@pytest.mark.soak
def test_no_cell_finds_anything() -> None:
    read = factors()
    results = [run(cell, read, 40, []) for cell in cells(read)]
    assert not rejected(results), [(str(rejected_cell.cell), rejected_cell.p) for rejected_cell in rejected(results)]
    correlations = [abs(measured.correlation) for measured in results if measured.cell.senders > 2]
    assert np.mean(correlations) < 0.1


@pytest.mark.soak
@pytest.mark.parametrize("cell", SHARING, ids=str)
def test_two_endless_flows_of_a_window_scheme_share_equally(cell: Cell) -> None:
    _, low, high = run(cell, factors(), 120 if cell.scheme in MANY_SEEDS else 24, []).first_share
    assert 0.45 < low < high < 0.55


@pytest.mark.soak
@pytest.mark.parametrize("scheme", factors()["schemes"]["one"])
def test_which_of_two_equal_flows_goes_first_is_a_fair_coin(scheme: str) -> None:
    result = run(Cell(scheme, OWN, 2, "10Gbps", "incast"), factors(), 200, [])
    first = int((result.values[:, 0] < result.values[:, 1]).sum())
    ties = int((result.values[:, 0] == result.values[:, 1]).sum())
    # Of five fair coins, one in twenty designs fails.
    assert stats.binomtest(first, 200 - ties).pvalue > 0.05 / 5
