"""Admission at real hosts: what is refused anywhere, and runs where this machine has network namespaces."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import priolane
from priolane import _core
from priolane.cli import main

# One at a time: other tests compare the namespaces of the machine before and after.
pytestmark = pytest.mark.xdist_group("namespaces")

# Aequitas with a target that no flow meets: after the first has ended, one of a thousand keeps the class it asks for.
EXPERIMENT = """
title = "Two senders, one receiver"
schemes = ["aequitas"]
seeds = 1
time = { flows = 40, limit = "200ms" }
[topology]
kind = "single_switch"
hosts = 3
host_link = { rate = "10Gbps", delay = "1us" }
[[group]]
name = "list"
hosts = "*"
app = "flows"
list = "flows.csv"
[scheme.aequitas]
admit = { targets = ["1ns", "1ns"], beta = 1.0, floor = 0.001 }
host.kind = "round_robin"
nic = "pull"
[metrics.classes]
asked = { asked = 0 }
given = { given = 0 }
"""

# PASE's mapping, which also moves flows under way.
MOVING = """
[scheme.moving]
base = "aequitas"
admit = { kind = "pase", levels = 3, mi = "50us", remap = "per_mi" }
"""

BYTES = 14_600
PACKETS = 10


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    flows = (f"{place * 300_000},{place % 2},2,{BYTES}\n" for place in range(40))
    (tmp_path / "flows.csv").write_text("start_ns,src,dst,bytes\n" + "".join(flows))
    path = tmp_path / "x.toml"
    path.write_text(EXPERIMENT)
    return path


def need_testbeds() -> None:
    """Skips with the reason where this machine has no testbeds with marks by all queues of a port."""
    for capability in json.loads(_core.linux_machine())["capabilities"]:
        if capability["missing"] is not None and "sch_red" not in capability["name"]:
            pytest.skip(f"{capability['name']}: {capability['missing']}")


def namespaces() -> set[str]:
    ran = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=False)
    return {line.split()[0] for line in ran.stdout.splitlines() if line.startswith("prl-run")}


def tables(results: Path) -> tuple[dict[str, list[Any]], dict[str, list[Any]], dict[str, Any]]:
    """Flows, ports and the record of the one run."""
    [run] = priolane.load(results).runs
    flows, ports = (pq.read_table(results / run.id / f"{name}.parquet").to_pydict() for name in ("flows", "ports"))
    return flows, ports, json.loads((results / run.id / "run.json").read_text())


def test_policies_that_need_monitor_intervals_are_refused_with_the_reason(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    experiment.write_text(EXPERIMENT.replace('"aequitas"]', '"aequitas", "moving"]') + MOVING)
    assert main(["linux", "run", str(experiment), "--scheme", "moving", "-o", str(tmp_path / "out")]) == 2
    expected = "scheme.moving.admit.mi: hosts here report a flow when it ends, and not at each monitor interval"
    assert expected in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_downgraded_flows_are_in_the_tables_and_their_packets_in_the_queue_of_their_class(
    experiment: Path, tmp_path: Path
) -> None:
    need_testbeds()
    real, simulated = tmp_path / "real", tmp_path / "simulated"
    before = namespaces()
    assert main(["linux", "run", str(experiment), "--scale", "200", "-o", str(real)]) == 0
    assert namespaces() == before
    priolane.run(experiment, simulated)
    flows, ports, record = tables(real)
    expected_flows, _, expected_record = tables(simulated)
    assert list(flows) == list(expected_flows)
    assert flows["class_asked"] == expected_flows["class_asked"] == [0] * 40
    assert flows["class_last"] == flows["class_given"]
    stated = flows["class_given"]
    downgraded = stated.count(2)
    assert stated.count(0) + downgraded == 40
    assert downgraded > 0
    # The third queue of the port to host 2 has the packets of downgraded flows, and no others.
    sent = dict.fromkeys(range(3), 0)
    for port, of_class, packets in zip(ports["port"], ports["class"], ports["packets"], strict=True):
        if port.endswith("->h2"):
            sent[of_class] += packets
    assert sent[2] >= PACKETS * downgraded
    assert PACKETS * stated.count(0) <= sent[0] < PACKETS * stated.count(0) + 150
    # What the policies learned and the applications were told.
    admission, simulated_admission = record["admission"], expected_record["admission"]
    assert admission.keys() == simulated_admission.keys()
    assert admission["keys"]["count"] == 2
    assert admission["notices"][0]["downgraded"] == downgraded
    moves = {(transition["asked"], transition["given"]): transition["flows"] for transition in admission["transitions"]}
    assert moves.get((0, 2)) == downgraded
