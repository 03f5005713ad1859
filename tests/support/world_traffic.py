"""Flow lists of the worlds for `priolane advise`: `draw(source)` of each makes another list of one kind."""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Row = tuple[Any, ...]
"""A row of a flow list: `start_ns, src, dst, bytes`, then what further columns a world has."""
Draw = Callable[[random.Random], list[Row]]
Sizes = Callable[[random.Random], int]


def log_uniform(least: float, most: float) -> Sizes:
    """Sizes whose logarithm is uniform."""
    return lambda draw: round(least * (most / least) ** draw.random())


def poisson(draw: random.Random, span_s: float, load_bps: float, sizes: Sizes, hosts: Sequence[int]) -> list[Row]:
    """Flows between hosts drawn evenly, which offer `load_bps` together."""
    mean = sum(sizes(random.Random(nth)) for nth in range(2000)) / 2000  # noqa: S311 - flows, not secrets
    rows = []
    for at in _instants(draw, span_s, load_bps / 8 / mean):
        src, dst = draw.sample(hosts, 2)
        rows.append((at, src, dst, sizes(draw)))
    return rows


def _instants(draw: random.Random, span_s: float, rate: float) -> Iterator[int]:
    """The instants of a Poisson process in nanoseconds."""
    at = draw.expovariate(rate)
    while at < span_s:
        yield round(at * 1e9)
        at += draw.expovariate(rate)


def mix(gbps: float, span_s: float, small: float, bulk: float, most: float = 4e6, hosts: int = 8) -> Draw:
    """Small flows of 2 to 60 kB and bulk flows of 1 MB to `most`, at loads of hosts' links."""

    def draw(source: random.Random) -> list[Row]:
        total = hosts * gbps * 1e9
        everyone = range(hosts)
        return [
            *poisson(source, span_s, small * total, log_uniform(2e3, 6e4), everyone),
            *poisson(source, span_s, bulk * total, log_uniform(min(1e6, most / 2), most), everyone),
        ]

    return draw


def incasts(gbps: float, span_s: float, hosts: int, each: int, load: float = 0.1) -> Draw:
    """All hosts but one send to that one at once, again and again, at a part of its link."""

    def draw(source: random.Random) -> list[Row]:
        rows: list[Row] = []
        for at in _instants(source, span_s, load * gbps * 1e9 / (8 * each * (hosts - 1))):
            dst = source.randrange(hosts)
            rows += [(at, src, dst, each) for src in range(hosts) if src != dst]
        return rows

    return draw


def to_fast_hosts(span_s: float, hosts: int, gbps: Sequence[float], load: float) -> Draw:
    """Slow hosts send small and larger flows to fast ones, at a part of the slow ones' links."""
    slow, fast = list(range(hosts // 2)), list(range(hosts // 2, hosts))

    def draw(source: random.Random) -> list[Row]:
        rows: list[Row] = []
        for sizes, part in ((log_uniform(2e3, 6e4), 0.3 * load), (log_uniform(5e5, 1e6), 0.7 * load)):
            flows = poisson(source, span_s, part * len(slow) * gbps[0] * 1e9, sizes, slow)
            rows += [(at, src, source.choice(fast), size) for at, src, _, size in flows]
        return rows

    return draw


def _halves(hosts: int, first: str, second: str) -> tuple[tuple[str, range], tuple[str, range]]:
    """The first and the second half of hosts, by name."""
    return (first, range(hosts // 2)), (second, range(hosts // 2, hosts))


def _to_all(draw: random.Random, span_s: float, load_bps: float, sizes: Sizes, between: tuple[range, int]) -> list[Row]:
    """Flows from some hosts to all of a number of others, which offer `load_bps` together."""
    senders, hosts = between
    rows = []
    for at, src, _, size in poisson(draw, span_s, load_bps, sizes, senders):
        dst = draw.randrange(hosts - 1)
        rows.append((at, src, dst + (dst >= src), size))
    return rows


def tenants(gbps: float, span_s: float, loads: tuple[float, float], hosts: int = 8) -> Draw:
    """Two tenants on hosts of their own, with flows of the same sizes, 50 to 400 kB, to all hosts; the last column is
    the tenant's name. The first flow is web's, so that groups of all lists have one order."""

    def draw(source: random.Random) -> list[Row]:
        return [(0, 0, 1, 50_000, "web")] + [
            (*row, name)
            for (name, senders), load in zip(_halves(hosts, "web", "batch"), loads, strict=True)
            for row in _to_all(source, span_s, load * hosts * gbps * 1e9, log_uniform(5e4, 4e5), (senders, hosts))
        ]

    return draw


def with_deadlines(gbps: float, span_s: float, loads: tuple[float, float], slack_ns: int, hosts: int = 8) -> Draw:
    """Flows of 100 to 400 kB with deadlines, and others of 50 kB to 1 MB without, from hosts of their own; the last
    column is the deadline."""

    def draw(source: random.Random) -> list[Row]:
        total = hosts * gbps * 1e9
        (_, ours), (_, theirs) = _halves(hosts, "urgent", "others")
        urgent = _to_all(source, span_s, loads[0] * total, log_uniform(1e5, 4e5), (ours, hosts))
        others = _to_all(source, span_s, loads[1] * total, log_uniform(5e4, 1e6), (theirs, hosts))
        return [*((*row, row[0] + slack_ns) for row in urgent), *((*row, "") for row in others)]

    return draw


def coflows(gbps: float, span_s: float, load: float, hosts: int = 8) -> Draw:
    """Coflows to one host, of flows of 30 kB: nine in ten have four flows, the others 24; their names are last."""

    def draw(source: random.Random) -> list[Row]:
        each, few, many = 30_000, 4, 24
        mean = each * (0.9 * few + 0.1 * many)
        rows: list[Row] = []
        for name, at in enumerate(_instants(source, span_s, load * hosts * gbps * 1e9 / 8 / mean)):
            dst = source.randrange(hosts)
            others = [host for host in range(hosts) if host != dst]
            width = few if source.random() < 0.9 else many
            rows += [(at, src, dst, each, name) for src in source.choices(others, k=width)]
        return rows

    return draw
