"""The theoretical cost of least attained service for elephants, which study/papers/nos2/fig6/finding.md states."""

import math
import re
from bisect import bisect_right
from pathlib import Path
from random import Random

import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "study" / "papers" / "nos2" / "fig6" / "finding.md"
ELEPHANT = 10e6


def _quantiles(count: int) -> list[float]:
    """Sizes of web search in bytes, one for each of `count` equal parts of the flows, in order."""
    lines = (ROOT / "workloads" / "web_search_pkt1460.csv").read_text(encoding="utf-8").splitlines()
    table = [tuple(map(float, line.split(","))) for line in lines if line[:1].isdigit()]
    shares = [share for _, share in table]
    results = []
    for place in range(count):
        share = (place + 0.5) / count
        above = bisect_right(shares, share)
        (left, low), (right, high) = table[above - 1], table[above]
        results.append(left + (right - left) * (share - low) / (high - low))
    return results


def _attained(sizes: list[float], load: float) -> list[float]:
    """The mean time with least attained service of each of `sizes`, in order, on a link that serves a byte a unit.

    A flow of x bytes takes x / (1 - r) + lambda E[min(S, x)^2] / (2 (1 - r)^2), where r is the load of flows that are
    cut at x bytes (Kleinrock, Queueing Systems II, §4.6).
    """
    count = len(sizes)
    rate = load * count / sum(sizes)
    below = below_squared = 0.0
    results = []
    for place, size in enumerate(sizes):
        cut = rate * (below + (count - place) * size) / count
        squared = (below_squared + (count - place) * size**2) / count
        results.append(size / (1 - cut) + rate * squared / (2 * (1 - cut) ** 2))
        below, below_squared = below + size, below_squared + size**2
    return results


def _elephants_over_sharing(load: float) -> float:
    """The mean time of elephants over that with fair sharing, where a flow of x bytes takes x / (1 - load)."""
    sizes = _quantiles(4000)
    times = _attained(sizes, load)
    attained = sum(time for size, time in zip(sizes, times, strict=True) if size > ELEPHANT)
    return attained * (1 - load) / sum(size for size in sizes if size > ELEPHANT)


def _simulated(sizes: tuple[float, float], load: float, flows: int) -> dict[float, float]:
    """The mean time of two equally likely sizes on a link that serves the flows of least attained service."""
    random = Random(1)  # noqa: S311
    arrivals, now = [], 0.0
    for _ in range(flows):
        now += random.expovariate(2 * load / sum(sizes))
        arrivals.append((now, random.choice(sizes)))
    taken: dict[float, list[float]] = {size: [] for size in sizes}
    active: list[tuple[float, float, float]] = []  # attained, size, start
    now = 0.0
    for start, size in [*arrivals, (math.inf, 0.0)]:
        while active and now < start:
            least = min(flow[0] for flow in active)
            served = [flow for flow in active if flow[0] == least]
            others = [flow for flow in active if flow[0] > least]
            # Until one of those served ends, reaches the next one's service, or another flow starts.
            goal = min([flow[1] for flow in served] + [flow[0] for flow in others])
            end = now + (goal - least) * len(served)
            if end > start:
                goal, end = least + (start - now) / len(served), start
            now = end
            active = others
            for _, own, began in served:
                if goal >= own:
                    taken[own].append(now - began)
                else:
                    active.append((goal, own, began))
        now = start
        active.append((0.0, size, start))
    return {size: sum(times) / len(times) for size, times in taken.items()}


def test_the_closed_form_is_what_a_link_does() -> None:
    sizes = (1.0, 3.0)
    short, long = _attained(list(sizes), 0.5)
    simulated = _simulated(sizes, 0.5, 40_000)
    assert simulated[1.0] == pytest.approx(short, rel=0.03)
    assert simulated[3.0] == pytest.approx(long, rel=0.03)


@pytest.mark.parametrize("place", range(4))
def test_the_page_has_what_least_attained_service_costs_elephants(place: int) -> None:
    """At loads of 0.5, 0.6, 0.7, and 0.8, as the figure has them."""
    stated = re.search(r"elephants\s+take\s+([\d., ]+),\s+and\s+([\d.]+)\s+times", PAGE.read_text(encoding="utf-8"))
    assert stated is not None, "the page states no cost"
    numbers = [*(float(number) for number in stated[1].split(", ")), float(stated[2])]
    assert len(numbers) == 4
    assert numbers[place] == pytest.approx(_elephants_over_sharing(0.5 + place / 10), abs=0.006)
