"""The memory of a run: that predicted by `check`, nothing for the size of a flow, and nothing for time that goes by."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from test_end_to_end import COMMAND

MIB = 1 << 20
# 30 flows of 61.5 MB are 1.26 million packets, so that what is kept of each packet shows if it is 7 bytes.
SLACK = 8 * MIB

EXPERIMENT = """
title = "Long flows behind admission"
schemes = ["firapam"]
{series}
time = {{ measure = "{measure}", drain = true }}

[topology]
kind = "single_switch"
hosts = 6
host_link = {{ rate = "10Gbps", delay = "1us" }}

[[group]]
name = "long"
hosts = "*"
deadline = "50ms"
{app}

[scheme.firapam]
assign = {{ kind = "random_fraction", fractions = [0.3, 0.3, 0.4] }}
admit = {{ kind = "firapam", levels = 3, mode = "analytic", mi = "{mi}", remap = "{remap}" }}
"""


# In a small process: the account of a child begins with the peak of the process that starts it, and that of one
# that ran all other tests is large.
MEASURE = """
import os, sys
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(child, 0)
print(usage.ru_maxrss * 1024, file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def peak_of(command: list[str]) -> int:
    """Bytes that a process of `command` has held at most, by the system's account."""
    environment = {**os.environ, "MPLBACKEND": "agg"}
    measured = [sys.executable, "-I", "-S", "-c", MEASURE, *command]
    ran = subprocess.run(measured, capture_output=True, check=False, text=True, env=environment)
    assert ran.returncode == 0, ran.stderr
    return int(ran.stderr.splitlines()[-1])


@cache
def peak(app: str, *, measure: str = "1ms", mi: str = "rtt", remap: str = "per_mi", series: str = "") -> int:
    """That of the experiment with `app`, at these values."""
    with TemporaryDirectory() as directory:
        experiment = Path(directory, "long.toml")
        text = EXPERIMENT.format(app=app, measure=measure, mi=mi, remap=remap, series=series)
        experiment.write_text(text, encoding="utf-8")
        return peak_of([*COMMAND, "run", str(experiment), "-o", str(Path(directory, "out")), "--jobs", "1"])


def all_pairs(size: str) -> str:
    """A flow between every two hosts."""
    return f'app = "long_lived"\npairs = {{ rule = "all_pairs" }}\nsize = "{size}"'


@pytest.mark.soak
@pytest.mark.parametrize(
    ("mi", "remap"),
    [("rpc", "at_issue"), ("rtt", "per_mi")],
)
def test_flows_behind_admission_take_no_memory_of_their_size(mi: str, remap: str) -> None:
    short = peak(all_pairs("1.5MB"), mi=mi, remap=remap)
    long = peak(all_pairs("61.5MB"), mi=mi, remap=remap)
    assert long - short < SLACK, (short, long)


@pytest.mark.soak
def test_what_is_kept_of_packets_would_show() -> None:
    # Nothing else than the number of samples differs: 4,400 instants of each port.
    often = peak(all_pairs("61.5MB"), series='sample_every = "50us"')
    seldom = peak(all_pairs("61.5MB"), series='sample_every = "500us"')
    assert often - seldom > SLACK, (often, seldom)


@pytest.mark.soak
def test_time_that_goes_by_takes_no_memory() -> None:
    def epochs(period: str) -> str:
        return f'app = "incast"\nperiod = "{period}"\nfan_in = 4\nsize = "100kB"\nreceiver = 0'

    brief = peak(epochs("2ms"), measure="40ms")
    lengthy = peak(epochs("5s"), measure="100s")
    assert lengthy - brief < SLACK, (brief, lengthy)


SHORT_FLOWS = """
title = "Short flows"
schemes = ["dctcp"]
{time}

[topology]
kind = "single_switch"
hosts = {hosts}
host_link = {{ rate = "100Gbps", delay = "1us" }}

[[group]]
name = "all"
hosts = "*"
{app}
"""
ONE_SIZE = '{ csv = "sizes.csv", interpolation = "linear" }'
POISSON = f'app = "poisson"\nsizes = {ONE_SIZE}\nload = {{ of = "host", counts = "payload", value = 0.3 }}'


# The runs alone: neither page nor figures, whose drawing takes more than few flows do.
RUN = [sys.executable, "-c", "import sys, priolane; priolane.run(sys.argv[1], sys.argv[2], jobs=1)"]


def predicted_and_held(time: str, hosts: int, app: str) -> tuple[int, int, int]:
    """Bytes that `check` says of an experiment, those that the whole command held, and those of its runs alone."""
    with TemporaryDirectory() as directory:
        Path(directory, "sizes.csv").write_text("bytes,cdf\n2999,0\n3000,1\n", encoding="utf-8")
        experiment = Path(directory, "short.toml")
        experiment.write_text(SHORT_FLOWS.format(time=time, hosts=hosts, app=app), encoding="utf-8")
        checked = subprocess.run([*COMMAND, "check", str(experiment), "--json"], capture_output=True, check=True)
        whole = peak_of([*COMMAND, "run", str(experiment), "-o", str(Path(directory, "whole")), "--jobs", "1"])
        alone = peak_of([*RUN, str(experiment), str(Path(directory, "alone"))])
        return json.loads(checked.stdout)["bytes"], whole, alone


@pytest.mark.soak
@pytest.mark.parametrize(
    ("few_flows", "time", "hosts", "app"),
    [
        # Enough that the buffers of tables are full in both runs.
        pytest.param(100_000, "time = { flows = 1_000_000 }", 32, POISSON, id="one after another"),
        pytest.param(
            1_000, 'time = { measure = "1ms", drain = true }', 360, all_pairs("3kB"), id="130 thousand at once"
        ),
    ],
)
def test_memory_is_predicted_to_a_factor_of_two(few_flows: int, time: str, hosts: int, app: str) -> None:
    few = predicted_and_held(f"time = {{ flows = {few_flows} }}", 32, POISSON)
    many = predicted_and_held(time, hosts, app)
    # Most of what few flows take is the process itself: what more flows take is predicted for itself.
    more = (many[0] - few[0], many[2] - few[2])
    for predicted, held in (few[:2], many[:2], more):
        assert predicted / 2 < held < predicted * 2, (few, many)


BENCH = """
import json, sys
from priolane import _core
found = json.loads(_core.bench(json.dumps({"scenarios": [sys.argv[1]], "repeat": 1})))
print(found["scenarios"][0]["peak_bytes"])
"""


def peak_of_scenario(name: str) -> int:
    """That of a scenario of the bench, in a process of its own."""
    ran = subprocess.run([sys.executable, "-c", BENCH, name], capture_output=True, check=True)
    return int(ran.stdout)


@pytest.mark.soak
def test_packets_and_flows_take_what_is_published_of_them() -> None:
    """docs/performance.md#memory: 63 B and 510 B; the allocator is worth some bytes from run to run."""
    hosts = 128
    few, many = (peak_of_scenario(f"memory_windows_{packets}") for packets in (16, 1_000))
    packet = (many - few) / (hosts * (1_000 - 16))
    few, many = (peak_of_scenario(f"memory_flows_{flows}") for flows in (64, 1_024))
    flow = (many - few) / (hosts * (1_024 - 64)) - packet
    assert 50 < packet < 72, packet
    assert 450 < flow < 545, flow
