"""Worlds for `priolane advise` of which brute force says what is right (`advise_truth`).

A world is a generator of flow lists, a fabric and goals. `write(folder, seed)` draws another list of the same kind, as
next week would.
"""

import random
from dataclasses import dataclass
from pathlib import Path

from priolane.advice.answer import Kind
from world_traffic import Draw, coflows, incasts, mix, tenants, to_fast_hosts, with_deadlines

COLUMNS = "start_ns,src,dst,bytes"


@dataclass(frozen=True)
class World:
    """A world, and the right kind of answer. `sampling` is what the recording would state, `columns` those of the list,
    `changed` the hosts that are changed first."""

    name: str
    kind: Kind
    goals: tuple[str, ...]
    fabric: str
    draw: Draw
    sampling: int | None = None
    columns: str = COLUMNS
    changed: str | None = None

    def write(self, folder: Path, seed: int) -> tuple[Path, Path]:
        """Writes the list of a seed and the fabric; returns their paths."""
        folder.mkdir(parents=True, exist_ok=True)
        rows = sorted(self.draw(random.Random(f"{self.name} {seed}")), key=lambda row: row[:4])  # noqa: S311 - flows
        flows, fabric = folder / f"flows_{seed}.csv", folder / "fabric.toml"
        text = "\n".join([self.columns, *(",".join(map(str, row)) for row in rows)])
        flows.write_text(text + "\n", encoding="utf-8")
        fabric.write_text(self.fabric.replace("NET", str(folder / "net.csv")), encoding="utf-8")
        (folder / "net.csv").write_text(_TWO_RATES, encoding="utf-8")
        return flows, fabric


_TWO_RATES = "\n".join(
    ["node,s0,switch", *(f"node,h{nth},host" for nth in range(8))]
    + [f"link,h{nth},s0,{10 if nth < 4 else 100}Gbps,1us" for nth in range(8)]
)
"""A network of four hosts with 10 Gbit/s and four with 100."""


def _star(rate: str, hosts: int = 8) -> str:
    return f'kind = "single_switch"\nhosts = {hosts}\nhost_link = {{ rate = "{rate}", delay = "1us" }}'


def _leaf_spine(leaves: int, hosts: int, rate: str, spines: int, fabric_rate: str) -> str:
    return (
        f'kind = "leaf_spine"\nleaves = {leaves}\nspines = {spines}\nhosts_per_leaf = {hosts}\n'
        f'host_link = {{ rate = "{rate}", delay = "1us" }}\nfabric_link = {{ rate = "{fabric_rate}", delay = "1us" }}'
    )


def _fabric(  # noqa: PLR0913 - what differs between worlds
    topology: str,
    *,
    buffer: str = "4MB",
    queues: int = 3,
    rto: str = "5ms",
    switch: str = "",
    host: str = "",
    today: str = "dctcp",
    classes: str = "",
) -> str:
    return "\n".join(
        [
            f"[topology]\n{topology}",
            f'[switch]\nbuffer = {{ dynamic = "{buffer}", alpha = 1 }}\nqueues = {queues}',
            *([switch] if switch else []),
            f'[host]\nmin_rto = "{rto}"',
            *([host] if host else []),
            f'[today]\nscheme = "{today}"',
            *([f"[metrics.classes]\n{classes}"] if classes else []),
            "",
        ]
    )


_BARE = "dscp = false\ncongestion_control = false"
_TENANTS = 'web = { group = "web" }\nbatch = { group = "batch" }'

WORLDS = (
    World(
        "idle",
        Kind.NOTHING,
        ("p99.small < 300us",),
        _fabric(_star("10Gbps"), today="newreno"),
        mix(10, 0.5, 0.04, 0.0001),
    ),
    World(
        "enough",
        Kind.NOTHING,
        ("p99.small < 400us", "goodput.bulk > 5Gbps"),
        _fabric(_star("100Gbps"), buffer="16MB"),
        mix(100, 0.08, 0.02, 0.3),
    ),
    World(
        "no_change_at_1g",
        Kind.NOTHING,
        ("p95.small < 20ms", "goodput.bulk > 100Mbps"),
        _fabric(_star("1Gbps"), buffer="1MB", host="dscp = false", queues=1),
        mix(1, 12.0, 0.02, 0.25),
    ),
    # A bound that the links of slow hosts would miss, if flows to fast ones had to take them.
    World(
        "two_rates",
        Kind.NOTHING,
        ("p99.small < 700us",),
        _fabric('kind = "file"\npath = "NET"'),
        to_fast_hosts(0.5, 8, (10, 100), 0.5),
    ),
    World(
        "queues",
        Kind.CHANGE,
        ("p99.small < 250us", "goodput.bulk > 80%"),
        _fabric(_star("25Gbps")),
        mix(25, 0.12, 0.04, 0.4, 2e6),
    ),
    World(
        "marking",
        Kind.CHANGE,
        ("p99.small < 700us",),
        _fabric(_star("10Gbps"), queues=1, host="dscp = false", today="newreno"),
        mix(10, 0.4, 0.03, 0.4),
    ),
    World(
        "loaded",
        Kind.CHANGE,
        ("p99.small < 400us",),
        _fabric(_star("10Gbps"), buffer="2MB", host="sizes_known = true"),
        mix(10, 0.25, 0.1, 0.65),
    ),
    World(
        "fast",
        Kind.CHANGE,
        ("p99.small < 25us",),
        _fabric(_star("400Gbps"), buffer="64MB", queues=2, host="kernel_module = true\nsizes_known = true"),
        mix(400, 0.008, 0.02, 0.45),
    ),
    # Hosts of a rack share a third of what their links carry.
    World(
        "oversubscribed",
        Kind.CHANGE,
        ("p99.small < 300us",),
        _fabric(_leaf_spine(2, 6, "10Gbps", 2, "10Gbps"), buffer="4MB", queues=2),
        mix(10, 0.15, 0.02, 0.25, 1e6, hosts=12),
        changed="rack0",
    ),
    World(
        "saturated",
        Kind.CHANGE,
        ("p99.small < 500us",),
        _fabric(_star("10Gbps"), queues=2),
        mix(10, 0.06, 0.1, 1.0, 1e6),
    ),
    World(
        "tenants",
        Kind.CHANGE,
        ("p95.web < 800us",),
        _fabric(_star("10Gbps"), queues=2, classes=_TENANTS),
        tenants(10, 0.2, (0.1, 0.42)),
        columns=f"{COLUMNS},group",
    ),
    World(
        "deadlines",
        Kind.CHANGE,
        ("deadline_missed.all < 10%",),
        _fabric(_star("10Gbps"), queues=2),
        with_deadlines(10, 0.25, (0.1, 0.42), 700_000),
        columns=f"{COLUMNS},deadline_ns",
    ),
    World(
        "coflows",
        Kind.CHANGE,
        ("cct.few < 280us",),
        _fabric(_star("10Gbps"), queues=2, host="sizes_known = true", classes='few = { below = "200kB" }'),
        coflows(10, 0.2, 0.4),
        columns=f"{COLUMNS},coflow",
    ),
    World(
        "unmarked",
        Kind.CHANGE,
        ("p99.small < 300us", "goodput.bulk > 80% of today"),
        _fabric(_star("10Gbps"), queues=2, switch="ecn = false", today="newreno"),
        mix(10, 0.2, 0.04, 0.4, 2e6),
    ),
    World(
        "telemetry",
        Kind.CHANGE,
        ("p99.small < 300us",),
        _fabric(
            _star("25Gbps"),
            queues=1,
            switch="pfc = true\nint = true",
            host=f"{_BARE}\ncongestion_module = true",
            today="newreno",
        ),
        mix(25, 0.1, 0.04, 0.4, 2e6),
    ),
    World(
        "trimming",
        Kind.CHANGE,
        ("p95.small < 1ms",),
        _fabric(
            _star("10Gbps", 16),
            buffer="400kB",
            queues=2,
            switch="trimming = true\necn = false",
            host=f"{_BARE}\nuser_stack = true",
            today="newreno",
        ),
        incasts(10, 1.2, 16, 30_000, 0.25),
    ),
    World(
        "credits",
        Kind.CHANGE,
        ("p95.small < 1ms",),
        _fabric(
            _star("10Gbps", 16),
            buffer="400kB",
            switch="token_limiter = true\necn = false",
            host=f"{_BARE}\nkernel_module = true\ncongestion_module = false",
            today="newreno",
        ),
        incasts(10, 1.2, 16, 30_000, 0.25),
    ),
    World(
        "ranks",
        Kind.CHANGE,
        ("p99.small < 120us",),
        _fabric(
            _star("10Gbps"),
            queues=1,
            switch="rank_queues = true",
            host=f"{_BARE}\ncongestion_module = true\nuser_stack = true\nsizes_known = true",
            today="newreno",
        ),
        mix(10, 0.2, 0.04, 0.4, 1e6),
    ),
    World(
        "incast",
        Kind.IMPOSSIBLE,
        ("p99.small < 200us",),
        _fabric(_star("10Gbps")),
        incasts(10, 1.0, 8, 64_000),
    ),
    World(
        "light",
        Kind.IMPOSSIBLE,
        ("p99.small < 10us",),
        _fabric(_star("25Gbps")),
        mix(25, 0.3, 0.04, 0.1),
    ),
    World(
        "bare",
        Kind.NONE,
        ("p99.small < 90us",),
        _fabric(_star("25Gbps"), queues=1, host=_BARE),
        mix(25, 0.2, 0.04, 0.4),
    ),
    World(
        "too_much",
        Kind.NONE,
        ("p99.small < 300us", "goodput.bulk > 7Gbps"),
        _fabric(_star("10Gbps"), queues=2),
        mix(10, 0.3, 0.05, 0.45, 1.5e6),
    ),
    World(
        "short",
        Kind.UNKNOWN,
        ("p99.small < 1ms", "goodput.bulk > 90%"),
        _fabric(_star("10Gbps")),
        mix(10, 0.06, 0.1, 0.4, 3e7),
    ),
    World(
        "sampled",
        Kind.UNKNOWN,
        ("p99.small < 1ms",),
        _fabric(_star("10Gbps")),
        mix(10, 0.3, 0.04, 0.3),
        sampling=1000,
    ),
)
