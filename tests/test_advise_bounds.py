"""Proofs that a goal cannot be met, against all schedules of small instances: none may be wrong."""

import math
import random
from collections.abc import Sequence
from itertools import combinations, permutations
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from advise_files import made_list, steady
from priolane.advice.bounds import Bound, alone, by_links
from priolane.advice.fabric import Fabric, read_fabric
from priolane.advice.flow_list import FlowList
from priolane.advice.goals import read_goals
from priolane.advice.marking import Derived

RATE_BPS = 8e9
"""A byte takes a nanosecond."""
CLASSES = {"small": {"to": "20kB"}, "bulk": {"above": "20kB"}}
FABRIC = cast(Fabric, SimpleNamespace(host_rate=RATE_BPS, fastest_host=RATE_BPS, classes=CLASSES, derived=Derived()))
Job = tuple[int, int, int]
"""Start, transmission time and instant from which it is late, in nanoseconds."""


def _proofs(flows: FlowList, *goals: str, fabric: Fabric = FABRIC) -> tuple[Bound, ...]:
    return by_links(read_goals(goals)[0], flows, fabric)


def _oversubscribed(hosts: int) -> Fabric:
    """So many hosts of ten times the rate in rack 0, whose links to other switches have that rate together; each of as
    many hosts elsewhere has a rack of its own, with as much as it sends."""
    fast = 10 * RATE_BPS
    racks = (*([0] * hosts), *range(1, hosts + 1))
    derived = Derived(host_rate=fast, fastest_host=fast, racks=racks, uplinks=(RATE_BPS, *([fast] * hosts)))
    return cast(Fabric, SimpleNamespace(host_rate=fast, fastest_host=fast, classes=CLASSES, derived=derived))


def _jobs(draw: random.Random, count: int) -> list[Job]:
    made = []
    for _ in range(count):
        start, work = draw.randrange(0, 12_000), draw.randrange(100, 4_000)
        made.append((start, work, start + round(work * draw.uniform(0.8, 4.0))))
    return sorted(made)


def _list(jobs: Sequence[Job], **columns: Any) -> FlowList:
    start, work, until = zip(*jobs, strict=True)
    return made_list(start, work, deadline_ns=np.asarray(until, dtype=float), **columns)


def _can_all_be_on_time(jobs: Sequence[Job]) -> bool:
    """Preemptive schedules meet all deadlines if no span of time has more work to do than it is long (Horn 1974)."""
    return all(
        sum(work for start, work, until in jobs if start >= begin and until <= end) <= end - begin
        for begin, _, _ in jobs
        for _, _, end in jobs
        if end > begin
    )


def _fewest_late(jobs: Sequence[Job]) -> int:
    """The fewest late jobs of all schedules, by all sets of jobs that may be on time."""
    possible = [job for job in jobs if job[1] <= job[2] - job[0]]
    for count in range(len(possible), 0, -1):
        if any(_can_all_be_on_time(combination) for combination in combinations(possible, count)):
            return len(jobs) - count
    return len(jobs)


def _completions(jobs: Sequence[Job], order: Sequence[int]) -> int:
    """The sum of completion times if jobs preempt each other in a fixed order, in steps of events."""
    left = [work for _, work, _ in jobs]
    now, total = 0, 0
    starts = sorted({start for start, _, _ in jobs})
    while any(left):
        ready = [place for place in order if left[place] and jobs[place][0] <= now]
        coming = min((start for start in starts if start > now), default=None)
        if not ready:
            assert coming is not None
            now = coming
            continue
        first = ready[0]
        step = left[first] if coming is None else min(left[first], coming - now)
        now += step
        left[first] -= step
        if not left[first]:
            total += now - jobs[first][0]
    return total


@pytest.mark.parametrize("end", ["dst", "src"])
def test_no_more_flows_are_called_late_than_the_best_schedule_has(end: str) -> None:
    draw = random.Random(4)  # noqa: S311 - instances, not secrets
    other = "src" if end == "dst" else "dst"
    proved = 0
    for _ in range(150):
        jobs = _jobs(draw, 7)
        # All share one link; those at the other end are hosts of their own.
        flows = _list(jobs, **{end: np.zeros(7), other: np.arange(1.0, 8.0)})
        late = _fewest_late(jobs)
        # A goal that the best schedule meets is not proved impossible, with the fewest that are late.
        allowed = max(late, 0.01) / 7
        assert not _proofs(flows, f"deadline_missed.all < {allowed:.17g}")
        proved += late > 0 and bool(_proofs(flows, f"deadline_missed.all < {(late - 0.5) / 7:.17g}"))
    # The bound is weaker than the best schedule, but not empty.
    assert proved >= 50


@pytest.mark.parametrize("end", ["dst", "src"])
def test_links_of_a_rack_are_shared_by_the_flows_that_leave_it(end: str) -> None:
    draw = random.Random(7)  # noqa: S311 - instances, not secrets
    here, there, fabric = np.arange(6.0), np.arange(6.0, 12.0), _oversubscribed(6)
    other = "src" if end == "dst" else "dst"
    proved = 0
    for _ in range(150):
        jobs = _jobs(draw, 6)
        flows = _list(jobs, **{end: here, other: there})
        late = _fewest_late(jobs)
        allowed = max(late, 0.01) / 6
        assert not _proofs(flows, f"deadline_missed.all < {allowed:.17g}", fabric=fabric)
        proofs = late > 0 and _proofs(flows, f"deadline_missed.all < {(late - 0.5) / 6:.17g}", fabric=fabric)
        proved += bool(proofs)
        way = "into" if end == "dst" else "out of"
        assert (
            not proofs
            or f"even if nothing else used the links {way} a rack, 8.00 Gbit/s to 80.0 Gbit/s together"
            in proofs[0].proof
        )
        # Within the rack no flow takes these links, and hosts' links are fast enough.
        within = _list([(0, 1000, 1500)] * 6, src=here, dst=np.roll(here, 1))
        assert not _proofs(within, "deadline_missed.all < 1%", "mean.all < 101ns", fabric=fabric)
    assert proved >= 50


def test_percentiles_are_not_called_impossible_where_a_schedule_meets_them() -> None:
    draw = random.Random(5)  # noqa: S311 - instances, not secrets
    proved = 0
    for _ in range(60):
        jobs = _jobs(draw, 8)
        flows = _list(jobs)
        works = sorted(2 * work for _, work, _ in jobs)
        for within in works:
            late = _fewest_late([(start, work, start + within) for start, work, _ in jobs])
            result = _proofs(flows, f"p50.all < {within}ns")
            # At most half of the flows may be later than a median.
            assert not (result and late <= 4)
            proved += bool(result)
    assert proved >= 20


def test_the_bound_of_means_is_that_of_the_best_order() -> None:
    draw = random.Random(6)  # noqa: S311 - instances, not secrets
    for _ in range(25):
        jobs = _jobs(draw, 6)
        flows = _list(jobs)
        # Of one link, some order of preemption is best of all schedules: that in which the best schedule completes.
        least = min(_completions(jobs, order) for order in permutations(range(6)))
        mean = least / 6
        assert not _proofs(flows, f"mean.all < {mean * (1 + 1e-10):.17g}ns")
        (result,) = _proofs(flows, f"mean.all < {mean * (1 - 1e-6):.17g}ns")
        assert "the mean of 6 flows of all is at least" in result.proof
        gbps = 8 * sum(work for _, work, _ in jobs) / least
        assert not _proofs(flows, f"goodput.all > {gbps * (1 - 1e-10):.17g}Gbps")
        assert _proofs(flows, f"goodput.all > {gbps * (1 + 1e-6):.17g}Gbps")


def test_flows_at_different_hosts_do_not_wait_for_each_other() -> None:
    jobs = [(0, 1000, 1500)] * 6
    apart = _list(jobs, src=np.arange(6.0), dst=np.arange(6.0, 12.0))
    assert not _proofs(apart, "deadline_missed.all < 1%", "mean.all < 1001ns")
    # Two for each receiver: one of each pair is late, and the mean is 1.5 times as long.
    pairs = _list(jobs, src=np.arange(6.0), dst=np.asarray([0.0, 0, 1, 1, 2, 2]))
    assert not _proofs(pairs, "deadline_missed.all < 50%", "mean.all < 1501ns")
    assert len(_proofs(pairs, "deadline_missed.all < 49%", "mean.all < 1499ns")) == 2


@pytest.mark.parametrize("count", [10, 49, 137])
def test_the_bound_of_an_incast_of_equal_flows_is_exact(count: int) -> None:
    # Within x ns, a link carries floor(x / work) of them.
    for within in (1000, 2500, 1000 * count - 1, 1000 * count):
        jobs = [(5000, 1000, 5000 + within)] * count
        late = count - within // 1000
        flows = _list(jobs, src=np.arange(1.0, count + 1), dst=np.zeros(count))
        assert not _proofs(flows, f"deadline_missed.all < {max(late, 0.01) / count:.17g}")
        if late:
            (result,) = _proofs(flows, f"deadline_missed.all < {(late - 0.1) / count:.17g}")
            assert f"at least {late} (" in result.proof
            assert "the links of hosts that receive, 8.00 Gbit/s" in result.proof


def test_a_proof_has_its_numbers() -> None:
    flows = made_list([0] * 100, [1000] * 100, src=np.arange(100.0), dst=np.full(100, 200.0))
    (result,) = _proofs(flows, "p99.small < 50us")
    # 50 of 100 flows of 1 us fit into 50 us, and one in a hundred may be late.
    assert result.goal.name == "fct_p99.small"
    assert result.proof == (
        "of 100 flows of small, at least 50 (50.0 %) end after 50.0 us, where 1.00 % may, even if nothing else used "
        "the links of hosts that receive, 8.00 Gbit/s"
    )
    assert not _proofs(flows, "p99.small < 99us")


def test_a_proof_counts_each_host_as_the_fastest_one() -> None:
    flows = made_list([0] * 100, [1000] * 100, src=np.arange(100.0), dst=np.full(100, 200.0))
    (goal,), _ = read_goals(["p99.small < 50us"])
    mixed = cast(
        Fabric, SimpleNamespace(host_rate=RATE_BPS, fastest_host=1.5 * RATE_BPS, classes=CLASSES, derived=Derived())
    )
    (result,) = by_links([goal], flows, mixed)
    assert result.proof.endswith(
        "at least 25 (25.0 %) end after 50.0 us, where 1.00 % may, even if nothing else used "
        "the links of hosts that receive, at most 12.0 Gbit/s"
    )
    fast = cast(
        Fabric, SimpleNamespace(host_rate=RATE_BPS, fastest_host=10 * RATE_BPS, classes=CLASSES, derived=Derived())
    )
    assert not by_links([goal], flows, fast)


def test_hosts_of_a_fabric_may_have_links_of_two_rates(tmp_path: Path) -> None:
    links = ["link,h0,s0,100Gbps,1us", "link,h1,s0,10Gbps,1us", "link,h2,s0,10Gbps,1us"]
    nodes = ["node,s0,switch", *(f"node,h{host},host" for host in range(3))]
    (tmp_path / "net.csv").write_text("\n".join([*nodes, *links, ""]), encoding="utf-8")
    topology = 'topology = { kind = "file", path = "net.csv" }'
    text = topology + '\n[switch]\nbuffer = { dynamic = "16MB", alpha = 1 }\nqueues = 2\n'
    (tmp_path / "fabric.toml").write_text(text, encoding="utf-8")
    fabric = read_fabric(tmp_path / "fabric.toml")
    assert (fabric.host_rate, fabric.fastest_host) == (10e9, 100e9)


def test_flows_that_wait_for_others_are_not_taken_to_start_together() -> None:
    # Each waits for the one before: they meet nowhere, and each takes as long as alone.
    after = ["", *(str(nth) for nth in range(99))]
    flows = made_list([0.0] * 100, [1000] * 100, after=after, src=np.arange(100.0), dst=np.full(100, 200.0))
    assert not _proofs(flows, "p99.small < 1001ns", "mean.small < 1001ns", "goodput.small > 7.99Gbps")
    # But none is faster than its link.
    assert len(_proofs(flows, "p99.small < 999ns", "mean.small < 999ns", "goodput.small > 8.01Gbps")) == 3


def test_relative_goals_those_of_coflows_and_slowdowns_are_left_to_runs() -> None:
    flows = made_list([0.0] * 100, [1000] * 100)
    assert not _proofs(flows, "p99.small < 1.01x best", "cct.all < 1ns", "slowdown_p99.all < 1.01")
    without = cast(Fabric, SimpleNamespace(host_rate=None, fastest_host=None, classes={}, derived=Derived()))
    assert by_links(read_goals(["p99.all < 1ns"])[0], flows, without) == ()


def test_what_flows_alone_miss_no_scheme_meets() -> None:
    goals, _ = read_goals(["p99.small < 1ms", "goodput.bulk > 5Gbps", "deadline_missed.all < 5%", "mean.all < 2x best"])
    met = {
        "fct_p99.small": steady(math.log(0.99e-3)),
        "goodput.bulk": steady(math.log(5.01)),
        "deadline_miss_rate.all": steady(0.049),
        "fct.all": steady(math.log(1.0)),
    }
    assert alone(goals, met) == ()
    missed = {
        "fct_p99.small": steady(math.log(1.01e-3)),
        "goodput.bulk": steady(math.log(4.99)),
        "deadline_miss_rate.all": steady(0.051),
        "fct.all": steady(math.log(1.0)),
    }
    result = alone(goals, missed)
    assert [bound.goal.name for bound in result] == ["fct_p99.small", "goodput.bulk", "deadline_miss_rate.all"]
    assert result[0].proof == "p99.small is 1.01 ms with each flow alone in the network"
    assert alone(goals, dict.fromkeys(met)) == ()
