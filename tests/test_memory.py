"""What a run takes of memory: what `check` says, nothing for the size of a flow, and nothing for time that goes by."""

import json
import os
import subprocess
import sys
from pathlib import Path

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


def peak(directory: Path, app: str, **other: str) -> int:
    """That of the experiment with `app`, at these values."""
    directory.mkdir()
    experiment = directory / "long.toml"
    values = {"measure": "1ms", "mi": "rtt", "remap": "per_mi", "series": "", **other}
    experiment.write_text(EXPERIMENT.format(app=app, **values), encoding="utf-8")
    return peak_of([*COMMAND, "run", str(experiment), "-o", str(directory / "out"), "--jobs", "1"])


def all_pairs(size: str) -> str:
    """A flow between every two hosts."""
    return f'app = "long_lived"\npairs = {{ rule = "all_pairs" }}\nsize = "{size}"'


@pytest.mark.parametrize(("mi", "remap"), [("rpc", "at_issue"), ("rtt", "per_mi")])
def test_flows_behind_admission_take_no_memory_of_their_size(tmp_path: Path, mi: str, remap: str) -> None:
    short = peak(tmp_path / "short", all_pairs("1.5MB"), mi=mi, remap=remap)
    long = peak(tmp_path / "long", all_pairs("61.5MB"), mi=mi, remap=remap)
    assert long - short < SLACK, (short, long)


def test_what_is_kept_of_packets_would_show(tmp_path: Path) -> None:
    app = all_pairs("61.5MB")
    kept = peak(tmp_path / "kept", app, series='sample_every = "2us"')
    nothing = peak(tmp_path / "nothing", app)
    assert kept - nothing > SLACK, (kept, nothing)


def test_time_that_goes_by_takes_no_memory(tmp_path: Path) -> None:
    def epochs(period: str) -> str:
        return f'app = "incast"\nperiod = "{period}"\nfan_in = 4\nsize = "100kB"\nreceiver = 0'

    brief = peak(tmp_path / "brief", epochs("2ms"), measure="40ms")
    lengthy = peak(tmp_path / "lengthy", epochs("5s"), measure="100s")
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


@pytest.mark.parametrize(
    ("time", "hosts", "app"),
    [
        ("time = { flows = 1000 }", 32, POISSON),
        ("time = { flows = 1000000 }", 32, POISSON),
        ('time = { measure = "1ms", drain = true }', 500, all_pairs("3kB")),
    ],
    ids=["few", "one after another", "a quarter million at once"],
)
def test_memory_is_predicted_to_a_factor_of_two(tmp_path: Path, time: str, hosts: int, app: str) -> None:
    (tmp_path / "sizes.csv").write_text("bytes,cdf\n2999,0\n3000,1\n", encoding="utf-8")
    experiment = tmp_path / "short.toml"
    experiment.write_text(SHORT_FLOWS.format(time=time, hosts=hosts, app=app), encoding="utf-8")
    checked = subprocess.run([*COMMAND, "check", str(experiment), "--json"], capture_output=True, check=True)
    predicted = json.loads(checked.stdout)["bytes"]
    held = peak_of([*COMMAND, "run", str(experiment), "-o", str(tmp_path / "out"), "--jobs", "1"])
    assert predicted / 2 < held < predicted * 2, (predicted, held)


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


def test_packets_and_flows_take_what_is_published_of_them() -> None:
    """docs/performance.md#memory: 63 B and 510 B; the allocator is worth some bytes from run to run."""
    hosts = 128
    few, many = (peak_of_scenario(f"memory_windows_{packets}") for packets in (16, 1_000))
    packet = (many - few) / (hosts * (1_000 - 16))
    few, many = (peak_of_scenario(f"memory_flows_{flows}") for flows in (64, 1_024))
    flow = (many - few) / (hosts * (1_024 - 64)) - packet
    assert 50 < packet < 72, packet
    assert 450 < flow < 545, flow
