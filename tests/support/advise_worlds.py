"""Worlds for `priolane advise` of which brute force says what is right, and how that is found.

A world is a generator of flow lists, a fabric and goals. `draw(seed)` makes another list of the same kind, as next week
would. The truth of a row is the mean over lists that the answer never saw, each run whole.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from priolane.advice.answer import Kind

Row = tuple[int, int, int, int]

_FABRIC = """[topology]
kind = "single_switch"
hosts = {hosts}
host_link = {{ rate = "{rate}", delay = "1us" }}
[switch]
buffer = {{ dynamic = "{buffer}", alpha = 1 }}
queues = {queues}
{switch}
[host]
min_rto = "{rto}"
{host}
{today}
"""


@dataclass(frozen=True)
class World:
    """A world, and the right kind of answer. `sampling` is what the recording would state."""

    name: str
    kind: Kind
    goals: tuple[str, ...]
    fabric: str
    draw: Callable[[random.Random], list[Row]]
    sampling: int | None = None

    def write(self, folder: Path, seed: int) -> tuple[Path, Path]:
        """Writes the list of a seed and the fabric; returns their paths."""
        folder.mkdir(parents=True, exist_ok=True)
        rows = sorted(self.draw(random.Random(f"{self.name} {seed}")))  # noqa: S311 - flows, not secrets
        flows, fabric = folder / f"flows_{seed}.csv", folder / "fabric.toml"
        text = "\n".join(["start_ns,src,dst,bytes", *(",".join(map(str, row)) for row in rows)])
        flows.write_text(text + "\n", encoding="utf-8")
        fabric.write_text(self.fabric, encoding="utf-8")
        return flows, fabric


def _fabric(  # noqa: PLR0913 - what differs between worlds
    rate: str,
    *,
    hosts: int = 8,
    buffer: str = "4MB",
    queues: int = 3,
    rto: str = "5ms",
    switch: str = "",
    host: str = "",
    today: str = "dctcp",
) -> str:
    return _FABRIC.format(
        rate=rate,
        hosts=hosts,
        buffer=buffer,
        queues=queues,
        rto=rto,
        switch=switch,
        host=host,
        today=f'[today]\nscheme = "{today}"',
    )


def _poisson(
    draw: random.Random, span_s: float, load_bps: float, sizes: Callable[[random.Random], int], hosts: Sequence[int]
) -> list[Row]:
    """Flows between hosts drawn evenly, which offer so many bits a second together."""
    mean = sum(sizes(random.Random(nth)) for nth in range(2000)) / 2000  # noqa: S311 - flows, not secrets
    rate = load_bps / 8 / mean
    rows, at = [], draw.expovariate(rate)
    while at < span_s:
        src, dst = draw.sample(hosts, 2)
        rows.append((round(at * 1e9), src, dst, sizes(draw)))
        at += draw.expovariate(rate)
    return rows


def _log_uniform(least: float, most: float) -> Callable[[random.Random], int]:
    return lambda draw: round(least * (most / least) ** draw.random())


def _mix(
    gbps: float, span_s: float, small: float, bulk: float, most: float = 4e6, hosts: int = 8
) -> Callable[[random.Random], list[Row]]:
    """Small flows of 2 to 60 kB and bulk flows of 1 MB to `most`, at loads of hosts' links."""

    def draw(source: random.Random) -> list[Row]:
        total = hosts * gbps * 1e9
        everyone = range(hosts)
        return [
            *_poisson(source, span_s, small * total, _log_uniform(2e3, 6e4), everyone),
            *_poisson(source, span_s, bulk * total, _log_uniform(1e6, most), everyone),
        ]

    return draw


def _incasts(gbps: float, span_s: float, hosts: int, each: int) -> Callable[[random.Random], list[Row]]:
    """All hosts but one send to that one at once, again and again, at a tenth of its link."""

    def draw(source: random.Random) -> list[Row]:
        period_s = 8 * each * (hosts - 1) / (0.1 * gbps * 1e9)
        rows: list[Row] = []
        at = source.expovariate(1 / period_s)
        while at < span_s:
            dst = source.randrange(hosts)
            rows += [(round(at * 1e9), src, dst, each) for src in range(hosts) if src != dst]
            at += source.expovariate(1 / period_s)
        return rows

    return draw


WORLDS = (
    World(
        "idle", Kind.NOTHING, ("p99.small < 300us",), _fabric("10Gbps", today="newreno"), _mix(10, 0.5, 0.04, 0.0001)
    ),
    World(
        "enough",
        Kind.NOTHING,
        ("p99.small < 400us", "goodput.bulk > 5Gbps"),
        _fabric("100Gbps", buffer="16MB"),
        _mix(100, 0.08, 0.02, 0.3),
    ),
    World(
        "no_change_at_1g",
        Kind.NOTHING,
        ("p95.small < 20ms", "goodput.bulk > 100Mbps"),
        _fabric("1Gbps", buffer="1MB", host="dscp = false", queues=1),
        _mix(1, 12.0, 0.02, 0.25),
    ),
    World(
        "queues",
        Kind.CHANGE,
        ("p99.small < 120us", "goodput.bulk > 80%"),
        _fabric("25Gbps"),
        _mix(25, 0.3, 0.04, 0.4),
    ),
    World(
        "marking",
        Kind.CHANGE,
        ("p99.small < 700us",),
        _fabric("10Gbps", queues=1, host="dscp = false", today="newreno"),
        _mix(10, 0.6, 0.03, 0.4),
    ),
    World(
        "loaded",
        Kind.CHANGE,
        ("p99.small < 400us",),
        _fabric("10Gbps", buffer="2MB", host="sizes_known = true"),
        _mix(10, 0.6, 0.1, 0.65),
    ),
    World(
        "fast",
        Kind.CHANGE,
        ("p99.small < 25us",),
        _fabric("400Gbps", buffer="64MB", host="kernel_module = true\nsizes_known = true"),
        _mix(400, 0.015, 0.02, 0.45),
    ),
    World(
        "incast",
        Kind.IMPOSSIBLE,
        ("p99.small < 200us",),
        _fabric("10Gbps"),
        _incasts(10, 1.0, 8, 64_000),
    ),
    World("light", Kind.IMPOSSIBLE, ("p99.small < 10us",), _fabric("25Gbps"), _mix(25, 0.3, 0.04, 0.1)),
    World(
        "bare",
        Kind.NONE,
        ("p99.small < 90us",),
        _fabric("25Gbps", queues=1, host="dscp = false\ncongestion_control = false"),
        _mix(25, 0.3, 0.04, 0.4),
    ),
    World(
        "too_much",
        Kind.NONE,
        ("p99.small < 300us", "goodput.bulk > 6Gbps"),
        _fabric("10Gbps"),
        _mix(10, 0.6, 0.05, 0.55),
    ),
    World(
        "short",
        Kind.UNKNOWN,
        ("p99.small < 1ms", "goodput.bulk > 90%"),
        _fabric("10Gbps"),
        _mix(10, 0.06, 0.1, 0.4, 3e7),
    ),
    World(
        "sampled",
        Kind.UNKNOWN,
        ("p99.small < 1ms",),
        _fabric("10Gbps"),
        _mix(10, 0.3, 0.04, 0.3),
        1000,
    ),
)
