"""Queues by tenant and bytes sent, where theory says that neither of the two does alone.

Two receivers of 10 Gbit/s are shared. Interactive flows have 20 kB, with a load of 0.1, and the same tenant copies 1 MB
at a load of 0.25. The other tenant sends bursts of eight flows of 20 kB at a load of 0.3. A burst occupies a line for
8 x 20 kB / 10 Gbit/s = 128 us, and a copy for 800 us.

    by tenant           an interactive flow waits for its tenant's copies
    by bytes or size    it waits for bursts, whose flows are as short as it is
    by both             it waits for others like it, the beginnings of copies, and the packet in progress
"""

import json
import math
import random
from pathlib import Path

import pytest

import priolane
from advise_files import write_flows
from advise_world import LINE_BPS, RECEIVERS

SHORT, COPY = 20_000, 1_000_000
SPAN_S = 0.1
BOUND_S = 1e-4
INTERACTIVE, COPIES, BURSTS = 0.1, 0.25, 0.3
EIGHT = 8
FABRIC = """[topology]
kind = "single_switch"
hosts = 12
host_link = { rate = "10Gbps", delay = "1us" }
[switch]
buffer = { dynamic = "4MB", alpha = 1 }
queues = 2
[host]
min_rto = "1ms"
sizes_known = true
[today]
scheme = "dctcp"
[metrics.classes]
web_short = { to = "20kB", group = "web" }
"""


def _write(folder: Path) -> tuple[Path, Path]:
    draw = random.Random(3)  # noqa: S311 - flows, not secrets
    capacity = LINE_BPS * len(RECEIVERS) / 8
    rows: list[tuple[object, ...]] = []
    for senders, load, nbytes, tenant, count in (
        (range(4), INTERACTIVE, SHORT, "web", 1),
        (range(4, 6), COPIES, COPY, "web", 1),
        (range(6, 10), BURSTS, SHORT, "batch", EIGHT),
    ):
        rate = load * capacity / (nbytes * count)
        at = draw.expovariate(rate)
        while at < SPAN_S:
            to = draw.choice(RECEIVERS)
            first = draw.choice(senders)
            for nth in range(count):
                src = senders[(first + nth) % len(senders)]
                rows.append((round(at * 1e9), src, to, nbytes, tenant))
            at += draw.expovariate(rate)
    (folder / "fabric.toml").write_text(FABRIC, encoding="utf-8")
    rows.sort(key=lambda row: int(str(row[0])))
    return write_flows(folder, rows, "start_ns,src,dst,bytes,group"), folder / "fabric.toml"


@pytest.fixture(scope="module")
def advice(tmp_path_factory: pytest.TempPathFactory) -> priolane.Advice:
    """The answer where 100 us, less than a burst, are the bound of interactive flows."""
    folder = tmp_path_factory.mktemp("tenants")
    flows, fabric = _write(folder)
    # Other transports would need modules; NewReno and Cubic fill buffers, whatever the queues.
    return priolane.advise(
        flows,
        fabric,
        goals=["p99.web_short < 100us"],
        without=["newreno", "cubic"],
        budget="3e7hops",
        out=folder / "out",
    )


def test_the_ladder_by_tenant_and_bytes_leads(advice: priolane.Advice) -> None:
    assert advice.advised is not None
    assert advice.advised.family == "by tenant and bytes sent"
    assert advice.advised.rows["assign"]["first"] == {"web": 0, "batch": 1}
    judging = advice.judging
    assert judging is not None
    assert judging.chosen.surely_meets
    raced = {name: of["fct_p99.web_short"] for name, of in judging.race.values.items()}
    alone = [name for name in ("tenants2", "sent2_class", "sent2_opt", "size2_class") if name in raced]
    assert {"tenants2", "sent2_class"} <= set(alone)
    own = raced[next(name for name in raced if name.startswith(("tenants2_opt", "tenants2_class")))]
    assert own is not None
    for name in alone:
        other = raced[name]
        # Logarithms of seconds: each alone misses the bound.
        assert other is None or other.all > math.log(BOUND_S) > own.all, name


def test_its_words_and_commands_name_the_tenants(advice: priolane.Advice) -> None:
    assert "each tenant begins in its own; a flow moves to the next after 20.0 kB" in advice.headline
    assert [command.target for command in advice.commands] == ["sonic", "nft", "nft"]
    answer = json.loads((advice.directory / "advice.json").read_text(encoding="utf-8"))
    assert answer["ranking"][1]["changes"] == ["dscp", "switch_queue"]
    page = (advice.directory / "advice.html").read_text(encoding="utf-8")
    assert "class in which a flow begins, by tenant: web 0, batch 1" in page
